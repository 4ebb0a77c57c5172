import { setFlagsFromString } from 'node:v8';

// Until somebody listens for USR1, Node answers it by opening its debugger to every local user. So this comes before anything else is loaded,
// and what arrives meanwhile is kept.
let reopen: (() => void) | undefined;
let pending = false;
process.on('SIGUSR1', () => {
  pending = reopen === undefined;
  reopen?.();
});

// New space is nearly empty of living objects when it is cleared: one thread does that in half a millisecond, while helpers
// have to get a processor first, which on a busy machine takes tens of milliseconds in which no request is answered.
setFlagsFromString('--no-parallel-scavenge');

const { Lifecycle } = await import('./lifecycle.js');
const { serve } = await import('./serve.js');
const { serveLoader } = await import('./cache/loader.js');
const { serveManager } = await import('./cache/manager.js');
const lifecycle = new Lifecycle({ worker: serve, 'cache-manager': serveManager, 'cache-loader': serveLoader });
reopen = () => lifecycle.signalled('SIGUSR1');
if (pending) {
  reopen();
}
