import { serveAcme } from './acme-process/process.js';
import { serveLoader } from './cache-process/loader.js';
import { serveManager } from './cache-process/manager.js';
import type { Roles } from './lifecycle.js';
import { serve } from './serve.js';

/** What the processes that the master forks are there for. */
export const roles: Roles = { worker: serve, 'cache-manager': serveManager, 'cache-loader': serveLoader, acme: serveAcme };
