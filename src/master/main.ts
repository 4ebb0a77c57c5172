#!/usr/bin/env node
import { EarlySignals } from './early-signals.js';

// Until somebody listens for USR1, Node answers it by opening its debugger to every local user. So this comes before anything else is
// loaded, and what arrives meanwhile is kept.
const early = new EarlySignals();

const { run } = await import('./run.js');
const code = await run(process.argv.slice(2), early, async () => (await import('./parts.js')).parts);
if (code !== undefined) {
  process.exit(code);
}
