// Puts the program together: the one place of the master that knows the modules, whose directives it has to check.

import { serveAcme } from '../worker/acme-process/process.js';
import { loadConfiguration } from '../worker/configuration.js';
import { serve } from '../worker/serve.js';
import { serveAlone } from './operations/single-process.js';
import type { Parts } from './run.js';

/** The program's parts. */
export const parts: Parts = {
  load: loadConfiguration,
  serveAlone: (context, configuration, ready) => serveAlone(context, configuration, serve, serveAcme, ready),
};
