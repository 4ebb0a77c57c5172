import { noAddress } from '../../shared/address/address.js';
import type { ConfigContext } from '../../shared/config/define.js';
import type { Subject } from '../../shared/value/subject.js';
import { type Cidr, parseCidr } from '../address/cidr.js';

/** Reads a network, or the address of clients that have none. nginx: ngx_http_geo_cidr_value, ngx_http_geoip_cidr_value. */
export function readNetwork<R extends Subject>(text: string, ctx: ConfigContext<R>): Cidr {
  if (text === '255.255.255.255') {
    return { first: noAddress, last: noAddress, bits: 32, lowBits: false };
  }
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    return ctx.fail(`invalid network "${text}"`);
  }
  if (cidr.lowBits) {
    ctx.warn(`low address bits of ${text} are meaningless`);
  }
  return cidr;
}
