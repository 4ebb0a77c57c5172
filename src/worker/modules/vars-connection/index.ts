import { hostname } from 'node:os';
import { proxyProtocolTlv } from '../../../shared/net/proxy-protocol.js';
import type { Request } from '../../http/request/request.js';
import { addressBytes } from '../../http/syntax/address-bytes.js';
import { defineModule, type Variable } from '../../module.js';
import { NGINX_VERSION } from '../../version.js';

const fixed = (name: string, get: (r: Request) => string | undefined): Variable => ({ name, get });
const host = hostname();

/** What only the kernel knows about a TCP connection, which Node does not pass on. */
const tcpInfo = (name: string): Variable => ({
  name,
  get: () => undefined,
  warning: `the "$${name}" variable is always empty: Node does not tell what the kernel knows about a connection`,
});

const variables: readonly Variable[] = [
  { name: 'remote_addr', cacheable: false, get: (r) => r.connection.remoteAddress },
  { name: 'binary_remote_addr', cacheable: false, get: (r) => addressBytes(r.connection.remoteAddress) },
  { name: 'remote_port', cacheable: false, get: (r) => (r.connection.remotePort > 0 ? String(r.connection.remotePort) : '') },
  fixed('server_addr', (r) => r.connection.localAddress),
  fixed('server_port', (r) => (r.connection.localPort > 0 ? String(r.connection.localPort) : '')),
  fixed('scheme', (r) => (r.connection.tls === undefined ? 'http' : 'https')),
  fixed('https', (r) => (r.connection.tls === undefined ? '' : 'on')),
  fixed('connection', (r) => String(r.connection.id)),
  fixed('connection_requests', (r) => String(r.connection.requests)),
  {
    name: 'connection_time',
    cacheable: false,
    get: (r) => {
      const ms = Math.max(0, Math.round(performance.now() - r.connection.acceptedAt));
      return `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`;
    },
  },
  fixed('proxy_protocol_addr', (r) => r.connection.proxyProtocol?.sourceAddress),
  fixed('proxy_protocol_port', (r) => port(r.connection.proxyProtocol?.sourcePort)),
  fixed('proxy_protocol_server_addr', (r) => r.connection.proxyProtocol?.destinationAddress),
  fixed('proxy_protocol_server_port', (r) => port(r.connection.proxyProtocol?.destinationPort)),
  { name: 'proxy_protocol_tlv_', prefix: true, get: (r, suffix) => tlv(r, suffix) },
  fixed('hostname', () => host),
  fixed('pid', () => String(process.pid)),
  fixed('nginx_version', () => NGINX_VERSION),
  ...['tcpinfo_rtt', 'tcpinfo_rttvar', 'tcpinfo_snd_cwnd', 'tcpinfo_rcv_space'].map(tcpInfo),
];

const tlv = (r: Request, name: string): string | undefined => {
  const header = r.connection.proxyProtocol;
  return header === undefined ? undefined : proxyProtocolTlv(header, name);
};
const port = (n: number | undefined): string | undefined => (n === undefined ? undefined : n > 0 ? String(n) : '');

/** Variables about the client's connection and the process that serves it. nginx: ngx_http_core_variables. */
export const varsConnectionModule = defineModule({ name: 'vars_connection', variables });
