// Beside parts.ts the one place of the master that reaches into the worker's folders: the form of cache files is theirs.
import { ConfigErrors } from '../../shared/config/configuration.js';
import { byteText } from '../../shared/lib/native-text.js';
import { runCacheRequest } from '../../worker/cache/shell.js';
import { loadConfiguration } from '../../worker/configuration.js';
import { EXIT } from '../command-line/exit-codes.js';
import { loadOptions } from '../command-line/places.js';
import type { SubcommandValues } from './subcommand.js';

const ACTIONS = ['list', 'inspect', 'purge'] as const;

/** Runs `sluice cache ACTION`; resolves to the exit code. */
export async function runCacheCommand(values: SubcommandValues): Promise<number> {
  const text = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? byteText(value) : undefined;
  };
  const action = ACTIONS.find((word) => word === values.action);
  if (action === undefined) {
    process.stderr.write(`sluice: cache: the action is one of ${ACTIONS.join(', ')}\n`);
    return EXIT.USAGE;
  }
  const print = (line: string): void => void process.stdout.write(`${line}\n`, 'latin1');
  try {
    const options = loadOptions({
      prefix: text('directory'),
      conf: text('conf'),
      globals: text('globals'),
      errorLog: undefined,
      signal: undefined,
    });
    const { zones } = await loadConfiguration(options);
    return runCacheRequest(zones, { action, zone: text('zone'), key: text('key'), prefix: text('prefix') }, print);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    for (const { message } of error.findings) process.stderr.write(`sluice: ${message}\n`);
    return EXIT.CONFIGURATION;
  }
}
