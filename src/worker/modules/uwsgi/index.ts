import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { int, text } from '../../../shared/config/slots.js';
import { purgeHandler } from '../../cache/purge-answer.js';
import { type BackendScheme, mayUseTls } from '../../cgi/backend-pass.js';
import { DirectCgiExchange } from '../../cgi/direct-exchange.js';
import { cgiHandler, HIDDEN_BY_UWSGI, RequestParams } from '../../cgi/handler.js';
import { type CgiSettings, cgiDirectives, cgiFields, finishCgi, linkCgi } from '../../cgi/settings.js';
import { defineModule, defineScope } from '../../module.js';
import { linkTlsClient, tlsClientDirectives, tlsClientFields } from '../../upstream/directives/tls-directives.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';
import type { TlsClientSettings } from '../../upstream/settings/tls-settings.js';
import { clientContextsOf, TlsClient } from '../../upstream/tls/tls-client.js';
import { uwsgiPacket, uwsgiParam } from './packet.js';

/** All `uwsgi_*` settings of a location. nginx: ngx_http_uwsgi_loc_conf_t. */
interface UwsgiSettings extends CgiSettings, TlsClientSettings {
  modifier1: number;
  modifier2: number;
  string: string;
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const SCHEMES: readonly BackendScheme[] = [
  { text: 'uwsgi://', tls: false },
  { text: 'suwsgi://', tls: true },
];

const scope = defineScope<UwsgiSettings>({
  fields: { ...cgiFields, ...tlsClientFields, modifier1: inherit(0), modifier2: inherit(0), string: inherit('') },
  directives: {
    ...cgiDirectives('uwsgi', SCHEMES),
    ...tlsClientDirectives('uwsgi'),
    uwsgi_modifier1: { in: ANYWHERE, args: 1, set: int('modifier1', 0, 255) },
    uwsgi_modifier2: { in: ANYWHERE, args: 1, set: int('modifier2', 0, 255) },
    uwsgi_string: { in: ANYWHERE, args: 1, set: text('string') },
  },
  finish: (conf, parent, place) => finishCgi('uwsgi', conf, parent, place),
  link(conf, ctx, place) {
    linkCgi('uwsgi', conf, ctx, place);
    if (conf.pass !== undefined && mayUseTls(conf.pass)) {
      linkTlsClient('uwsgi', conf, ctx);
    }
  },
});

/** Passes requests on to uwsgi servers. nginx: ngx_http_uwsgi_module. */
export const uwsgiModule = defineModule({
  name: 'uwsgi',
  location: scope,
  handler(conf, env, location) {
    if (conf.pass === undefined) {
      return purgeHandler('uwsgi', conf.cachePurgeTarget, env, location);
    }
    const params = new RequestParams(conf, location, uwsgiParam);
    const request = (u: UpstreamRequest): string | undefined => uwsgiPacket(u, params, conf);
    return cgiHandler(env, location, {
      family: 'uwsgi',
      settings: conf,
      pass: conf.pass,
      hidden: HIDDEN_BY_UWSGI,
      chunkedBodies: false,
      tls: mayUseTls(conf.pass) ? new TlsClient(conf, env.named, clientContextsOf(location.server.http)) : undefined,
      exchange: () => new DirectCgiExchange(conf.passRequestBody, request),
    });
  },
});
