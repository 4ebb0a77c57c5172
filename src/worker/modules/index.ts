import type { AnyModule } from '../module.js';
import { accessModule } from './access/index.js';
import { accessLogModule } from './access-log/index.js';
import { makeAcmeModule } from './acme/index.js';
import { additionModule } from './addition/index.js';
import { apiModule } from './api/index.js';
import { authApiKeyModule } from './auth-api-key/index.js';
import { authBasicModule } from './auth-basic/index.js';
import { authJwtModule } from './auth-jwt/index.js';
import { authOidcLoginModule, authOidcModule } from './auth-oidc/index.js';
import { authRequestModule } from './auth-request/index.js';
import { authRequireModule } from './auth-require/index.js';
import { authSignatureModule } from './auth-signature/index.js';
import { autoindexModule } from './autoindex/index.js';
import { brotliModule } from './brotli/index.js';
import { browserModule } from './browser/index.js';
import { cachePathModule } from './cache-path/index.js';
import { charsetModule } from './charset/index.js';
import { clientModule } from './client/index.js';
import { dashboardModule } from './dashboard/index.js';
import { davModule } from './dav/index.js';
import { devModule } from './dev/index.js';
import { documentModule } from './document/index.js';
import { earlyHintsModule } from './early-hints/index.js';
import { emptyGifModule } from './empty-gif/index.js';
import { errorLogModule } from './error-log/index.js';
import { errorPageModule } from './error-page/index.js';
import { errorReasonModule } from './error-reason/index.js';
import { explainModule } from './explain/index.js';
import { fastcgiModule } from './fastcgi/index.js';
import { flvModule } from './flv/index.js';
import { geoModule } from './geo/index.js';
import { geoipModule } from './geoip/index.js';
import { grpcModule } from './grpc/index.js';
import { gunzipModule } from './gunzip/index.js';
import { gzipModule } from './gzip/index.js';
import { gzipStaticModule } from './gzip-static/index.js';
import { hashModule } from './hash/index.js';
import { headersModule } from './headers/index.js';
import { healthCheckModule } from './health-check/index.js';
import { healthEndpointModule } from './health-endpoint/index.js';
import { http2Module, http2Scope } from './http2/index.js';
import { http3Module } from './http3/index.js';
import { makeHttpsModule } from './https/index.js';
import { imageFilterModule } from './image-filter/index.js';
import { indexFileModule } from './index-file/index.js';
import { ipHashModule } from './ip-hash/index.js';
import { jsAccessModule, jsModule, jsRewriteModule } from './js/index.js';
import { keepaliveModule } from './keepalive/index.js';
import { keyvalModule } from './keyval/index.js';
import { leastConnModule } from './least-conn/index.js';
import { leastTimeModule } from './least-time/index.js';
import { limitConnModule } from './limit-conn/index.js';
import { limitExceptModule } from './limit-except/index.js';
import { limitRateModule } from './limit-rate/index.js';
import { limitReqModule } from './limit-req/index.js';
import { mapModule } from './map/index.js';
import { memcachedModule } from './memcached/index.js';
import { mirrorModule } from './mirror/index.js';
import { mp4Module } from './mp4/index.js';
import { notModifiedModule } from './not-modified/index.js';
import { otelModule } from './otel/index.js';
import { postActionModule } from './post-action/index.js';
import { postponeModule } from './postpone/index.js';
import { processModule } from './process/index.js';
import { proxyModule } from './proxy/index.js';
import { quicModule } from './quic/index.js';
import { randomModule } from './random/index.js';
import { randomIndexModule } from './random-index/index.js';
import { rangeBodyModule, rangeHeaderModule } from './range/index.js';
import { realipModule } from './realip/index.js';
import { refererModule } from './referer/index.js';
import { resolverModule } from './resolver/index.js';
import { rewriteModule } from './rewrite/index.js';
import { scgiModule } from './scgi/index.js';
import { secureLinkModule } from './secure-link/index.js';
import { namesScope, serverModule } from './server/index.js';
import { sharedStoreModule } from './shared-store/index.js';
import { sliceModule } from './slice/index.js';
import { sluiceStatusModule } from './sluice-status/index.js';
import { splitClientsModule } from './split-clients/index.js';
import { ssiModule } from './ssi/index.js';
import { makeSslModule } from './ssl/index.js';
import { staticModule } from './static/index.js';
import { statusZoneModule } from './status-zone/index.js';
import { stickyModule } from './sticky/index.js';
import { streamHealthCheckModule } from './stream-health-check/index.js';
import { streamJsModule } from './stream-js/index.js';
import { streamPassModule } from './stream-pass/index.js';
import { streamProxyModule } from './stream-proxy/index.js';
import { streamReturnModule } from './stream-return/index.js';
import { streamNamesScope, streamServerModule } from './stream-server/index.js';
import { streamSetModule } from './stream-set/index.js';
import { streamSslPrereadModule } from './stream-ssl-preread/index.js';
import { streamZoneSyncModule } from './stream-zone-sync/index.js';
import { stubStatusModule } from './stub-status/index.js';
import { subModule } from './sub/index.js';
import { tryFilesModule } from './try-files/index.js';
import { tunnelModule } from './tunnel/index.js';
import { upstreamGroupsModule, upstreamModule } from './upstream/index.js';
import { useridModule } from './userid/index.js';
import { uwsgiModule } from './uwsgi/index.js';
import { varsConnectionModule } from './vars-connection/index.js';
import { varsRequestModule } from './vars-request/index.js';
import { varsResponseModule } from './vars-response/index.js';
import { varsUpstreamModule } from './vars-upstream/index.js';
import { zstdModule } from './zstd/index.js';

const sslModule = makeSslModule(namesScope, streamNamesScope);

/**
 * All modules, in the order in which their handlers run within a phase and their filters work on a response. It is the
 * reverse of the order in nginx's auto/modules, where what is registered last runs first.
 */
export const modules: readonly AnyModule[] = [
  processModule,
  sharedStoreModule,
  errorLogModule,
  accessLogModule,
  serverModule,
  streamServerModule,
  statusZoneModule,
  sslModule,
  makeAcmeModule({ names: namesScope, tls: sslModule.server! }),
  http2Module,
  http3Module,
  quicModule,
  devModule,
  makeHttpsModule({ names: namesScope, tls: sslModule.server!, http2: http2Scope }),
  varsConnectionModule,
  varsRequestModule,
  varsResponseModule,
  varsUpstreamModule,
  resolverModule,
  upstreamGroupsModule,
  upstreamModule,
  hashModule,
  ipHashModule,
  leastConnModule,
  leastTimeModule,
  randomModule,
  stickyModule,
  keepaliveModule,
  healthCheckModule,
  streamHealthCheckModule,
  clientModule,
  documentModule,
  errorPageModule,
  errorReasonModule,
  postActionModule,
  limitRateModule,
  limitExceptModule,
  earlyHintsModule,
  // What answers in locations of its own.
  emptyGifModule,
  flvModule,
  mp4Module,
  stubStatusModule,
  healthEndpointModule,
  sluiceStatusModule,
  apiModule,
  dashboardModule,
  proxyModule,
  fastcgiModule,
  uwsgiModule,
  scgiModule,
  memcachedModule,
  grpcModule,
  tunnelModule,
  // What sessions of stream are.
  streamProxyModule,
  streamPassModule,
  streamReturnModule,
  streamZoneSyncModule,
  streamJsModule,
  streamSslPrereadModule,
  streamSetModule,
  // Phases before the content.
  otelModule,
  rewriteModule,
  jsRewriteModule,
  // Variables by look-up.
  mapModule,
  geoModule,
  geoipModule,
  keyvalModule,
  splitClientsModule,
  refererModule,
  browserModule,
  secureLinkModule,
  realipModule,
  limitReqModule,
  limitConnModule,
  jsAccessModule,
  accessModule,
  authBasicModule,
  authApiKeyModule,
  authSignatureModule,
  // What is asked next may look at who has logged in.
  authOidcModule,
  authJwtModule,
  authRequestModule,
  // Behind all others, whose variables it may ask for.
  authRequireModule,
  authOidcLoginModule,
  tryFilesModule,
  mirrorModule,
  // Content of any location.
  randomIndexModule,
  indexFileModule,
  autoindexModule,
  davModule,
  gzipStaticModule,
  staticModule,
  // Filters.
  sliceModule,
  notModifiedModule,
  rangeBodyModule,
  cachePathModule,
  jsModule,
  headersModule,
  useridModule,
  gunzipModule,
  additionModule,
  subModule,
  imageFilterModule,
  charsetModule,
  ssiModule,
  postponeModule,
  zstdModule,
  brotliModule,
  gzipModule,
  rangeHeaderModule,
  // Last, so that it tells of all other filters.
  explainModule,
];
