import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { oneOf } from '../../../shared/config/slots.js';
import { locationKind, serverKind } from '../../../shared/zone/meter-kinds.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { beginRequest, countRequests } from './count-request.js';

/** What is counted without a word about it. */
const byName = defineScope<{ zones: 'auto' | 'off' }>({
  fields: { zones: own<'auto' | 'off'>('auto') },
  directives: {
    // Ours. Syntax: status_zones auto | off;
    status_zones: { in: In.HTTP, args: 1, set: oneOf('zones', { auto: 'auto', off: 'off' }) },
  },
});

const serverScope = defineScope<{ zone: string }>({ fields: { zone: own('') }, directives: {} });

const locationScope = defineScope<{ zone: string }>({
  // `off` takes the zone of the location around away.
  fields: { zone: inherit('off') },
  directives: {
    status_zone: { in: In.SERVER | In.LOCATION | In.LOCATION_IF, args: 1, set: (conf, _node, ctx) => setZone(conf, ctx) },
  },
});

function setZone(conf: { zone?: string | undefined }, ctx: Context): void {
  const target = ctx.block.context === In.SERVER ? ctx.conf(serverScope) : conf;
  if (target.zone !== undefined) {
    ctx.reject('is duplicate');
  }
  const name = ctx.node.args[0]!;
  target.zone = name === '' ? ctx.fail('invalid zone name ""', { arg: 0 }) : name;
}

/** Counts requests by virtual server and location. NGINX Plus: `status_zone` of ngx_http_api_module. */
export const statusZoneModule = defineModule({
  name: 'status_zone',
  main: byName,
  server: serverScope,
  location: locationScope,
  phases: {
    postRead: (_conf, _env, { server }) => (server.zone === null ? undefined : beginRequest(server.zone)),
    log({ zone }, env, { server }) {
      const location = zone === 'off' ? null : env.zones.counters.meters.meter(locationKind, zone);
      return countRequests(server.zone, location, server.http);
    },
  },
  installMain({ zones }, http, env) {
    http.meters = zones === 'auto' ? env.zones.counters.meters : null;
  },
  installServer({ zone }, server, env) {
    const { meters } = env.zones.counters;
    if (zone === 'off') {
      return;
    }
    if (zone !== '') {
      server.zone = meters.meter(serverKind, zone);
    } else if (server.http.meters !== null) {
      server.zone = meters.meter(serverKind, server.settings.serverName || '_');
    }
  },
});
