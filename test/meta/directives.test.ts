import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { In } from '../../src/shared/config/context.js';
import { differenceOf, differenceTables, markdownTable } from '../../src/tools/migration/differences.js';
import { modules } from '../../src/worker/modules/index.js';
import { missing } from '../../src/worker/modules/missing.js';
import { root } from './source-files.js';

/** nginx 1.31.5's directives with their contexts; made by `scripts/check-directives.mjs PATH --table`, which also compares arguments. */
const theirs = new Map<string, ReadonlySet<string>>();
/** The module each directive is of; the HTTP module's where a stream module has the same name. */
const files = new Map<string, string>();
for (const line of readFileSync(`${root}test/meta/nginx-directives.tsv`, 'utf8').trimEnd().split('\n')) {
  const [name, contexts, sources] = line.split('\t');
  const names = sources!.split(' ');
  files.set(name!, names.find((file) => !file.startsWith('ngx_stream')) ?? names[0]!);
  theirs.set(name!, new Set(contexts!.split(' ')));
}

const ours = new Map<string, Set<string>>();
/** Directives whose setter was made by `accepted`. */
const withoutEffect = new Set<string>();
for (const module of modules) {
  for (const scope of [module.process, module.main, module.server, module.location, module.upstream]) {
    for (const [name, row] of Object.entries(scope?.directives ?? {})) {
      if (row.set.name === 'withoutEffect') {
        withoutEffect.add(name);
      }
      const contexts = ours.get(name) ?? new Set();
      for (const [context, bit] of Object.entries(In)) {
        if ((row.in & bit) !== 0) {
          contexts.add(context);
        }
      }
      ours.set(name, contexts);
    }
  }
}

/** What nginx does not have, or no longer. Each stands in docs/compatibility.md. */
const OUR_OWN = [
  'acme_certificate',
  'acme_issuer',
  'acme_shared_zone',
  'api',
  'auth_api_key',
  'auth_api_key_file',
  'auth_api_key_zone',
  'auth_jwt',
  'auth_jwt_claim_set',
  'auth_jwt_header_set',
  'auth_jwt_key_cache',
  'auth_jwt_key_file',
  'auth_jwt_key_request',
  'auth_jwt_key_url',
  'auth_jwt_leeway',
  'auth_jwt_require',
  'auth_jwt_type',
  'auth_oidc',
  'auth_require',
  'auth_signature',
  'auth_signature_components',
  'auth_signature_key_file',
  'auth_signature_key_zone',
  'auth_signature_leeway',
  'auth_signature_max_age',
  'auth_signature_nonce_zone',
  'auth_signature_tag',
  'brotli',
  'brotli_buffers',
  'brotli_comp_level',
  'brotli_min_length',
  'brotli_static',
  'brotli_types',
  'brotli_window',
  'cache_status_header',
  'configuration_history',
  'dashboard',
  'dev_port',
  'dev_report',
  'explain_token',
  'fastcgi_cache_convert_head',
  'fastcgi_cache_purge',
  'fastcgi_cache_tag',
  'grpc_max_streams',
  'grpc_web',
  'health_check',
  'health_check_timeout',
  'health_endpoint',
  'https',
  'js_access',
  'js_balancer',
  'js_block_timeout',
  'js_body_filter',
  'js_client_hello',
  'js_content',
  'js_context_reuse',
  'js_context_reuse_max_size',
  'js_engine',
  'js_fetch_buffer_size',
  'js_fetch_ciphers',
  'js_fetch_keepalive',
  'js_fetch_keepalive_requests',
  'js_fetch_keepalive_time',
  'js_fetch_keepalive_timeout',
  'js_fetch_max_response_buffer_size',
  'js_fetch_protocols',
  'js_fetch_proxy',
  'js_fetch_timeout',
  'js_fetch_trusted_certificate',
  'js_fetch_verify',
  'js_fetch_verify_depth',
  'js_filter',
  'js_header_filter',
  'js_import',
  'js_init',
  'js_inspect',
  'js_isolation',
  'js_log',
  'js_path',
  'js_periodic',
  'js_preload_object',
  'js_preread',
  'js_rewrite',
  'js_set',
  'js_shared_dict_zone',
  'js_ssl_certificate',
  'js_timeout',
  'js_var',
  'keyval',
  'keyval_zone',
  'limit_req_retry_after',
  'match',
  'net_engine',
  'nginx_compatibility',
  'node_handler',
  'oidc_provider',
  'otel_exporter',
  'otel_resource_attr',
  'otel_service_name',
  'otel_span_attr',
  'otel_span_name',
  'otel_trace',
  'otel_trace_context',
  'otel_upstream_spans',
  'proxy_cache_purge',
  'proxy_cache_tag',
  'proxy_http2_max_streams',
  'reload_canary',
  'scgi_cache_convert_head',
  'scgi_cache_purge',
  'scgi_cache_tag',
  'shared_store',
  'sluice_status',
  'ssl',
  'state',
  'status_history',
  'status_zone',
  'status_zones',
  'uwsgi_cache_convert_head',
  'uwsgi_cache_purge',
  'uwsgi_cache_tag',
  'zone_directory',
  'zone_sync',
  'zone_sync_buffers',
  'zone_sync_connect_retry_interval',
  'zone_sync_connect_timeout',
  'zone_sync_interval',
  'zone_sync_recv_buffer_size',
  'zone_sync_server',
  'zone_sync_ssl',
  'zone_sync_ssl_certificate',
  'zone_sync_ssl_certificate_key',
  'zone_sync_ssl_ciphers',
  'zone_sync_ssl_conf_command',
  'zone_sync_ssl_crl',
  'zone_sync_ssl_name',
  'zone_sync_ssl_password_file',
  'zone_sync_ssl_protocols',
  'zone_sync_ssl_server_name',
  'zone_sync_ssl_trusted_certificate',
  'zone_sync_ssl_verify',
  'zone_sync_ssl_verify_depth',
  'zone_sync_timeout',
  'zstd',
  'zstd_buffers',
  'zstd_comp_level',
  'zstd_dict_file',
  'zstd_min_length',
  'zstd_static',
  'zstd_types',
];
/** Where our contexts are not nginx's: `name CONTEXT` with `-` for one that we lack and `+` for one more. */
const DEVIATIONS: readonly string[] = [];

const missingFile = `${root}src/worker/modules/missing.ts`;
const missingSource = (table: readonly [string, readonly string[]][]): string =>
  `/** nginx's directives that are not there, by nginx's modules. Made by test/meta/directives.test.ts. */
export const missing: Readonly<Record<string, readonly string[]>> = {
${table.map(([part, names]) => `  // biome-ignore format: one line a module\n  ${part}: [${names.map((name) => `'${name}'`).join(', ')}],\n`).join('')}};
`;
const compatibility = `${root}docs/compatibility.md`;
const page = readFileSync(compatibility, 'utf8');
const contextsOf = (table: Iterable<ReadonlySet<string>>): Set<string> => new Set([...table].flatMap((contexts) => [...contexts]));

t.test('every directive is one of nginx or named as our own', async (t) => {
  t.strictSame([...ours.keys()].filter((name) => !theirs.has(name)).sort(), OUR_OWN);
  for (const name of OUR_OWN) {
    t.match(page, `\`${name}`, `docs/compatibility.md speaks of ${name}`);
  }
});

t.test('src/tools/migration/differences.ts names what is accepted without effect', async (t) => {
  t.ok(withoutEffect.size > 20);
  t.strictSame([...withoutEffect].filter((name) => differenceOf(name, [], false)?.table !== 'no-effect').sort(), []);
});

t.test('it names no directive that nobody knows', async (t) => {
  const names = differenceTables.flatMap(({ rows }) => rows.flatMap(({ directives }) => directives)).filter((name) => !name.endsWith('*'));
  t.strictSame(
    names.filter((name) => !ours.has(name) && !theirs.has(name)),
    [],
  );
});

t.test('docs/compatibility.md has its tables', async (t) => {
  let wanted = page;
  for (const table of differenceTables) {
    const [start, end] = [`<!-- ${table.id} -->\n`, `<!-- end ${table.id} -->`];
    wanted = wanted.slice(0, wanted.indexOf(start) + start.length) + markdownTable(table) + wanted.slice(wanted.indexOf(end));
  }
  if (process.env.UPDATE_DOCS === '1') {
    writeFileSync(compatibility, wanted);
  } else {
    t.equal(page, wanted, 'UPDATE_DOCS=1 npx tap test/meta/directives.test.ts writes them anew');
  }
});

t.test('directives stand where they stand in nginx', async (t) => {
  // A context in which we have nothing at all has not been built, which is no deviation of each directive.
  const built = contextsOf(ours.values());
  const deviations: string[] = [];
  for (const [name, contexts] of ours) {
    const reference = theirs.get(name);
    if (reference === undefined) {
      continue;
    }
    for (const context of built) {
      if (contexts.has(context) !== reference.has(context)) {
        deviations.push(`${contexts.has(context) ? '+' : '-'} ${name} ${context}`);
      }
    }
  }
  t.strictSame(deviations.sort(), DEVIATIONS);
});

t.test('docs/compatibility.md lists what is missing', async (t) => {
  const built = contextsOf(ours.values());
  const groups = new Map<string, string[]>();
  for (const [name, contexts] of theirs) {
    if (ours.has(name)) {
      continue;
    }
    const file = files.get(name)!;
    const part = [...contexts].some((context) => built.has(context)) ? file : `${file} (no such block yet)`;
    groups.set(part, [...(groups.get(part) ?? []), name]);
  }
  const list = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([part, names]) => `- ${part}: ${names.map((name) => `\`${name}\``).join(', ')}\n`);
  const start = '<!-- missing -->\n';
  const current = readFileSync(compatibility, 'utf8');
  const wanted = current.slice(0, current.indexOf(start) + start.length) + list.join('') + current.slice(current.indexOf('<!-- end -->'));
  const table = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([part, names]) => [part.replace(' (no such block yet)', ''), names]);
  if (process.env.UPDATE_DOCS === '1') {
    writeFileSync(compatibility, wanted);
    writeFileSync(missingFile, missingSource(table as [string, string[]][]));
    return;
  }
  t.strictSame(missing, Object.fromEntries(table), 'src/worker/modules/missing.ts; UPDATE_DOCS=1 writes it anew');
  t.equal(page, wanted, 'UPDATE_DOCS=1 npx tap test/meta/directives.test.ts writes the list anew');
});
