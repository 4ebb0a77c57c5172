#!/bin/sh
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { loadCompiled } from '../shared/lib/compiled.js';
import type { parts } from './parts.js';
import { EarlySignals } from './processes/early-signals.js';
import { closeDebugger } from './processes/no-debugger.js';
import type { run } from './run.js';

// Until somebody listens for USR1, Node answers it by opening its debugger to every local user. So this comes before anything else is
// loaded, and what arrives meanwhile is kept.
const early = new EarlySignals();
closeDebugger();

// As in the workers: with helpers the collector waits for a processor. V8's code of the program was made with the same flags.
setFlagsFromString('--no-parallel-scavenge');

const program = loadCompiled<{ run: typeof run; parts: typeof parts }>(fileURLToPath(new URL('program.js', import.meta.url)));
void program.run(process.argv.slice(2), early, program.parts).then((code) => {
  // Another thread of Node's opens it, perhaps later.
  closeDebugger();
  if (code !== undefined) {
    process.exit(code);
  }
});
