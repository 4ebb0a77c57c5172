import { hostname } from 'node:os';
import { ERROR } from '../../../shared/log/level.js';
import { loadNative } from '../../../shared/native/native.js';
import { timeIso8601, timeLocal } from '../../../shared/time/time-format.js';
import { addressBytes } from '../../http/syntax/address-bytes.js';
import { defineModule, type SharedVariable, type Variable } from '../../module.js';
import { type TcpInfoField, tcpInfo } from '../../net/options/tcp-info.js';
import { proxyProtocolTlv } from '../../net/proxy-protocol.js';
import type { ClientTask } from '../../task/client-task.js';
import { NGINX_VERSION } from '../../version.js';

const fixed = (name: string, get: (task: ClientTask) => string | undefined): SharedVariable => ({ name, get });
const live = (name: string, get: () => string): SharedVariable => ({ name, cacheable: false, get });
const host = hostname();

/** What only the kernel knows about a TCP connection, which Node does not pass on. nginx: ngx_http_variable_tcpinfo. */
const ofKernel = (field: TcpInfoField): Variable => ({
  name: `tcpinfo_${field}`,
  cacheable: false,
  get: (r) => tcpInfo(r.connection.descriptor, field)?.toString(),
  warning: () =>
    typeof loadNative() === 'string'
      ? `the "$tcpinfo_${field}" variable is always empty: Node does not tell what the kernel knows about a connection`
      : undefined,
});

function msec(): string {
  const now = Date.now();
  return `${Math.floor(now / 1000)}.${String(now % 1000).padStart(3, '0')}`;
}

/** What is known of any client. */
const shared: readonly SharedVariable[] = [
  // One that was asked for before `set_real_ip_from` of a location keeps the address of the connection.
  fixed('remote_addr', (r) => r.connection.remoteAddress),
  fixed('binary_remote_addr', (r) => addressBytes(r.connection.remoteAddress)),
  fixed('remote_port', (r) => (r.connection.remotePort > 0 ? String(r.connection.remotePort) : '')),
  fixed('server_addr', (r) => r.connection.localAddress),
  fixed('server_port', (r) => (r.connection.localPort > 0 ? String(r.connection.localPort) : '')),
  fixed('connection', (r) => String(r.connection.id)),
  fixed('proxy_protocol_addr', (r) => r.connection.proxyProtocol?.sourceAddress),
  fixed('proxy_protocol_port', (r) => port(r.connection.proxyProtocol?.sourcePort)),
  fixed('proxy_protocol_server_addr', (r) => r.connection.proxyProtocol?.destinationAddress),
  fixed('proxy_protocol_server_port', (r) => port(r.connection.proxyProtocol?.destinationPort)),
  { name: 'proxy_protocol_tlv_', prefix: true, get: (r, suffix) => tlv(r, suffix) },
  fixed('hostname', () => host),
  fixed('pid', () => String(process.pid)),
  fixed('nginx_version', () => NGINX_VERSION),
  live('msec', msec),
  live('time_local', timeLocal),
  live('time_iso8601', timeIso8601),
];

/** What is known of a client of HTTP besides. */
const ofHttp: readonly Variable[] = [
  { name: 'scheme', get: (r) => (r.connection.tls === undefined ? 'http' : 'https') },
  { name: 'https', get: (r) => (r.connection.tls === undefined ? '' : 'on') },
  { name: 'connection_requests', get: (r) => String(r.connection.requests) },
  {
    name: 'connection_time',
    cacheable: false,
    get: (r) => {
      const ms = Math.max(0, Math.round(performance.now() - r.connection.acceptedAt));
      return `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`;
    },
  },
  ...(['rtt', 'rttvar', 'snd_cwnd', 'rcv_space'] as const).map(ofKernel),
];

const tlv = (r: ClientTask, name: string): string | undefined => {
  const header = r.connection.proxyProtocol;
  return header === undefined ? undefined : proxyProtocolTlv(header, name, (message) => r.log(ERROR, message));
};
const port = (n: number | undefined): string | undefined => (n === undefined ? undefined : n > 0 ? String(n) : '');

/** Variables about the client's connection and the process that serves it. nginx: ngx_http_core_variables, ngx_stream_core_variables. */
export const varsConnectionModule = defineModule({
  name: 'vars_connection',
  variables: [...shared, ...ofHttp],
  stream: { variables: shared },
});
