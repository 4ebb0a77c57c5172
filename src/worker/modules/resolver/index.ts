import { defineModule } from '../../module.js';
import { resolverScope } from '../../resolver/directive/resolver-settings.js';
import { resolverOf } from '../../resolver/directive/resolvers.js';

/** Where names are looked up while the server runs. */
export const resolverModule = defineModule({
  name: 'resolver',
  location: resolverScope,
  installLocation(conf, location, env) {
    location.settings.resolver = conf.resolver === undefined ? undefined : resolverOf(conf.resolver, location.server.http, env);
    location.settings.resolverTimeout = conf.resolverTimeout;
  },
  stream: {
    installLocation(conf, server, env) {
      server.settings.resolver = conf.resolver === undefined ? undefined : resolverOf(conf.resolver, server.stream, env);
      server.settings.resolverTimeout = conf.resolverTimeout;
    },
  },
});
