import { makeLocationCache } from '../../cache/location-cache.js';
import type { WorkerEnv } from '../../env.js';
import type { LocationRuntime } from '../../http/request/http-runtime.js';
import { completeSettings } from '../../upstream/directives/directives.js';
import type { HeadRewriter } from '../../upstream/exchange/exchange.js';
import { compileHttp2Headers, type Http2HeaderSource } from '../../upstream/exchange/http2-head.js';
import type { UpstreamConf } from '../../upstream/exchange/upstream-conf.js';
import { HeaderKinds } from '../../upstream/response/header-kinds.js';
import { clientContextsOf, TlsClient } from '../../upstream/tls/tls-client.js';
import type { ProxyHttp2, ProxyLocation } from './compiled-location.js';
import { rewriteCookie } from './cookies.js';
import { usesTls } from './pass.js';
import { cacheHeaders, compileHeaders, type DefaultHeader, defaultHeaders } from './request-headers.js';
import { defaultRedirect, rewriteValue } from './rewrite.js';
import type { ProxyPass, ProxySettings, Rewrite } from './settings.js';
import { cacheKey } from './target.js';

/** nginx: ngx_http_proxy_hide_headers. */
const HIDDEN = [
  'Date',
  'Server',
  'X-Pad',
  'X-Accel-Expires',
  'X-Accel-Redirect',
  'X-Accel-Limit-Rate',
  'X-Accel-Buffering',
  'X-Accel-Charset',
];

/** Compiles a location's settings. */
export function compileLocation(settings: Readonly<ProxySettings>, pass: ProxyPass, env: WorkerEnv, place: LocationRuntime): ProxyLocation {
  const http11 = (settings.httpVersion || (env.compatible ? 1001 : 1000)) === 1001;
  const overHttp2 = settings.httpVersion === 2000;
  const conf: UpstreamConf = {
    module: 'proxy',
    settings: completeSettings(settings),
    kinds: new HeaderKinds(HIDDEN, settings.hideHeaders, settings.passHeaders),
    // Where a response over HTTP/2 has no Server or Date, nginx sends its own to the client.
    passServer: !overHttp2 && isPassed('server', settings),
    passDate: !overHttp2 && isPassed('date', settings),
    rewriter: makeRewriter(settings, pass),
    changeBuffering: true,
    passInterim: true,
    intercept404: false,
    noLiveStatus: env.compatible ? 502 : 503,
    tls: usesTls(pass) ? new TlsClient(settings, env.named, clientContextsOf(place.server.http), overHttp2) : undefined,
    cache: makeLocationCache('proxy', settings, cacheKey, place.server.http, env),
  };
  return {
    conf,
    pass,
    dynamic: pass.dynamic !== undefined,
    name: pass.location,
    headers: compileHeaders(settings.headers, defaultHeaders(!env.compatible)),
    cacheHeaders: conf.cache === undefined ? undefined : compileHeaders(settings.headers, cacheHeaders(!env.compatible)),
    body: settings.body,
    method: settings.method,
    http11,
    http2: overHttp2 ? compileHttp2(settings, conf.cache !== undefined) : undefined,
    versionText: http11 ? ' HTTP/1.1\r\n' : ' HTTP/1.0\r\n',
  };
}

function compileHttp2(settings: Readonly<ProxySettings>, cached: boolean): ProxyHttp2 {
  const sources = settings.headers.map(({ name, value }) => ({ name, value: value.value }));
  // A body of unknown length needs no header to say so.
  const http2Defaults = (defaults: readonly DefaultHeader[]): { name: string; value?: Http2HeaderSource['value'] | undefined }[] =>
    defaults.map(([name, value]) => ({ name, value: value === 'chunked' ? undefined : value }));
  return {
    maxStreams: settings.maxStreams,
    headers: compileHttp2Headers(sources, http2Defaults(defaultHeaders(false))),
    cacheHeaders: cached ? compileHttp2Headers(sources, http2Defaults(cacheHeaders(false))) : undefined,
  };
}

const isPassed = (name: string, { passHeaders }: Readonly<ProxySettings>): boolean =>
  passHeaders.some((passed) => passed.toLowerCase() === name);

function makeRewriter(settings: Readonly<ProxySettings>, pass: ProxyPass): HeadRewriter | undefined {
  const redirects = redirectRules(settings, pass);
  const { cookieDomains: domains, cookiePaths: paths, cookieFlags: flags } = settings;
  const cookies = domains !== null || paths !== null || flags !== null ? { domains, paths, flags } : undefined;
  if (redirects === undefined && cookies === undefined) {
    return undefined;
  }
  return {
    redirects: redirects !== undefined,
    redirect: (r, value, prefix) => rewriteValue(r, redirects!, value, prefix),
    cookie: (r, value) => (cookies === undefined ? undefined : rewriteCookie(r, cookies, value)),
  };
}

function redirectRules(settings: Readonly<ProxySettings>, pass: ProxyPass): readonly Rewrite[] | undefined {
  if (!settings.redirect) {
    return undefined;
  }
  if (settings.redirects !== undefined) {
    return settings.redirects;
  }
  const own = defaultRedirect(pass);
  return own === undefined ? undefined : [own];
}
