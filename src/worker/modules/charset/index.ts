import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { flag } from '../../../shared/config/slots.js';
import { ERROR } from '../../../shared/log/level.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { type ContentTypes, contentTypes, hasContentType } from '../../http/headers/content-types.js';
import type { BodyStage, Chunk } from '../../http/request/body-stage.js';
import { lineValue } from '../../http/request/line-text.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { OK, type Result } from '../../task/codes.js';
import { ByteMap, type CharsetMap, type Recoder, Utf8Map } from './recode.js';

interface Settings {
  /** Undefined: off. */
  charset: ComplexValue<Request> | 'off';
  source: ComplexValue<Request> | 'off';
  override: boolean;
  types: ContentTypes;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const DEFAULT_TYPES = ['text/html', 'text/xml', 'text/plain', 'text/vnd.wap.wml', 'application/javascript', 'application/rss+xml'] as const;

/** The maps of the configuration, and the names that appear in any directive. */
interface Charsets {
  maps: readonly CharsetMap[];
  names: ReadonlySet<string>;
}

const charsets = defineScope<Charsets>({
  fields: { maps: inherit<readonly CharsetMap[]>([]), names: inherit<ReadonlySet<string>>(new Set<string>()) },
  directives: { charset_map: { in: In.HTTP, args: 2, block: 'entries', set: (conf, node, ctx) => addMap(conf, node, ctx) } },
});

function know(conf: Partial<Charsets>, ...names: readonly string[]): void {
  conf.names = new Set([...(conf.names ?? []), ...names.map((name) => name.toLowerCase())]);
}

// nginx: ngx_http_charset_map_block.
function addMap(conf: Partial<Charsets>, node: DirectiveNode, ctx: Context): void {
  const [from, to] = node.args as [string, string];
  const [source, target] = [from.toLowerCase(), to.toLowerCase()];
  know(conf, from, to);
  if (source === target) {
    ctx.fail(`"charset_map" between the same charsets "${from}" and "${to}"`);
  }
  if (source === 'utf-8') {
    ctx.fail('"charset_map" with "utf-8" charset should be given in the second column');
  }
  if (findMap(conf.maps ?? [], source, target) !== undefined) {
    ctx.fail(`duplicate "charset_map" between "${from}" and "${to}"`);
  }
  const map = target === 'utf-8' ? new Utf8Map(source, target) : new ByteMap(source, target);
  ctx.entries(node, (entry) => {
    if (entry.args.length !== 1) {
      ctx.fail('invalid parameters number');
    }
    const byte = hexByte(entry.name, ctx);
    const value = entry.args[0]!;
    if (map instanceof ByteMap) {
      map.set(byte, hexByte(value, ctx));
    } else if (!/^([0-9a-f]{2}){1,3}$/i.test(value) || !map.set(byte, Buffer.from(value, 'hex'))) {
      ctx.fail(`invalid value "${value}"`);
    }
  });
  conf.maps = append(conf.maps, map);
}

function hexByte(text: string, ctx: Context): number {
  if (!/^0*[0-9a-f]{1,2}$/i.test(text)) {
    ctx.fail(`invalid value "${text}"`);
  }
  return Number.parseInt(text, 16);
}

function findMap(maps: readonly CharsetMap[], from: string, to: string): CharsetMap | undefined {
  return maps.find((map) => (map.from === from && map.to === to) || (map.from === to && map.to === from));
}

/** A charset's name, or a variable. nginx: ngx_http_set_charset_slot. */
const charsetName = (key: 'charset' | 'source') => (conf: Partial<Settings>, node: DirectiveNode, ctx: Context) => {
  if (conf[key] !== undefined) {
    ctx.reject('is duplicate');
  }
  const name = node.args[0]!;
  if (key === 'charset' && name === 'off') {
    conf.charset = 'off';
  } else {
    if (!name.startsWith('$')) {
      know(ctx.conf(charsets), name);
    }
    conf[key] = lineValue(ctx.complex(name));
  }
};

const scope = defineScope<Settings>({
  fields: {
    charset: inherit<Settings['charset']>('off'),
    source: inherit<Settings['source']>('off'),
    override: inherit(false),
    types: inherit<ContentTypes>(new Set(DEFAULT_TYPES)),
  },
  directives: {
    charset: { in: ANYWHERE | In.LOCATION_IF, args: 1, set: charsetName('charset') },
    source_charset: { in: ANYWHERE | In.LOCATION_IF, args: 1, set: charsetName('source') },
    override_charset: { in: ANYWHERE | In.LOCATION_IF, args: 'flag', set: flag('override') },
    charset_types: { in: ANYWHERE, args: { min: 1 }, set: contentTypes(['text/html']) },
  },
  link(conf, ctx, { block, context }) {
    if (context === In.HTTP || conf.charset === 'off' || conf.source === 'off') {
      return;
    }
    const [from, to] = [conf.source.constant, conf.charset.constant];
    if (from === undefined || to === undefined || from.toLowerCase() === to.toLowerCase()) {
      return;
    }
    let http = block;
    while (http.context !== In.HTTP && http.parent !== undefined) {
      http = http.parent;
    }
    if (findMap(ctx.settings(charsets, http).maps, from.toLowerCase(), to.toLowerCase()) === undefined) {
      ctx.fail(`no "charset_map" between the charsets "${from}" and "${to}"`, null);
    }
  },
});

const recoder = contextSlot<Recoder>();

class RecodeStage implements BodyStage {
  readonly #recoder: Recoder;
  readonly #next: BodyStage;

  constructor(recoding: Recoder, next: BodyStage) {
    this.#recoder = recoding;
    this.#next = next;
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    this.#next.send(r, chunk === null ? null : this.#recoder.recode(chunk), last);
  }

  abort(r: Request): void {
    this.#next.abort?.(r);
  }
}

/** The charset the response should have, or undefined to leave it alone. nginx: ngx_http_destination_charset. */
function destination(r: Request, conf: Readonly<Settings>, known: Readonly<Charsets>): string | undefined {
  const { out } = r;
  if (r !== r.main) {
    return r.main.out.charset === '' ? undefined : r.main.out.charset;
  }
  if (out.contentType === '') {
    return undefined;
  }
  if (r.out.overrideCharset !== undefined) {
    if (known.names.has(r.out.overrideCharset.toLowerCase())) {
      return r.out.overrideCharset;
    }
    r.log(ERROR, `unknown charset "${r.out.overrideCharset}" to override`);
    return undefined;
  }
  if (conf.charset === 'off') {
    return undefined;
  }
  if (out.charset !== '' ? !conf.override : !hasContentType(r, conf.types)) {
    return undefined;
  }
  return conf.charset.eval(r);
}

function setCharset(r: Request, name: string): void {
  if (r === r.main) {
    r.out.charset = r.out.status === 301 || r.out.status === 302 ? '' : name;
  }
}

// nginx: ngx_http_charset_header_filter.
function headerFilter(r: Request, conf: Readonly<Settings>, known: Readonly<Charsets>): Result {
  const to = destination(r, conf, known);
  if (to === undefined) {
    return OK;
  }
  const from = r.out.charset !== '' ? r.out.charset : conf.source === 'off' ? undefined : conf.source.eval(r);
  if (from === undefined || from.toLowerCase() === to.toLowerCase()) {
    setCharset(r, to);
    return OK;
  }
  if (known.names.has(from.toLowerCase()) && known.names.has(to.toLowerCase()) && r.out.contentEncoding !== undefined) {
    return OK;
  }
  const map = findMap(known.maps, from.toLowerCase(), to.toLowerCase());
  if (map === undefined) {
    r.log(ERROR, `no "charset_map" between the charsets "${from}" and "${to}"`);
    return OK;
  }
  setCharset(r, to);
  recoder.set(r, map.from === from.toLowerCase() ? map.forward() : map.backward());
  r.bodyIdentity = undefined;
  if (map.to === 'utf-8' && r === r.main) {
    r.out.clearContentLength();
  }
  return OK;
}

/** Names the charset of responses and translates between charsets. nginx: ngx_http_charset_filter_module. */
export const charsetModule = defineModule({
  name: 'charset',
  main: charsets,
  location: scope,
  headerFilter(conf, _env, location) {
    const known = location.server.http.mainSettings(charsets);
    return (r) => headerFilter(r, conf, known);
  },
  bodyFilter: () => (r, next) => {
    const recoding = recoder.get(r);
    return recoding === undefined ? next : new RecodeStage(recoding, next);
  },
});
