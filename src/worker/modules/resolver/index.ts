import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { msec } from '../../../shared/config/slots.js';
import { defineModule, defineScope } from '../../module.js';
import { type ResolverSpec, readResolver } from '../../resolver/resolver-spec.js';
import { resolverOf } from '../../resolver/resolvers.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

interface Settings {
  resolver: ResolverSpec | undefined;
  resolverTimeout: number;
}

const scope = defineScope<Settings>({
  fields: { resolver: inherit<ResolverSpec | undefined>(undefined), resolverTimeout: inherit(30_000) },
  directives: {
    // nginx: ngx_http_core_resolver.
    resolver: {
      in: ANYWHERE,
      args: { min: 1 },
      set(conf, _node, ctx) {
        if (conf.resolver !== undefined) ctx.reject('is duplicate');
        conf.resolver = readResolver(ctx);
      },
    },
    resolver_timeout: { in: ANYWHERE, args: 1, set: msec('resolverTimeout') },
  },
});

/** Where names are looked up while the server runs. */
export const resolverModule = defineModule({
  name: 'resolver',
  location: scope,
  installLocation(conf, location, env) {
    location.settings.resolver = conf.resolver === undefined ? undefined : resolverOf(conf.resolver, location.server.http, env);
    location.settings.resolverTimeout = conf.resolverTimeout;
  },
});
