import { isIPv4 } from 'node:net';
import { LONGEST_SOCKET_PATH } from '../../shared/address/socket-path.js';
import { isIpv6WithoutZone } from '../../shared/address/zone-id.js';
import type { SocketExtras } from '../../shared/config/configuration.js';
import { In } from '../../shared/config/context.js';
import type { HostRef } from '../../shared/config/define.js';
import type { DirectiveNode } from '../../shared/config/language/ast.js';
import { parseSize, parseTime } from '../../shared/config/language/units.js';
import { loadNative } from '../../shared/native/native.js';
import type { SharedContext } from '../module.js';
import { whyNoQuic } from '../net/openssl/quic-library.js';
import type { ListenInfo, SocketOptions } from './listeners.js';

/** One `listen` directive. */
export interface Listen extends ListenInfo {
  readonly host: HostRef | undefined;
  readonly options: SocketOptions;
}

const FLAGS_WITH_OPTIONS =
  /^(setfib|fastopen|backlog|rcvbuf|sndbuf|accept_filter)=|^(deferred|bind|reuseport|multipath)$|^(ipv6only|so_keepalive)=/;

/** Parameters that only a call of the system brings about, which Node does not have. */
const NEEDS_NATIVE: ReadonlySet<string> = new Set(['deferred', 'rcvbuf', 'sndbuf', 'fastopen', 'reuseport']);

const NODE_CANNOT = 'Node cannot set this option of a socket';

/** Why nothing comes of a parameter that is checked; undefined for one that works. */
function withoutEffect(name: string, datagrams: boolean): string | undefined {
  if (name === 'multipath') {
    return 'connections use one path, as TCP does';
  }
  if (!NEEDS_NATIVE.has(name) || typeof loadNative() !== 'string') {
    return undefined;
  }
  if (name === 'reuseport') {
    return datagrams ? ONE_READER : 'all workers accept from one socket';
  }
  return NODE_CANNOT;
}

/** Parameters that only the one or only the other protocol's `listen` has. */
const ONLY_HTTP: ReadonlySet<string> = new Set(['default', 'http2', 'quic', 'spdy']);
const ONLY_STREAM: ReadonlySet<string> = new Set(['udp']);

/** Without `reuseport`, nobody else reads a client's datagrams either. */
const ONE_READER = 'one worker reads each socket of UDP, and a client stays with it';

/** Parameters that are of TCP alone. */
const NOT_OF_UDP = ['fastopen', 'backlog', 'deferred', 'multipath', 'ssl', 'so_keepalive', 'proxy_protocol'];

/** The words that are not for QUIC, in the order in which nginx looks at them. */
const NOT_OF_QUIC = ['fastopen', 'backlog', 'accept_filter', 'deferred', 'multipath', 'ssl', 'http2', 'so_keepalive', 'proxy_protocol'];

/** The port of an address without one. */
const HTTP_PORT = 80;

/** Reads a `listen` directive of `http` or `stream`. nginx: ngx_http_core_listen, ngx_stream_core_listen, ngx_parse_url. */
export function parseListen(node: DirectiveNode, ctx: SharedContext): Listen {
  const text = node.args[0]!;
  const stream = ctx.block.context === In.STREAM_SERVER;
  const place = withDevPort(parseAddress(text, stream ? 0 : HTTP_PORT, ctx), ctx, stream);
  const absent = stream ? ONLY_HTTP : ONLY_STREAM;
  const datagrams = stream && node.args.includes('udp', 1);
  let backlog: number | undefined;
  let rcvbuf: number | undefined;
  let sndbuf: number | undefined;
  let ipv6only: boolean | undefined;
  let fastopen: number | undefined;
  let soKeepalive: boolean | undefined;
  let probes: SocketExtras['probes'];
  let deferred = false;
  let reuseport = false;
  let bind = false;
  let set = false;
  let defaultServer = false;
  let ssl = false;
  let http2 = false;
  let quic = false;
  let proxyProtocol = false;
  let udp = false;
  for (let i = 1; i < node.args.length; i++) {
    const option = node.args[i]!;
    const equals = option.indexOf('=');
    const name = equals === -1 ? option : option.slice(0, equals);
    const value = equals === -1 ? '' : option.slice(equals + 1);
    if (FLAGS_WITH_OPTIONS.test(option)) {
      set = true;
      bind = true;
    }
    const why = withoutEffect(name, datagrams);
    if (why !== undefined) {
      ctx.warn(`the "${name}" parameter has no effect: ${why}`, { arg: i });
    }
    if (absent.has(option)) {
      ctx.fail(`invalid parameter "${option}"`, { arg: i });
    } else if (option === 'default_server' || option === 'default') {
      defaultServer = true;
    } else if (option === 'ssl') {
      ssl = true;
    } else if (option === 'http2') {
      ctx.warn('the "listen ... http2" directive is deprecated, use the "http2" directive instead', { arg: i });
      http2 = true;
    } else if (option === 'quic') {
      const whyNot = whyNoQuic();
      if (whyNot !== '') {
        ctx.warn(`the "quic" parameter has no effect: there is no QUIC here, because ${whyNot}`, { arg: i });
      }
      quic = true;
    } else if (option === 'proxy_protocol') {
      proxyProtocol = true;
    } else if (option === 'udp') {
      udp = true;
    } else if (option === 'bind') {
      bind = true;
    } else if (option === 'deferred') {
      deferred = true;
    } else if (option === 'reuseport') {
      reuseport = true;
    } else if (option === 'multipath') {
    } else if (option === 'spdy') {
      ctx.warn('invalid parameter "spdy": ngx_http_spdy_module was superseded by ngx_http_v2_module', { arg: i });
    } else if (name === 'backlog' && equals !== -1) {
      backlog = Number(value);
      if (!/^\d+$/.test(value) || backlog === 0) {
        ctx.fail(`invalid backlog "${option}"`, { arg: i });
      }
    } else if (name === 'rcvbuf' && equals !== -1) {
      rcvbuf = parseSize(value) || ctx.fail(`invalid rcvbuf "${option}"`, { arg: i });
    } else if (name === 'sndbuf' && equals !== -1) {
      sndbuf = parseSize(value) || ctx.fail(`invalid sndbuf "${option}"`, { arg: i });
    } else if (name === 'fastopen' && equals !== -1) {
      if (!/^\d+$/.test(value)) {
        ctx.fail(`invalid fastopen "${option}"`, { arg: i });
      }
      fastopen = Number(value);
    } else if (name === 'setfib' && equals !== -1) {
      ctx.fail(`invalid parameter "${option}"`, { arg: i });
    } else if (name === 'accept_filter' && equals !== -1) {
      ctx.fail(`accept filters "${option}" are not supported on this platform, ignored`, { arg: i });
    } else if (option.startsWith('ipv6only=o')) {
      if (value !== 'on' && value !== 'off') {
        ctx.fail(`invalid ipv6only flags "${value}"`, { arg: i });
      }
      ipv6only = value === 'on';
    } else if (name === 'so_keepalive' && equals !== -1) {
      soKeepalive = value !== 'off';
      probes = value === 'on' || value === 'off' ? undefined : parseProbes(value, ctx, i);
      if (probes !== undefined && typeof loadNative() === 'string') {
        ctx.warn(`the times of the "so_keepalive" parameter have no effect: ${NODE_CANNOT}`, { arg: i });
      }
    } else {
      ctx.fail(`invalid parameter "${option}"`, { arg: i });
    }
  }
  if (quic) {
    const given = new Set(node.args.slice(1).map((option) => option.split('=', 1)[0]!));
    const wrong = NOT_OF_QUIC.find((name) => given.has(name));
    if (wrong !== undefined) {
      ctx.reject(`"${wrong}" parameter is incompatible with "quic"`);
    }
    if (place.family === 'unix') {
      ctx.warn('the "quic" parameter has no effect: QUIC comes over UDP, not over Unix-domain sockets', { arg: 0 });
    }
  }
  if (udp) {
    if (place.family === 'unix') {
      ctx.fail('datagrams of Unix-domain sockets are not supported', { arg: 0 });
    }
    const given = new Set(node.args.slice(1).map((option) => option.split('=', 1)[0]!));
    const wrong = NOT_OF_UDP.find((name) => given.has(name));
    if (wrong !== undefined) {
      ctx.reject(`"${wrong}" parameter is incompatible with "udp"`);
    }
  }
  const extras =
    rcvbuf === undefined && sndbuf === undefined && fastopen === undefined && !deferred && probes === undefined
      ? undefined
      : { rcvbuf, sndbuf, fastopen, deferred, probes };
  return {
    pos: { ...node.pos, line: node.endLine },
    text,
    ...place,
    defaultServer,
    ssl,
    http2,
    quic,
    udp,
    proxyProtocol,
    options: { backlog, ipv6only, reuseport, soKeepalive, extras, bind, set },
  };
}

/** Reads `idle:interval:count`, of which any may be left out. */
function parseProbes(value: string, ctx: SharedContext, arg: number): SocketExtras['probes'] {
  const bad = (): never => ctx.fail(`invalid so_keepalive value: "${value}"`, { arg });
  const parts = value.split(':');
  if (parts.length > 3) {
    bad();
  }
  const [first = '', second = '', third = ''] = parts;
  const seconds = (text: string): number => (text === '' ? 0 : (parseTime(text, 's') ?? bad()));
  const [idle, interval] = [seconds(first), seconds(second)];
  const count = third === '' ? 0 : /^\d+$/.test(third) ? Number(third) : bad();
  if (idle === 0 && interval === 0 && count === 0) {
    bad();
  }
  return { idle, interval, count };
}

const withDevPort = (place: ParsedAddress, ctx: SharedContext, stream: boolean): ParsedAddress =>
  stream || place.family === 'unix' ? place : { ...place, ports: place.ports.map((port) => ctx.portFor(port)) };

type ParsedAddress = Pick<Listen, 'family' | 'address' | 'host' | 'ports'>;

/** Reads `address:port`, `port`, `address`, `[v6]:port`, `unix:path`. nginx: ngx_parse_url with listen. */
function parseAddress(text: string, defaultPort: number, ctx: SharedContext): ParsedAddress {
  const bad = (reason: string): never => ctx.fail(`${reason} in "${text}" of the "listen" directive`, { arg: 0 });
  if (/^unix:/i.test(text)) {
    const path = text.slice(5);
    if (path === '') {
      bad('no path in the unix domain socket');
    }
    if (path.length > LONGEST_SOCKET_PATH) {
      bad('too long path in the unix domain socket');
    }
    return { family: 'unix', address: path, host: undefined, ports: [0] };
  }
  if (text.startsWith('[')) {
    const end = text.indexOf(']');
    const address = text.slice(1, end);
    if (end === -1) {
      bad('invalid host');
    }
    if (!isIpv6WithoutZone(address)) {
      bad('invalid IPv6 address');
    }
    const rest = text.slice(end + 1);
    if (rest !== '' && !rest.startsWith(':')) {
      bad('invalid port');
    }
    return { family: 'ipv6', address, host: undefined, ports: rest === '' ? [defaultPort] : parsePorts(rest.slice(1), bad) };
  }
  if (/[/?]/.test(text)) {
    bad('invalid host');
  }
  const colon = text.indexOf(':');
  const hasHost = colon !== -1;
  const host = hasHost ? text.slice(0, colon) : text;
  // A number that is none for nginx is the name of a host.
  if (!hasHost && /^\d{1,18}(-\d{1,18})?$/.test(text)) {
    return { family: 'ipv4', address: '*', host: undefined, ports: parsePorts(text, bad) };
  }
  const ports = hasHost ? parsePorts(text.slice(colon + 1), bad) : [defaultPort];
  if (host === '') {
    bad('no host');
  }
  if (host === '*') {
    return { family: 'ipv4', address: '*', host: undefined, ports };
  }
  if (isIPv4(host)) {
    return { family: 'ipv4', address: host === '0.0.0.0' ? '*' : host, host: undefined, ports };
  }
  const ref = ctx.host(host, 'listen', { message: `host not found in "${text}" of the "listen" directive` });
  return { family: 'ipv4', address: host, host: ref, ports };
}

function parsePorts(text: string, bad: (reason: string) => never): number[] {
  const range = /^(\d+)(?:-(\d+))?$/.exec(text) ?? bad('invalid port');
  const first = Number(range[1]);
  const last = range[2] === undefined ? first : Number(range[2]);
  if (first < 1 || first > 65535 || last > 65535) {
    bad('invalid port');
  }
  if (last < first) {
    bad('invalid port range');
  }
  const ports: number[] = [];
  for (let port = first; port <= last; port++) {
    ports.push(port);
  }
  return ports;
}
