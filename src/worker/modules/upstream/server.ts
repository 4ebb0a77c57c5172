import { In } from '../../../shared/config/context.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseNumber, parseTime } from '../../../shared/config/language/units.js';
import { parseBackendUrl } from '../../address/backend-url.js';
import type { SharedContext } from '../../module.js';
import { DOWN, DRAINING, defaultPeerOptions } from '../../upstream/balancing/peer.js';
import { ACCEPTS, ACCEPTS_ALL, type GroupServer, groupScope, UNKNOWN_BACKEND } from '../../upstream/group/group-config.js';
import { NAMES_BYTES, NAMES_ZONE, namesZone } from '../../upstream/group/names-zone.js';

/** Longest `route`. nginx: NGX_HTTP_UPSTREAM_SID_LEN. */
const MAX_ROUTE = 32;

interface Parameters {
  weight: number;
  maxConns: number;
  maxFails: number;
  failTimeout: number;
  slowStart: number;
  down: number;
  route: string;
  backup: boolean;
  resolve: GroupServer['resolve'];
  service: string;
}

/** The port of a server of `http` without one. */
const HTTP_PORT = 80;
/** What only requests know of: sessions that stay with a server. */
const OF_REQUESTS = /^(drain$|route=)/;

/** Reads a `server` line of an `upstream {}`. nginx: ngx_http_upstream_server, ngx_stream_upstream_server. */
export function readServer(node: DirectiveNode, ctx: SharedContext): GroupServer {
  const accepts = ctx.conf(groupScope).accepts ?? ACCEPTS_ALL;
  const p: Parameters = { ...defaultPeerOptions, backup: false, resolve: 'no', service: '' };
  node.args.slice(1).forEach((text, i) => {
    if ((ctx.block.context === In.STREAM_UPSTREAM && OF_REQUESTS.test(text)) || !readParameter(text, p, accepts, ctx)) {
      ctx.fail(`invalid parameter "${text}"`, { arg: i + 1 });
    }
  });
  const name = node.args[0]!;
  if (p.service !== '' && p.resolve === 'no') {
    ctx.fail(`service upstream "${name}" requires "resolve" parameter`, { arg: 0 });
  }
  const stream = ctx.block.context === In.STREAM_UPSTREAM;
  const url = parseBackendUrl(name, { defaultPort: stream ? 0 : HTTP_PORT, uriPart: false });
  if (typeof url === 'string') {
    return ctx.fail(`${url} in upstream "${name}"`, { arg: 0 });
  }
  if (stream && url.noPort && p.service === '') {
    ctx.fail(`no port in upstream "${name}"`, { arg: 0 });
  }
  const literal = url.family === 'unix' || url.address !== undefined;
  if (p.service !== '' && !url.noPort) {
    ctx.fail(`service upstream "${name}" may not have port`, { arg: 0 });
  }
  if (p.service !== '' && literal) {
    ctx.fail(`service upstream "${name}" requires domain name`, { arg: 0 });
  }
  const { backup, resolve, service, ...options } = p;
  const dynamic = resolve !== 'no' && !literal;
  if (dynamic) {
    ctx.conf(groupScope).names ??= ctx.zone(namesZone, NAMES_ZONE, { bytes: NAMES_BYTES, data: undefined });
  }
  const host = literal || dynamic ? undefined : ctx.host(url.host, 'upstream', { shown: name, hint: UNKNOWN_BACKEND });
  return { url, options, backup, host, resolve: dynamic ? resolve : 'no', service };
}

/** Reads one parameter. Returns false when it is none. */
function readParameter(text: string, p: Parameters, accepts: number, ctx: SharedContext): boolean {
  const equals = text.indexOf('=');
  const key = equals === -1 ? text : text.slice(0, equals);
  const value = equals === -1 ? undefined : text.slice(equals + 1);
  const need = (bit: number): void => {
    if ((accepts & bit) === 0) {
      ctx.fail(`balancing method does not support parameter "${text}"`);
    }
  };
  if (value === undefined) {
    switch (key) {
      case 'backup':
        need(ACCEPTS.BACKUP);
        p.backup = true;
        return true;
      case 'down':
        need(ACCEPTS.DOWN);
        p.down = DOWN;
        return true;
      case 'drain':
        need(ACCEPTS.DOWN);
        p.down = DRAINING;
        return true;
      case 'resolve':
        p.resolve = 'yes';
        return true;
      default:
        return false;
    }
  }
  switch (key) {
    case 'weight':
      need(ACCEPTS.WEIGHT);
      p.weight = integer(value);
      return p.weight > 0;
    case 'max_conns':
      need(ACCEPTS.MAX_CONNS);
      p.maxConns = integer(value);
      return p.maxConns >= 0;
    case 'max_fails':
      need(ACCEPTS.MAX_FAILS);
      p.maxFails = integer(value);
      return p.maxFails >= 0;
    case 'fail_timeout':
      need(ACCEPTS.FAIL_TIMEOUT);
      p.failTimeout = parseTime(value, 's') ?? -1;
      return p.failTimeout >= 0;
    case 'slow_start':
      need(ACCEPTS.SLOW_START);
      p.slowStart = parseTime(value, 'ms') ?? -1;
      return p.slowStart >= 0;
    case 'route':
      if (value === '') {
        ctx.fail('route is empty');
      }
      if (value.length > MAX_ROUTE) {
        ctx.fail(`route is longer than ${MAX_ROUTE}`);
      }
      p.route = value;
      return true;
    case 'resolve':
      p.resolve = 'lazy';
      return value === 'lazy';
    case 'service':
      if (value === '') {
        ctx.fail('service is empty');
      }
      p.service = value;
      return true;
    default:
      return false;
  }
}

/** -1 for what is no number. nginx: ngx_atoi. */
const integer = (text: string): number => parseNumber(text) ?? -1;
