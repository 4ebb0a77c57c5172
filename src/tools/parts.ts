// Puts the program together: the master works with what is given here, and knows no worker's code.

import { serveAlone } from '../master/operations/single-process.js';
import { serveAcme } from '../worker/acme-process/process.js';
import { buildServer } from '../worker/serve.js';
import { loadConfiguration } from './configuration.js';
import type { Parts } from './run.js';

/** The program's parts. */
export const parts: Parts = {
  load: loadConfiguration,
  serveAlone: (context, configuration, ready) => serveAlone(context, configuration, buildServer, serveAcme, ready),
};
