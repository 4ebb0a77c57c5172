import { In } from '../../../shared/config/context.js';
import { own } from '../../../shared/config/define.js';
import { parseSize } from '../../../shared/config/language/units.js';
import { accepted, bits } from '../../../shared/config/slots.js';
import { headSlot } from '../../http/request/client-settings.js';
import { defineModule, defineScope } from '../../module.js';
import { upstreamDirectives, upstreamFields } from '../../upstream/directives/directives.js';
import { FailureType } from '../../upstream/settings/failure.js';
import type { UpstreamSettings } from '../../upstream/settings/settings.js';
import { tunnelHandler } from './handler.js';
import { readTunnelPass, type TunnelPass } from './pass.js';

/** All `tunnel_*` settings of a location. nginx: ngx_http_tunnel_loc_conf_t. */
interface TunnelSettings extends UpstreamSettings {
  pass: TunnelPass | undefined;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

/** nginx: ngx_http_tunnel_next_upstream_masks. */
const nextUpstreamWords = { error: FailureType.ERROR, timeout: FailureType.TIMEOUT, off: FailureType.OFF } as const;

const scope = defineScope<TunnelSettings>({
  fields: { ...upstreamFields, pass: own<TunnelPass | undefined>(undefined) },
  directives: {
    ...upstreamDirectives('tunnel'),
    tunnel_pass: {
      in: In.SERVER | In.LOCATION | In.LOCATION_IF,
      args: [0, 1],
      set(conf, _node, ctx) {
        if (conf.pass !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.pass = readTunnelPass(ctx);
      },
    },
    tunnel_buffer_size: {
      in: ANYWHERE,
      args: 1,
      set: accepted((ctx) => void (parseSize(ctx.node.args[0]!) ?? ctx.reject('invalid value'))),
    },
    tunnel_next_upstream: {
      in: ANYWHERE,
      args: { min: 1 },
      set: bits('nextUpstream', nextUpstreamWords),
    },
  },
  finish(conf, parent, place) {
    if (place.nameless && conf.pass === undefined && parent !== undefined) {
      conf.pass = parent.pass;
    }
  },
});

/** Opens tunnels for clients that ask with CONNECT. nginx: ngx_http_tunnel_module. */
export const tunnelModule = defineModule({
  name: 'tunnel',
  location: scope,
  installLocation(conf, { server }) {
    if (conf.pass !== undefined) {
      const head = server.conf(headSlot);
      server.put(headSlot, { ...head, headLimits: { ...head.headLimits, allowConnect: true } });
    }
  },
  handler: (conf, env, location) => (conf.pass === undefined ? undefined : tunnelHandler(conf, conf.pass, env, location)),
});
