import { EXIT } from '../../master/command-line/exit-codes.js';
import { ConfigErrors } from '../../shared/config/configuration.js';
import { runCacheRequest } from '../../worker/cache/shell.js';
import { loadConfiguration } from '../configuration.js';
import type { SubcommandValues } from './command.js';
import { serverOptions, textValue } from './server-options.js';
import { shownText } from './shown-text.js';

const ACTIONS = ['list', 'inspect', 'purge'] as const;

/** Runs `sluice cache ACTION`; resolves to the exit code. */
export async function runCacheCommand(values: SubcommandValues): Promise<number> {
  const action = ACTIONS.find((word) => word === values.action);
  if (action === undefined) {
    process.stderr.write(`sluice: cache: the action is one of ${ACTIONS.join(', ')}\n`);
    return EXIT.USAGE;
  }
  const print = (line: string): void => void process.stdout.write(`${shownText(line)}\n`, 'latin1');
  try {
    const options = serverOptions(values, undefined);
    const { zones } = await loadConfiguration(options);
    return runCacheRequest(
      zones,
      { action, zone: textValue(values, 'zone'), key: textValue(values, 'key'), prefix: textValue(values, 'prefix') },
      print,
    );
  } catch (error) {
    if (!(error instanceof ConfigErrors)) {
      throw error;
    }
    for (const { message } of error.findings) {
      process.stderr.write(`sluice: ${message}\n`);
    }
    return EXIT.CONFIGURATION;
  }
}
