import { purgeHandler } from '../../cache/purge-answer.js';
import { DirectCgiExchange } from '../../cgi/direct-exchange.js';
import { cgiHandler, HIDDEN_BY_CGI, RequestParams } from '../../cgi/handler.js';
import { type CgiSettings, cgiDirectives, cgiFields, finishCgi, linkCgi } from '../../cgi/settings.js';
import { defineModule, defineScope } from '../../module.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';

const scope = defineScope<CgiSettings>({
  fields: cgiFields,
  directives: cgiDirectives('scgi'),
  finish: (conf, parent, place) => finishCgi('scgi', conf, parent, place),
  link: (conf, ctx, place) => linkCgi('scgi', conf, ctx, place),
});

/** Passes requests on to SCGI servers. nginx: ngx_http_scgi_module. */
export const scgiModule = defineModule({
  name: 'scgi',
  location: scope,
  handler(conf, env, location) {
    if (conf.pass === undefined) {
      return purgeHandler('scgi', conf.cachePurgeTarget, env, location);
    }
    const params = new RequestParams(conf, location, { before: (name) => `${name}\0`, after: '\0' });
    const request = (u: UpstreamRequest): string => scgiRequest(u, params);
    return cgiHandler(env, location, {
      family: 'scgi',
      settings: conf,
      pass: conf.pass,
      hidden: HIDDEN_BY_CGI,
      chunkedBodies: false,
      exchange: () => new DirectCgiExchange(conf.passRequestBody, request),
    });
  },
});

/** All parameters as one netstring, the length of the body first. nginx: ngx_http_scgi_create_request. */
function scgiRequest(u: UpstreamRequest, params: RequestParams): string {
  const text = `CONTENT_LENGTH\0${Math.max(u.r.contentLength, 0)}\0${params.text(u)}`;
  return `${text.length}:${text},`;
}
