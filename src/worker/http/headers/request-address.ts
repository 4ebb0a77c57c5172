import { forwardedAddress } from '../../address/forwarded-address.js';
import type { AddressSource } from '../../lookup/address-source.js';
import type { Request } from '../request/request.js';
import { headerValues } from './header-values.js';

/** The client's address for look-ups; `X-Forwarded-For` may name the one that a proxy forwards. nginx: ngx_http_geo_addr. */
export const requestAddress: AddressSource<Request> = {
  client: (r) => r.connection.remoteAddress,
  forwarded(r, address, proxies, recursive) {
    return forwardedAddress(address, headerValues(r, 'x-forwarded-for'), proxies, recursive)?.address ?? address;
  },
};
