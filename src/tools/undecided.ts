import { reportedPos } from '../shared/config/errors.js';
import type { Loaded } from '../shared/config/load.js';
import { proxyScope } from '../worker/modules/proxy/index.js';
import type { ClientTask } from '../worker/task/client-task.js';
import { firstNode } from './first-node.js';

/**
 * What `-t` says where a default of ours differs from nginx's, and the configuration has not said which of them it wants: one notice, on
 * the first directive that makes a difference. Undefined where none does.
 */
export function undecidedDefaults(loaded: Loaded<ClientTask>): string | undefined {
  if (loaded.root.seen('nginx_compatibility') !== undefined) {
    return undefined;
  }
  const pass = firstNode(loaded.root, (block) =>
    loaded.settings(proxyScope, block).httpVersion === 0 ? block.seen('proxy_pass') : undefined,
  );
  const found = pass ?? firstNode(loaded.root, (block) => block.seen('upstream'));
  if (found === undefined) {
    return undefined;
  }
  const { file, line } = reportedPos(found);
  const what =
    found === pass
      ? `"proxy_pass" in ${file}:${line} speaks HTTP/1.0 over a new connection for each request, nginx 1.31 HTTP/1.1 over kept ones`
      : `when all servers of "upstream" in ${file}:${line} are unavailable, clients get 503, with nginx 502`;
  return `"nginx_compatibility" is not set: ${what}; "nginx_compatibility on;" at the top does as nginx, "off" keeps this and says so`;
}
