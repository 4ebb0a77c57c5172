import { isIPv4, isIPv6 } from 'node:net';

/** An address as nginx writes it: without the zone that Node adds to link-local ones, as in `fe80::1%eth0`. nginx: ngx_sock_ntop. */
export function withoutZone(address: string | undefined): string | undefined {
  const zone = address === undefined ? -1 : address.indexOf('%');
  return zone === -1 ? address : (address as string).slice(0, zone);
}

/** Whether a text is an IPv6 address; Node lets zones pass, which nginx does not know. nginx: ngx_inet6_addr. */
export const isIpv6WithoutZone = (text: string): boolean => isIPv6(text) && !text.includes('%');

/** Whether a text is an address of either kind. nginx: ngx_parse_addr. */
export const isIpWithoutZone = (text: string): boolean => isIPv4(text) || isIpv6WithoutZone(text);
