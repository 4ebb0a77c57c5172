import { parseTime } from '../../../shared/config/language/units.js';
import { parseBackendUrl } from '../../address/backend-url.js';
import type { SharedContext } from '../../module.js';
import type { ResolverSpec } from '../resolver-spec.js';

/** Reads a `resolver` line. nginx: ngx_resolver_create. */
export function readResolver(ctx: SharedContext): ResolverSpec {
  const servers: ResolverSpec['servers'][number][] = [];
  let valid = 0;
  let ipv4 = true;
  let ipv6 = true;
  let statusZone = '';
  for (const [i, text] of ctx.node.args.entries()) {
    const bad = (): never => ctx.fail(`invalid parameter: ${text}`, { arg: i });
    const [key, value] = text.split(/=(.*)/s) as [string, string | undefined];
    if (value !== undefined && key === 'valid') {
      valid = parseTime(value, 's') ?? bad();
    } else if (value !== undefined && key === 'ipv4') {
      ipv4 = onOff(value, bad);
    } else if (value !== undefined && key === 'ipv6') {
      ipv6 = onOff(value, bad);
    } else if (value !== undefined && key === 'status_zone') {
      statusZone = value;
    } else {
      const url = parseBackendUrl(text, { defaultPort: 53, uriPart: false });
      if (typeof url === 'string') {
        return ctx.fail(`${url} in resolver "${text}"`, { arg: i });
      }
      const addresses = url.address === undefined ? ctx.host(url.host, 'resolver', { shown: text }) : [url.address];
      servers.push({ addresses, port: url.port });
    }
  }
  if (!ipv4 && !ipv6) {
    ctx.fail('"ipv4" and "ipv6" cannot both be "off"');
  }
  if (servers.length === 0 && ctx.node.args.length > 0) {
    ctx.fail('no name servers defined');
  }
  return { servers, valid, ipv4, ipv6, statusZone };
}

function onOff(value: string, bad: () => never): boolean {
  return value === 'on' ? true : value === 'off' ? false : bad();
}
