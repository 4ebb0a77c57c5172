import { serveAcme } from './acme-process/process.js';
import type { Roles } from './lifecycle.js';
import { buildServer } from './serve.js';

/** What the processes that the master forks are there for, but for those of the caches. */
export const roles: Roles = { worker: buildServer, acme: serveAcme };
