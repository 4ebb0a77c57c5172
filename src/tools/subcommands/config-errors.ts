import { EXIT } from '../../master/command-line/exit-codes.js';
import { ConfigErrors } from '../../shared/config/configuration.js';

/** Says what is wrong with a configuration that could not be loaded, and returns the exit code. Throws any other error on. */
export function tellConfigErrors(error: unknown): number {
  if (!(error instanceof ConfigErrors)) {
    throw error;
  }
  for (const { message, detail } of error.findings) {
    process.stderr.write(`sluice: ${message}\n${detail}`, 'latin1');
  }
  return EXIT.CONFIGURATION;
}
