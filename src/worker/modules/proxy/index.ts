import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { LateValue } from '../../../shared/config/late-value.js';
import { accepted, complex, int, oneOf, parseInteger } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import { cacheDirectives, cacheFields, finishCache, linkCache } from '../../cache/directives.js';
import { purgeHandler } from '../../cache/purge-answer.js';
import type { Request } from '../../http/request/request.js';
import { type Context, defineModule, defineScope } from '../../module.js';
import { finishUpstream, linkUpstream, upstreamDirectives, upstreamFields } from '../../upstream/directives/directives.js';
import { linkTlsClient, tlsClientDirectives, tlsClientFields } from '../../upstream/directives/tls-directives.js';
import { makeHandler } from './handler.js';
import { compileLocation } from './location.js';
import { readPass, usesTls } from './pass.js';
import { responseDirectives } from './response-directives.js';
import type { CookieFlags, HeaderLineSource, ProxyPass, ProxySettings, Rewrite } from './settings.js';
import { proxyVariables } from './variables.js';

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;
const hashSize = accepted<Request>((ctx: Context) => void parseInteger(ctx.node.args[0]!, ctx, 0));

/** The settings of each location; for the notice of `-t` on the version of HTTP. */
export const proxyScope = defineScope<ProxySettings>({
  fields: {
    ...upstreamFields,
    ...cacheFields,
    ...tlsClientFields,
    pass: own<ProxyPass | undefined>(undefined),
    headers: inherit<readonly HeaderLineSource[]>([]),
    body: inherit<ComplexValue<Request> | undefined>(undefined),
    method: inherit<ComplexValue<Request> | undefined>(undefined),
    httpVersion: inherit(0),
    maxStreams: inherit(128),
    redirect: inherit(true),
    redirects: inherit<readonly Rewrite[] | undefined>(undefined),
    cookieDomains: inherit<readonly Rewrite[] | null>(null),
    cookiePaths: inherit<readonly Rewrite[] | null>(null),
    cookieFlags: inherit<readonly CookieFlags[] | null>(null),
  },
  directives: {
    ...upstreamDirectives('proxy'),
    ...cacheDirectives('proxy'),
    ...tlsClientDirectives('proxy'),
    ...responseDirectives,
    proxy_pass: {
      in: In.LOCATION | In.LOCATION_IF | In.LIMIT_EXCEPT,
      args: 1,
      set(conf, node, ctx) {
        if (conf.pass !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.pass = readPass(node, ctx);
      },
    },
    proxy_set_header: {
      in: ANYWHERE,
      args: 2,
      set(conf, node, ctx) {
        const [name, value] = node.args as [string, string];
        conf.headers = append(conf.headers, { name, value: new LateValue(value, ctx) });
      },
    },
    proxy_headers_hash_max_size: { in: ANYWHERE, args: 1, set: hashSize },
    proxy_headers_hash_bucket_size: { in: ANYWHERE, args: 1, set: hashSize },
    proxy_set_body: { in: ANYWHERE, args: 1, set: complex('body') },
    proxy_method: { in: ANYWHERE, args: 1, set: complex('method') },
    proxy_http_version: { in: ANYWHERE, args: 1, set: oneOf('httpVersion', { '1.0': 1000, '1.1': 1001, '2': 2000 }) },
    proxy_http2_max_streams: { in: ANYWHERE, args: 1, set: int('maxStreams', 1) },
  },
  finish(conf, parent, place) {
    finishUpstream('proxy', conf, place);
    finishCache(conf, parent, place);
    // `if` and `limit_except` go on with their location's backend. nginx: the noname part of ngx_http_proxy_merge_loc_conf.
    if (place.nameless && conf.pass === undefined && parent !== undefined) {
      conf.pass = parent.pass;
    }
  },
  link(conf, ctx, place) {
    linkUpstream('proxy', conf, ctx, place);
    linkCache('proxy', conf, ctx, place);
    for (const { value } of conf.headers) {
      value.compile(ctx, place);
    }
    if (conf.pass !== undefined && usesTls(conf.pass)) {
      linkTlsClient('proxy', conf, ctx);
    }
  },
});

/** Passes requests on to HTTP servers. nginx: ngx_http_proxy_module. */
export const proxyModule = defineModule({
  name: 'proxy',
  location: proxyScope,
  variables: proxyVariables,
  handler(conf, env, location) {
    if (conf.pass === undefined) {
      return purgeHandler('proxy', conf.cachePurgeTarget, env, location);
    }
    return makeHandler(compileLocation(conf, conf.pass, env, location), location);
  },
});
