// Puts the program together: the one place of the master that knows the modules, whose directives it has to check.
import { serve } from '../worker/http/server.js';
import type { Parts } from './run.js';
import { serveAlone } from './single-process.js';
import { loadConfiguration } from './stand-in-loader.js';

/** The program's parts. Loaded only when a configuration is. */
export const parts: Parts = {
  load: loadConfiguration,
  hooks: { prepare() {}, onWorkerDeath() {} },
  serveAlone: (context, configuration, ready) => serveAlone(context, configuration, serve, ready),
};
