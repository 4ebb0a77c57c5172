#!/bin/sh
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { loadCompiled } from '../shared/system/compiled.js';
import { EarlySignals } from './processes/early-signals.js';
import { closeDebugger } from './processes/no-debugger.js';
import { SpareWorker } from './processes/spare-worker.js';
import { startsServer } from './starts-server.js';

/** The program, which the build puts together: the command line, and the parts that it runs. */
interface Program {
  readonly parts: object;
  /** Runs what the command line asks for; resolves to the exit code, or to undefined while the server runs. */
  run(args: readonly string[], early: EarlySignals, parts: object, spare: SpareWorker | undefined): Promise<number | undefined>;
}

// Until somebody listens for USR1, Node answers it by opening its debugger to every local user. So this comes before anything else is
// loaded, and what arrives meanwhile is kept.
const early = new EarlySignals();
closeDebugger();

// As in the workers: with helpers the collector waits for a processor. V8's code of the program was made with the same flags.
setFlagsFromString('--no-parallel-scavenge');

const args = process.argv.slice(2);
// Loads the program while this process does.
const spare = startsServer(args) ? SpareWorker.start() : undefined;

const program = loadCompiled<Program>(fileURLToPath(new URL('program.js', import.meta.url)));
void program.run(args, early, program.parts, spare).then((code) => {
  // Another thread of Node's opens it, perhaps later.
  closeDebugger();
  if (code !== undefined) {
    process.exit(code);
  }
});
