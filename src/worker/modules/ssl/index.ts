import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import type { Scope } from '../../../shared/config/define.js';
import type { ServerNames } from '../../listening/listeners.js';
import { defineModule, defineSharedScope, type Module, made } from '../../module.js';
import { sessionTlsSlot } from '../../stream/session/session-settings.js';
import type { ClientTask } from '../../task/client-task.js';
import { ServerTls, tlsSlot } from '../../tls/server-tls.js';
import type { TlsSettings } from '../../tls/settings.js';
import { shareTickets } from '../../tls/share-tickets.js';
import { offeredProtocols } from '../../tls/tls-address.js';
import { checkAddresses } from './addresses.js';
import { type SessionTlsSettings, sessionTlsScope, sslScope } from './directives.js';
import { secure } from './session-handshake.js';
import { variables } from './variables.js';

/**
 * TLS towards clients: `ssl_*` and `$ssl_*`. The settings that say where and for whom servers of `http` and of `stream` listen belong to
 * other modules, which the registry hands over. nginx: ngx_http_ssl_module, ngx_stream_ssl_module.
 */
export function makeSslModule<C extends ServerNames, D extends ServerNames>(
  httpNames: Scope<C, ClientTask>,
  streamNames: Scope<D, ClientTask>,
): Module<object, object, TlsSettings, SessionTlsSettings> {
  return defineModule({
    name: 'ssl',
    main: defineSharedScope<object>({
      fields: {},
      directives: {},
      linkLast(_conf, ctx, { context, block }) {
        const tlsOf = (server: Block): Readonly<TlsSettings> => ctx.settings(sslScope, server);
        if (!ctx.checking) {
          return;
        }
        if (context === In.HTTP) {
          checkAddresses(block, (server) => ctx.settings(httpNames, server), tlsOf, ctx);
        } else if (context === In.STREAM) {
          checkAddresses(block, (server) => ctx.settings(streamNames, server), tlsOf, ctx);
        }
      },
    }),
    server: sslScope,
    location: sessionTlsScope,
    variables,
    installServer(conf, server, env) {
      server.put(tlsSlot, new ServerTls(conf, env.named, env.zones, () => server.root));
      shareTickets(conf, env);
    },
    stream: {
      variables,
      installServer(conf, server, env) {
        server.put(tlsSlot, new ServerTls(conf, env.named, env.zones, () => server));
        shareTickets(conf, env);
      },
      slot: made(sessionTlsSlot, ({ alpn, handshakeTimeout }: Readonly<SessionTlsSettings>) => ({
        handshakeTimeout,
        alpn: alpn === undefined ? undefined : offeredProtocols(alpn),
      })),
      phases: { ssl: () => secure },
    },
  });
}
