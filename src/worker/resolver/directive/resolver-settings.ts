import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { msec } from '../../../shared/config/slots.js';
import { defineSharedScope } from '../../module.js';
import type { ResolverSpec } from '../resolver-spec.js';
import { readResolver } from './read-resolver.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION | In.STREAM | In.STREAM_SERVER;

/** How a location looks names up. */
export interface ResolverSettings {
  resolver: ResolverSpec | undefined;
  resolverTimeout: number;
}

/** `resolver` and `resolver_timeout`; groups of servers take over what the `http` block says. */
export const resolverScope = defineSharedScope<ResolverSettings>({
  fields: { resolver: inherit<ResolverSpec | undefined>(undefined), resolverTimeout: inherit(30_000) },
  directives: {
    // nginx: ngx_http_core_resolver.
    resolver: {
      in: ANYWHERE,
      args: { min: 1 },
      set(conf, _node, ctx) {
        if (conf.resolver !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.resolver = readResolver(ctx);
      },
    },
    resolver_timeout: { in: ANYWHERE, args: 1, set: msec('resolverTimeout') },
  },
});
