import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { oneOf } from '../../../shared/config/slots.js';
import { locationKind, type MeterKind, serverKind, streamServerKind } from '../../../shared/zone/meter-kinds.js';
import type { Meter, Meters } from '../../../shared/zone/meters.js';
import type { WorkerEnv } from '../../env.js';
import { nameSlot } from '../../http/request/server-names.js';
import { defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import { streamNameSlot } from '../../stream/session/session-settings.js';
import { countBegin, countRequests } from './count-request.js';

const SERVER = In.SERVER | In.STREAM_SERVER;

/** What is counted without a word about it. */
const byName = defineSharedScope<{ zones: 'auto' | 'off' }>({
  fields: { zones: own<'auto' | 'off'>('auto') },
  directives: {
    // Ours. Syntax: status_zones auto | off;
    status_zones: { in: In.HTTP | In.STREAM, args: 1, set: oneOf('zones', { auto: 'auto', off: 'off' }) },
  },
});

const serverScope = defineSharedScope<{ zone: string }>({ fields: { zone: own('') }, directives: {} });

const locationScope = defineSharedScope<{ zone: string }>({
  // `off` takes the zone of the location around away; `none` has requests counted for nothing, their server included.
  fields: { zone: inherit('off') },
  directives: {
    status_zone: { in: SERVER | In.LOCATION | In.LOCATION_IF, args: 1, set: (conf, _node, ctx) => setZone(conf, ctx) },
  },
});

function setZone(conf: { zone?: string | undefined }, ctx: SharedContext): void {
  const ofServer = (ctx.block.context & SERVER) !== 0;
  const target = ofServer ? ctx.conf(serverScope) : conf;
  if (target.zone !== undefined) {
    ctx.reject('is duplicate');
  }
  const name = ctx.node.args[0]!;
  if (ofServer && name === 'none') {
    ctx.fail('invalid zone name "none": a server is not counted with "off"', { arg: 0 });
  }
  target.zone = name === '' ? ctx.fail('invalid zone name ""', { arg: 0 }) : name;
}

/** A server's meter; null where it is not counted. */
function meterOf(zone: string, kind: MeterKind, name: string, all: Meters | null, { zones }: WorkerEnv): Meter | null {
  if (zone === 'off') {
    return null;
  }
  return zone === '' ? (all?.meter(kind, name) ?? null) : zones.counters.meters.meter(kind, zone);
}

/** Counts requests by virtual server and location, and sessions by server. NGINX Plus: `status_zone` of ngx_http_api_module. */
export const statusZoneModule = defineModule({
  name: 'status_zone',
  main: byName,
  server: serverScope,
  location: locationScope,
  phases: {
    postRead: (_conf, _env, { server }) => (server.zone === null ? undefined : countBegin(server.zone)),
    log({ zone }, env, { server }) {
      const location = zone === 'off' || zone === 'none' ? null : env.zones.counters.meters.meter(locationKind, zone);
      return countRequests(server.zone, location, server.http, zone !== 'none');
    },
  },
  installMain({ zones }, http, env) {
    http.meters = zones === 'auto' ? env.zones.counters.meters : null;
  },
  installServer({ zone }, server, env) {
    server.zone = meterOf(zone, serverKind, server.conf(nameSlot).serverName || '_', server.meters, env);
  },
  stream: {
    installMain({ zones }, stream, env) {
      stream.meters = zones === 'auto' ? env.zones.counters.meters : null;
    },
    installServer({ zone }, server, env) {
      server.zone = meterOf(zone, streamServerKind, server.conf(streamNameSlot).label, server.meters, env);
    },
  },
});
