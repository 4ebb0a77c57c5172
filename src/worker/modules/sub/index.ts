import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { flag } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { type ContentTypes, contentTypes, hasContentType } from '../../http/headers/content-types.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { defineModule, defineScope } from '../../module.js';
import { OK, type Result } from '../../task/codes.js';
import { lowerAscii } from '../../text/ascii-case.js';
import { Patterns } from './patterns.js';
import { SubStage } from './stage.js';

interface Pair {
  readonly match: ComplexValue<Request>;
  readonly value: ComplexValue<Request>;
}

interface Settings {
  pairs: readonly Pair[];
  once: boolean;
  lastModified: boolean;
  types: ContentTypes;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const DEFAULT_TYPES = ['text/html'] as const;
const MAX_PAIRS = 255;

const scope = defineScope<Settings>({
  fields: {
    pairs: inherit<readonly Pair[]>([]),
    once: inherit(true),
    lastModified: inherit(false),
    types: inherit<ContentTypes>(new Set(DEFAULT_TYPES)),
  },
  directives: {
    // nginx: ngx_http_sub_filter.
    sub_filter: {
      in: ANYWHERE,
      args: 2,
      set(conf, node, ctx) {
        const [match, value] = node.args as [string, string];
        if (match === '') {
          ctx.fail('empty search pattern', { arg: 0 });
        }
        if (conf.pairs?.length === MAX_PAIRS) {
          ctx.fail(`number of search patterns exceeds ${MAX_PAIRS}`);
        }
        conf.pairs = append(conf.pairs, { match: ctx.complex(lowerAscii(match)), value: ctx.complex(value) });
      },
    },
    sub_filter_types: { in: ANYWHERE, args: { min: 1 }, set: contentTypes(DEFAULT_TYPES) },
    sub_filter_once: { in: ANYWHERE, args: 'flag', set: flag('once') },
    sub_filter_last_modified: { in: ANYWHERE, args: 'flag', set: flag('lastModified') },
  },
});

/** What to look for in a response, and what to put in its place. */
interface Table {
  readonly patterns: Patterns;
  readonly values: readonly ComplexValue<Request>[];
}

const table = contextSlot<Table>();

/** The table where patterns have variables in them; undefined when all are empty for this request. */
function tableFor(r: Request, pairs: readonly Pair[]): Table | undefined {
  const texts: string[] = [];
  const values: ComplexValue<Request>[] = [];
  for (const { match, value } of pairs) {
    const text = lowerAscii(match.eval(r));
    if (text === '') {
      continue;
    }
    texts.push(text);
    values.push(value);
  }
  return texts.length === 0 ? undefined : { patterns: new Patterns(texts), values };
}

// nginx: ngx_http_sub_header_filter.
function headerFilter(r: Request, conf: Readonly<Settings>, fixed: Table | undefined): Result {
  const { out } = r;
  if (out.contentLength === 0 || !hasContentType(r, conf.types)) {
    return OK;
  }
  const found = fixed ?? tableFor(r, conf.pairs);
  if (found === undefined) {
    return OK;
  }
  table.set(r, found);
  r.bodyIdentity = undefined;
  if (r !== r.main) {
    return OK;
  }
  out.clearContentLength();
  out.bodyChanges(conf.lastModified);
  return OK;
}

/** Replaces texts in responses. nginx: ngx_http_sub_filter_module. */
export const subModule = defineModule({
  name: 'sub',
  location: scope,
  headerFilter(conf) {
    const { pairs } = conf;
    if (pairs.length === 0) {
      return undefined;
    }
    const fixed = pairs.every(({ match }) => match.constant !== undefined)
      ? { patterns: new Patterns(pairs.map(({ match }) => match.text)), values: pairs.map(({ value }) => value) }
      : undefined;
    return (r) => headerFilter(r, conf, fixed);
  },
  bodyFilter: ({ pairs, once }) =>
    pairs.length === 0
      ? undefined
      : (r, next) => {
          const found = table.get(r);
          return found === undefined ? next : new SubStage(found.patterns, found.values, once, next);
        },
});
