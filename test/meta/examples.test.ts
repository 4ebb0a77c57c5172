// Every configuration on the pages of docs/ can be read. Those of the guides are tested one by one with -t in guides.test.ts.
import t from 'tap';
import { In } from '../../src/shared/config/context.js';
import { parseConfig } from '../../src/shared/config/language/parser.js';
import { modules } from '../../src/worker/modules/index.js';
import { blocksOf, firstError, pages, shippedPrefix } from './doc-pages.js';

/** The contexts of each directive, as a bit set. */
const contexts = new Map<string, number>();
for (const module of modules) {
  for (const scope of [module.process, module.main, module.server, module.location, module.upstream]) {
    for (const [name, row] of Object.entries(scope?.directives ?? {})) {
      contexts.set(name, (contexts.get(name) ?? 0) | row.in);
    }
  }
}
contexts.set('if', In.SERVER | In.LOCATION);

/** Where an example may stand, innermost block first. */
const PLACES = [In.LOCATION, In.SERVER, In.UPSTREAM, In.HTTP, In.EVENTS, In.MAIN, In.LOCATION_IF, In.LIMIT_EXCEPT] as const;
/** The same in `stream`. */
const STREAM_PLACES = [In.STREAM_SERVER, In.STREAM_UPSTREAM, In.STREAM, In.MAIN] as const;
type Place = (typeof PLACES)[number] | (typeof STREAM_PLACES)[number];

/** Whether an example of a page is one of `stream`, if it could stand in both. */
const ofStream = (page: string): boolean => page.startsWith('docs/reference/stream_');

/** The directives of an example, without those in its blocks. */
function namesOf(block: string): string[] {
  return parseConfig(Buffer.from(block).toString('latin1'), 'example').map((node) => ('name' in node ? node.name : ''));
}

function placeOf(block: string, page: string): Place | undefined {
  const names = namesOf(block);
  if (/^server \{/m.test(block)) {
    return ofStream(page) ? In.STREAM : In.HTTP;
  }
  // Named locations are of a server only.
  const ofHttp = /^location /m.test(block) ? [In.SERVER, ...PLACES] : PLACES;
  const places: readonly Place[] = ofStream(page) ? STREAM_PLACES : [...ofHttp, ...STREAM_PLACES];
  return places.find((place) => names.every((name) => name === 'include' || ((contexts.get(name) ?? 0) & place) !== 0));
}

/** Examples that are not tried, and why. */
const NOT_TRIED: readonly [RegExp, string][] = [
  [/^ssl_engine /, 'refused: sluice loads no engines'],
  [/^\w*ssl_password_file /, 'the file has to exist'],
  [/^zstd_dict_file /, 'the file has to exist'],
  [/^geoip_(city|country|org) /, 'the file has to exist'],
  [/^quic_host_key /, 'the file has to exist'],
  [/^https internal;/, 'needs a server_name beside it'],
  [
    /^(js_(access|balancer|body_filter|client_hello|content|filter|header_filter|import|init|log|path|periodic|preread|rewrite|ssl_certificate)|node_handler) /,
    'needs a module in a file; test/modules/js.test.ts has them',
  ],
  [/^memcached_pass /, 'needs $memcached_key, which the example above it sets'],
  [/^health_check /, 'needs a proxy_pass beside it'],
  [/^(listen 443 ssl default_server;|ssl on;|ssl_certificate )/, 'needs a certificate and its key beside it'],
  [/^state /, 'needs a zone and no server beside it, as the example below it has'],
  [/^upstream \w+ \{ \.\.\. \}/, 'needs a server in the block'],
];

/** What examples refer to and do not show. */
const PRELUDE: readonly [used: RegExp, defined: RegExp, text: (name: string) => string][] = [
  [/\blimit_req +zone=(\w+)/g, /limit_req_zone[^;]*zone=NAME:/, (name) => `limit_req_zone $binary_remote_addr zone=${name}:1m rate=1r/s;`],
  [/\blimit_conn +(\w+) /g, /limit_conn_zone[^;]*zone=NAME:/, (name) => `limit_conn_zone $binary_remote_addr zone=${name}:1m;`],
  ...['proxy', 'fastcgi', 'scgi', 'uwsgi'].map((family): (typeof PRELUDE)[number] => [
    new RegExp(`\\b${family}_cache +(\\w+);`, 'g'),
    /keys_zone=NAME:/,
    (name) => (name === 'off' ? '' : `${family}_cache_path cache-${name} keys_zone=${name}:1m;`),
  ]),
  [/_cache_purge +\$(purge);/g, /map \S+ \$purge /, () => 'map $request_method $purge { PURGE 1; }'],
  [/\b(acme)_(?:issuer|certificate) /g, /^resolver /m, () => 'resolver 127.0.0.1;'],
  [/\bacme_certificate +(\w+)/g, /acme_issuer +NAME /, (name) => `acme_issuer ${name} { uri https://ca.example.com/directory; }`],
  [
    /\bauth_oidc +(\w+)/g,
    /oidc_provider +NAME /,
    (name) => (name === 'off' ? '' : `oidc_provider ${name} { issuer https://127.0.0.1; client_id id; client_secret secret; }`),
  ],
  [/^keyval .*zone=(\w+)/gm, /keyval_zone zone=NAME:/, (name) => `keyval_zone zone=${name}:32k;`],
  [/^auth_signature_(?:key|nonce)_zone +(\w+);/gm, /keyval_zone zone=NAME:/, (name) => `keyval_zone zone=${name}:32k;`],
  [/^auth_api_key_zone (\w+);/gm, /keyval_zone zone=NAME:/, (name) => `keyval_zone zone=${name}:32k;`],
  [/\bmatch=(\w+)/g, /\bmatch +NAME /, (name) => `match ${name} { status 200; }`],
  [/_pass +(?:https?:\/\/)?([a-z_]+)[;/]/g, /upstream +NAME /, (name) => `upstream ${name} { zone ${name} 64k; server 127.0.0.1:9; }`],
];

/** One configuration that holds these blocks, each in its place. */
function whole(blocks: readonly string[], page: string): string {
  const at = new Map<Place | undefined, string[]>([...PLACES, ...STREAM_PLACES].map((place) => [place, []]));
  for (const block of blocks) {
    at.get(placeOf(block, page))?.push(block);
  }
  const each = (place: Place, text: (block: string, n: number) => string): string => at.get(place)!.map(text).join('\n');
  const all = blocks.join('\n');
  const prelude = PRELUDE.flatMap(([used, defined, text]) =>
    [...new Set([...all.matchAll(used)].map(([, name = '']) => name))]
      .filter((name) => !new RegExp(defined.source.replace('NAME', name)).test(all))
      .map(text),
  );
  const main = each(In.MAIN, (block) => block);
  if (/^(http|stream|events) \{/m.test(main) && blocks.length === 1) {
    return /^events\b/m.test(main) ? main : `events {}\n${main}`;
  }
  return `${main}
events { ${each(In.EVENTS, (block) => block)} }
http {
access_log off;
${prelude.join('\n')}
${each(In.HTTP, (block) => block)}
${each(In.UPSTREAM, (block, n) => `upstream example${n} { ${/^server /m.test(block) ? '' : 'server 127.0.0.1:9;'}\n${block} }`)}
${each(In.SERVER, (block, n) => `server { listen unix:%%DIR%%/s${n};\n${block} }`)}
${each(In.LOCATION, (block, n) => `server { listen unix:%%DIR%%/l${n}; location / {\n${block} } }`)}
${each(In.LOCATION_IF, (block, n) => `server { listen unix:%%DIR%%/i${n}; location / { if ($args) {\n${block} } } }`)}
${each(In.LIMIT_EXCEPT, (block, n) => `server { listen unix:%%DIR%%/e${n}; location / { limit_except GET {\n${block} } } }`)}
}
stream {
${each(In.STREAM, (block) => block)}
${each(In.STREAM_UPSTREAM, (block, n) => `upstream example${n} { server 127.0.0.1:9;\n${block} }`)}
${each(In.STREAM_SERVER, (block, n) => `server { listen unix:%%DIR%%/t${n};\n${block} }`)}
}
`;
}

/** The examples in as few groups as it takes for none to have a directive twice. */
function apart(blocks: readonly string[]): string[][] {
  const groups: { names: Set<string>; blocks: string[] }[] = [];
  for (const block of blocks) {
    const names = namesOf(block);
    let group = groups.find((group) => !names.some((name) => group.names.has(name)));
    if (group === undefined) {
      group = { names: new Set(), blocks: [] };
      groups.push(group);
    }
    group.blocks.push(block);
    for (const name of names) {
      group.names.add(name);
    }
  }
  return groups.map((group) => group.blocks);
}

const prefix = await shippedPrefix(t);

for (const page of pages) {
  const blocks = blocksOf(page, 'nginx')
    .filter((block) => !NOT_TRIED.some(([example]) => example.test(block)))
    .map((block) => block.replaceAll(/\{ \.\.\. \}/g, '{ }'));
  if (page.startsWith('docs/guides/') || blocks.length === 0) {
    continue;
  }
  t.test(page, async (t) => {
    for (const block of blocks) {
      t.not(placeOf(block, page), undefined, `there is a block in which all of this may stand:\n${block}`);
    }
    const accepted = async (blocks: readonly string[]): Promise<boolean> => (await firstError(prefix, whole(blocks, page))) === undefined;
    if (await accepted(blocks)) {
      return;
    }
    // Some cannot stand in one file.
    for (const group of apart(blocks)) {
      if (group.length > 1 && (await accepted(group))) {
        continue;
      }
      for (const block of group) {
        t.equal(await firstError(prefix, whole([block], page)), undefined, block);
      }
    }
  });
}
