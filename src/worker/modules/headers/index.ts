import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { oneOf } from '../../../shared/config/slots.js';
import { lineValue } from '../../http/request/line-text.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { type AddedHeader, addHeaders, hasTrailers, traceHeaders, trailerStage } from './add.js';
import { type Expires, parseExpiresDirective, setExpires } from './expires.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION | In.LOCATION_IF;

type Inherit = 'off' | 'on' | 'merge';

interface Settings {
  expires: Expires;
  headers: readonly AddedHeader[] | undefined;
  trailers: readonly AddedHeader[] | undefined;
  headersInherit: Inherit;
  trailersInherit: Inherit;
  /** Lines of outer levels that inner ones have put out of force. */
  lost: readonly AddedHeader[];
}

const INHERIT = { off: 'off', on: 'on', merge: 'merge' } as const;

const scope = defineScope<Settings>({
  fields: {
    expires: inherit<Expires>({ kind: 'off', seconds: 0, value: undefined }),
    headers: own<readonly AddedHeader[] | undefined>(undefined),
    trailers: own<readonly AddedHeader[] | undefined>(undefined),
    headersInherit: inherit<Inherit>('on'),
    trailersInherit: inherit<Inherit>('on'),
    lost: own<readonly AddedHeader[]>([]),
  },
  finish(conf, parent) {
    conf.lost =
      conf.headers !== undefined && conf.headersInherit === 'on'
        ? [...(parent?.headers ?? []), ...(parent?.lost ?? [])]
        : (parent?.lost ?? []);
    conf.headers = inherited(conf.headers, parent?.headers, conf.headersInherit);
    conf.trailers = inherited(conf.trailers, parent?.trailers, conf.trailersInherit);
  },
  directives: {
    expires: {
      in: ANYWHERE,
      args: [1, 2],
      set(conf, _node, ctx) {
        if (conf.expires !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.expires = parseExpiresDirective(ctx);
      },
    },
    add_header: {
      in: ANYWHERE,
      args: [2, 3],
      set(conf, _node, ctx) {
        conf.headers = append(conf.headers, parseLine(ctx));
      },
    },
    add_trailer: {
      in: ANYWHERE,
      args: [2, 3],
      set(conf, _node, ctx) {
        conf.trailers = append(conf.trailers, parseLine(ctx));
      },
    },
    add_header_inherit: { in: ANYWHERE, args: 1, set: oneOf('headersInherit', INHERIT) },
    add_trailer_inherit: { in: ANYWHERE, args: 1, set: oneOf('trailersInherit', INHERIT) },
  },
});

// nginx: ngx_http_headers_merge_conf.
function inherited(
  lines: readonly AddedHeader[] | undefined,
  outer: readonly AddedHeader[] | undefined,
  rule: Inherit,
): readonly AddedHeader[] | undefined {
  if (rule === 'off' || outer === undefined) {
    return lines;
  }
  if (lines === undefined) {
    return outer;
  }
  return rule === 'merge' ? [...lines, ...outer] : lines;
}

// nginx: ngx_http_headers_add.
function parseLine(ctx: Context): AddedHeader {
  const [name, value, option] = ctx.node.args as [string, string, string | undefined];
  const line = { name, value: lineValue(ctx.complex(value)), always: option === 'always', pos: ctx.node.pos };
  if (option !== undefined && option !== 'always') {
    ctx.fail(`invalid parameter "${option}"`, { arg: 2, hint: 'it can only be always' });
  }
  return line;
}

/** Statuses whose answers get what has no `always`. */
const SAFE: ReadonlySet<number> = new Set([200, 201, 204, 206, 301, 302, 303, 304, 307, 308]);

/** `add_header`, `add_trailer` and `expires`. nginx: ngx_http_headers_filter_module. */
export const headersModule = defineModule({
  name: 'headers',
  location: scope,
  headerFilter: ({ expires, headers = [], trailers = [], lost }) => {
    if (expires.kind === 'off' && headers.length === 0 && trailers.length === 0) {
      return undefined;
    }
    return (r) => {
      if (r !== r.main) {
        return 0;
      }
      const safe = SAFE.has(r.out.status);
      if (safe && expires.kind !== 'off') {
        setExpires(r, expires);
      }
      if (r.trace !== null) {
        traceHeaders(r, headers, lost, safe);
      }
      addHeaders(r, headers, safe);
      if (hasTrailers(trailers, safe)) {
        r.expectTrailers = true;
      }
      return 0;
    };
  },
  bodyFilter: ({ trailers = [] }) =>
    trailers.length === 0
      ? undefined
      : (r, next) => (r.expectTrailers && r === r.main ? trailerStage(trailers, SAFE.has(r.out.status), next) : next),
});
