import type { AnyModule } from '../module.js';
import { accessLogModule } from './access-log/index.js';
import { authRequestModule } from './auth-request/index.js';
import { clientModule } from './client/index.js';
import { documentModule } from './document/index.js';
import { errorLogModule } from './error-log/index.js';
import { errorPageModule } from './error-page/index.js';
import { gunzipModule } from './gunzip/index.js';
import { gzipModule } from './gzip/index.js';
import { limitExceptModule } from './limit-except/index.js';
import { limitRateModule } from './limit-rate/index.js';
import { mirrorModule } from './mirror/index.js';
import { processModule } from './process/index.js';
import { rewriteModule } from './rewrite/index.js';
import { serverModule } from './server/index.js';
import { tempPathsModule } from './temp-paths/index.js';
import { varsConnectionModule } from './vars-connection/index.js';
import { varsRequestModule } from './vars-request/index.js';
import { varsResponseModule } from './vars-response/index.js';

/**
 * All modules, in the order in which their handlers run within a phase and their filters work on a response. It is the
 * reverse of the order in nginx's auto/modules, where what is registered last runs first.
 */
export const modules: readonly AnyModule[] = [
  processModule,
  errorLogModule,
  accessLogModule,
  serverModule,
  varsConnectionModule,
  varsRequestModule,
  varsResponseModule,
  clientModule,
  documentModule,
  errorPageModule,
  limitRateModule,
  limitExceptModule,
  rewriteModule,
  tempPathsModule,
  mirrorModule,
  authRequestModule,
  gunzipModule,
  gzipModule,
];
