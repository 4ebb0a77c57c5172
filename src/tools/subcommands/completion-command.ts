import { basename } from 'node:path';
import { EXIT } from '../../master/command-line/exit-codes.js';
import type { Subcommand, SubcommandValues } from './command.js';
import { completionScript, SHELLS } from './completion-scripts.js';
import { plainOptions } from './plain-options.js';

/** Runs `sluice completion [SHELL]`: prints the script for a shell, the user's own unless it is named. */
export function runCompletionCommand(values: SubcommandValues, commands: readonly Subcommand[]): number {
  const wanted = typeof values.shell === 'string' ? values.shell : basename(process.env.SHELL ?? 'bash');
  const shell = SHELLS.find((name) => name === wanted) ?? (values.shell === undefined ? 'bash' : undefined);
  if (shell === undefined) {
    process.stderr.write(`sluice: completion: there is no script for "${wanted}": name bash, zsh or fish\n`);
    return EXIT.USAGE;
  }
  process.stdout.write(completionScript(shell, { options: plainOptions, commands }));
  return EXIT.OK;
}
