import { In } from '../../../shared/config/context.js';
import type { Scope } from '../../../shared/config/define.js';
import type { ServerNames } from '../../http/listening/listeners.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope, type Module } from '../../module.js';
import { ServerTls } from '../../tls/server-tls.js';
import type { TlsSettings } from '../../tls/settings.js';
import { checkAddresses } from './addresses.js';
import { sslScope } from './directives.js';
import { variables } from './variables.js';

/**
 * TLS towards clients: `ssl_*` and `$ssl_*`. The settings that say where and for whom servers listen belong to another module, which the
 * registry hands over. nginx: ngx_http_ssl_module.
 */
export function makeSslModule<C extends ServerNames>(names: Scope<C, Request>): Module<object, object, TlsSettings> {
  return defineModule({
    name: 'ssl',
    main: defineScope<object>({
      fields: {},
      directives: {},
      link(_conf, ctx, { context, block }) {
        if (context !== In.HTTP || !ctx.checking) {
          return;
        }
        checkAddresses(
          block,
          (server) => ctx.settings(names, server),
          (server) => ctx.settings(sslScope, server),
          ctx,
        );
      },
    }),
    server: sslScope,
    variables,
    installServer(conf, server, env) {
      server.tls = new ServerTls(conf, env.named, env.zones, () => server.root);
    },
  });
}
