import type { Role } from './messages.js';

/** What the log and the process's title call a process of each role. */
export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  worker: 'worker process',
  'cache-manager': 'cache manager process',
  'cache-loader': 'cache loader process',
  acme: 'acme process',
};

/** Exit code of a process that must not be replaced, since its replacement would fail alike. nginx: exit(2) in ngx_worker_process_init. */
export const FATAL_EXIT = 2;

/** Exit code of a process whose io_uring is broken. */
export const BROKEN_RING_EXIT = 3;
