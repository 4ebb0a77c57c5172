import type { Finding } from '../shared/config/configuration.js';
import { placedMessage, reportedPos } from '../shared/config/errors.js';
import type { Loaded } from '../shared/config/load.js';
import { WARN } from '../shared/log/level.js';
import { sslScope } from '../worker/modules/ssl/directives.js';
import type { ClientTask } from '../worker/task/client-task.js';
import { firstNode } from './first-node.js';

/** The warning about what a configuration with `net_engine libuv` asks for and io_uring alone can do. */
export function ringNeeds(loaded: Loaded<ClientTask>): Finding | undefined {
  const node = firstNode(loaded.root, (block) => (loaded.settings(sslScope, block).earlyData ? block.seen('ssl_early_data') : undefined));
  if (node === undefined) {
    return undefined;
  }
  const message = '"ssl_early_data" has no effect with "net_engine libuv": clients send again what they sent early';
  return { level: WARN, message: placedMessage({ level: 'warn', message, pos: reportedPos(node) }), detail: '' };
}
