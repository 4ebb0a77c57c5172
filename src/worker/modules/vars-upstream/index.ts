import type { Request } from '../../http/request/request.js';
import { defineModule, type Variable } from '../../module.js';
import type { Attempt } from '../../upstream/balancing/attempt.js';
import { upstreamOf } from '../../upstream/exchange/upstream-request.js';
import { HeaderKind } from '../../upstream/response/header-kinds.js';

/**
 * Puts the attempts of a request in a row: a comma stands between two attempts, a colon between two rounds of them.
 * nginx: ngx_http_upstream_status_variable and its kin.
 */
function list(attempts: readonly Attempt[] | null | undefined, each: (attempt: Attempt) => string): string | undefined {
  if (attempts === undefined || attempts === null || attempts.length === 0) {
    return undefined;
  }
  let text = '';
  for (let i = 0; ; ) {
    text += each(attempts[i]!);
    if (++i === attempts.length) {
      break;
    }
    if (attempts[i]!.peer !== undefined) {
      text += ', ';
    } else {
      text += ' : ';
      if (++i === attempts.length) {
        break;
      }
    }
  }
  return text;
}

/** Milliseconds as seconds with three digits; `-` for a time that never came. */
function seconds(ms: number): string {
  if (ms === -1) {
    return '-';
  }
  const whole = Math.max(Math.floor(ms), 0);
  return `${Math.floor(whole / 1000)}.${String(whole % 1000).padStart(3, '0')}`;
}

const lists: readonly (readonly [string, (attempt: Attempt) => string])[] = [
  ['upstream_status', ({ status }) => (status === 0 ? '-' : String(status))],
  ['upstream_connect_time', ({ connectTime }) => seconds(connectTime)],
  ['upstream_header_time', ({ headerTime }) => seconds(headerTime)],
  ['upstream_response_time', ({ responseTime }) => seconds(responseTime)],
  ['upstream_response_length', ({ responseLength }) => String(responseLength)],
  ['upstream_bytes_received', ({ bytesReceived }) => String(bytesReceived)],
  ['upstream_bytes_sent', ({ bytesSent }) => String(bytesSent)],
];

const attemptsOf = (r: Request): readonly Attempt[] | null | undefined => upstreamOf(r)?.peer.attempts;

/** The addresses; between two rounds nothing stands for the entry that separates them. nginx: ngx_http_upstream_addr_variable. */
const address = ({ peer, unbegun }: Attempt): string => (unbegun ? '' : (peer ?? ''));

/** What sessions tell of their attempts, with nginx's names there. */
const sessionLists: readonly (readonly [string, (attempt: Attempt) => string])[] = [
  ['upstream_addr', address],
  ['upstream_connect_time', ({ connectTime }) => seconds(connectTime)],
  ['upstream_first_byte_time', ({ headerTime }) => seconds(headerTime)],
  ['upstream_session_time', ({ responseTime }) => seconds(responseTime)],
  ['upstream_bytes_received', ({ bytesReceived }) => String(bytesReceived)],
  ['upstream_bytes_sent', ({ bytesSent }) => String(bytesSent)],
];

/** Headers whose name, with `_` for `-`, is the variable's; joined. nginx: ngx_http_variable_unknown_header. */
function header(r: Request, suffix: string): string | undefined {
  const head = upstreamOf(r)?.head;
  if (head === undefined) {
    return undefined;
  }
  let value: string | undefined;
  for (const each of head.headers) {
    if (each.kind === HeaderKind.DROPPED || each.lower.replaceAll('-', '_') !== suffix) {
      continue;
    }
    value = value === undefined ? each.value : `${value}, ${each.value}`;
  }
  return value;
}

function trailer(r: Request, suffix: string): string | undefined {
  const trailers = upstreamOf(r)?.head.trailers ?? [];
  let value: string | undefined;
  for (let i = 0; i < trailers.length; i += 3) {
    if (trailers[i + 1]!.replaceAll('-', '_') !== suffix) {
      continue;
    }
    value = value === undefined ? trailers[i + 2]! : `${value}, ${trailers[i + 2]}`;
  }
  return value;
}

/** A cookie that the backend set. nginx: ngx_http_parse_set_cookie_lines. */
function cookie(r: Request, suffix: string): string | undefined {
  const head = upstreamOf(r)?.head;
  if (head === undefined) {
    return undefined;
  }
  for (const { kind, value: line } of head.headers) {
    if ((kind & ~HeaderKind.HIDDEN) !== HeaderKind.SET_COOKIE) {
      continue;
    }
    if (line.slice(0, suffix.length).toLowerCase() !== suffix) {
      continue;
    }
    const found = /^ *= *([^;]*)/.exec(line.slice(suffix.length));
    if (found !== null) {
      return found[1];
    }
  }
  return undefined;
}

const variables: readonly Variable[] = [
  { name: 'upstream_addr', cacheable: false, get: (r) => list(attemptsOf(r), address) },
  ...lists.map(([name, each]): Variable => ({ name, cacheable: false, get: (r) => list(attemptsOf(r), each) })),
  { name: 'upstream_http_', prefix: true, cacheable: false, get: header },
  { name: 'upstream_trailer_', prefix: true, cacheable: false, get: trailer },
  { name: 'upstream_cookie_', prefix: true, cacheable: false, get: cookie },
];

/** `$upstream_*`: the attempts of a request or session at its backends. */
export const varsUpstreamModule = defineModule({
  name: 'vars_upstream',
  variables,
  stream: {
    variables: sessionLists.map(([name, each]) => ({ name, cacheable: false, get: (s) => list(s.upstream?.attempts, each) })),
  },
});
