import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { loadCompiled } from '../shared/system/compiled.js';
import type { Lifecycle, Roles } from './lifecycle.js';

interface Program {
  readonly Lifecycle: typeof Lifecycle;
  readonly roles: Roles;
}

/** Begins a process that the master has forked: loads what it runs, a bundle of the build, and listens to the master. */
export function beginProcess(bundle: URL): void {
  // Until somebody listens for USR1, Node answers it by opening its debugger to every local user. So this comes before anything else is
  // loaded, and what arrives meanwhile is kept.
  let reopen: (() => void) | undefined;
  let pending = false;
  process.on('SIGUSR1', () => {
    pending = reopen === undefined;
    reopen?.();
  });

  // New space is nearly empty of living objects when it is cleared: one thread does that in half a millisecond, while helpers
  // have to get a processor first, which on a busy machine takes tens of milliseconds in which no request is answered.
  setFlagsFromString('--no-parallel-scavenge');

  const program = loadCompiled<Program>(fileURLToPath(bundle));
  const lifecycle = new program.Lifecycle(program.roles);
  reopen = () => lifecycle.signalled('SIGUSR1');
  if (pending) {
    reopen();
  }
}
