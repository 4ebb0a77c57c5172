import { isIPv4, SocketAddress } from 'node:net';
import { LONGEST_SOCKET_PATH } from '../../shared/address/socket-path.js';
import { isIpv6WithoutZone } from '../../shared/address/zone-id.js';

/** The parts of a backend's address as a directive or a variable names it. nginx: ngx_url_t. */
export interface BackendUrl {
  /** The text without its scheme. */
  readonly url: string;
  readonly family: 'inet' | 'inet6' | 'unix';
  /** A name or literal as written, an IPv6 literal with its brackets, or the path of a unix socket. */
  readonly host: string;
  /** 0 for unix sockets. */
  readonly port: number;
  readonly portText: string;
  readonly noPort: boolean;
  /** What follows the address: a path, or a `?` with arguments; empty when there is nothing. */
  readonly uri: string;
  /** The numeric address when the host is a literal, without brackets. */
  readonly address: string | undefined;
}

export interface UrlOptions {
  readonly defaultPort: number;
  /** A URI may follow the address. */
  readonly uriPart: boolean;
}

/** Takes an address apart. Returns nginx's message when it is not one. nginx: ngx_parse_url. */
export function parseBackendUrl(url: string, options: UrlOptions): BackendUrl | string {
  if (url.slice(0, 5).toLowerCase() === 'unix:') {
    return parseUnix(url, options);
  }
  if (url.startsWith('[')) {
    return parseInet6(url, options);
  }
  return parseInet(url, options);
}

function parseUnix(url: string, { uriPart }: UrlOptions): BackendUrl | string {
  let path = url.slice(5);
  let uri = '';
  const colon = uriPart ? path.indexOf(':') : -1;
  if (colon !== -1) {
    uri = path.slice(colon + 1);
    path = path.slice(0, colon);
  }
  if (path === '') {
    return 'no path in the unix domain socket';
  }
  if (path.length > LONGEST_SOCKET_PATH) {
    return 'too long path in the unix domain socket';
  }
  return { url, family: 'unix', host: path, port: 0, portText: '', noPort: false, uri, address: undefined };
}

function parseInet(url: string, { defaultPort, uriPart }: UrlOptions): BackendUrl | string {
  const end = url.search(/[/?]/);
  if (end !== -1 && !uriPart) {
    return 'invalid host';
  }
  const authority = end === -1 ? url : url.slice(0, end);
  const uri = end === -1 ? '' : url.slice(end);
  const colon = authority.indexOf(':');
  const port = readPort(colon === -1 ? undefined : authority.slice(colon + 1), defaultPort);
  if (typeof port === 'string') {
    return port;
  }
  const host = colon === -1 ? authority : authority.slice(0, colon);
  if (host === '') {
    return 'no host';
  }
  return { url, family: 'inet', host, ...port, uri, address: isIPv4(host) ? host : undefined };
}

function parseInet6(url: string, { defaultPort, uriPart }: UrlOptions): BackendUrl | string {
  const bracket = url.indexOf(']');
  if (bracket === -1) {
    return 'invalid host';
  }
  const after = url.slice(bracket + 1);
  const slash = after.indexOf('/');
  if (slash !== -1 && !uriPart) {
    return 'invalid host';
  }
  const portPart = slash === -1 ? after : after.slice(0, slash);
  const uri = slash === -1 ? '' : after.slice(slash);
  if (portPart !== '' && !portPart.startsWith(':')) {
    return 'invalid host';
  }
  const port = readPort(portPart === '' ? undefined : portPart.slice(1), defaultPort);
  if (typeof port === 'string') {
    return port;
  }
  const literal = url.slice(1, bracket);
  if (literal === '') {
    return 'no host';
  }
  if (!isIpv6WithoutZone(literal)) {
    return 'invalid IPv6 address';
  }
  return { url, family: 'inet6', host: url.slice(0, bracket + 1), ...port, uri, address: literal };
}

function readPort(text: string | undefined, defaultPort: number): { port: number; portText: string; noPort: boolean } | string {
  if (text === undefined) {
    return { port: defaultPort, portText: '', noPort: true };
  }
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535) {
    return 'invalid port';
  }
  return { port, portText: text, noPort: false };
}

/** An address with its port as logs and `$upstream_addr` show it. nginx: ngx_sock_ntop. */
export function addressText(address: string, port: number): string {
  if (!address.includes(':')) {
    return `${address}:${port}`;
  }
  return `[${new SocketAddress({ address, family: 'ipv6' }).address}]:${port}`;
}
