import type { ServerStart, SubcommandValues } from './command.js';
import { givenGlobals, givenOptions } from './server-options.js';

/** `sluice run`: serves a configuration in the foreground, and says where once clients are answered. */
export function runRunCommand(values: SubcommandValues): ServerStart {
  const globals = givenGlobals(values);
  return {
    args: [...givenOptions(values), '-g', `daemon off;${globals}`],
    ready(urls) {
      if (values.attached === true) {
        // Whoever has started this has ended.
        process.stdin.resume().once('close', () => process.kill(process.pid, 'SIGTERM'));
      }
      process.stdout.write(`sluice: serving on ${urls.join(', ') || 'no address'} (Ctrl-C stops it)\n`);
    },
  };
}
