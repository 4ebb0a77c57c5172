import type { ServerStart, SubcommandValues } from './command.js';
import { givenGlobals } from './server-options.js';

/** `sluice run`: serves a configuration in the foreground, and says where once clients are answered. */
export function runRunCommand(values: SubcommandValues): ServerStart {
  const given = (name: string, option: string): string[] => (typeof values[name] === 'string' ? [option, values[name]] : []);
  const globals = givenGlobals(values);
  return {
    args: [...given('directory', '-p'), ...given('conf', '-c'), '-e', 'stderr', '-g', `daemon off;${globals}`],
    ready(urls) {
      if (values.attached === true) {
        // Whoever has started this has ended.
        process.stdin.resume().once('close', () => process.kill(process.pid, 'SIGTERM'));
      }
      process.stdout.write(`sluice: serving on ${urls.join(', ') || 'no address'} (Ctrl-C stops it)\n`);
    },
  };
}
