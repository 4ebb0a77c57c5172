import { EXIT } from '../../master/command-line/exit-codes.js';
import { loadOptions } from '../../master/command-line/places.js';
import { ConfigError, placedMessage, withErrno } from '../../shared/config/errors.js';
import { readConfigFile } from '../../shared/config/read-file.js';
import { byteText } from '../../shared/text/native-text.js';
import { needsWork, reportText } from '../migration/report.js';
import { type Survey, surveyConfiguration } from '../migration/survey.js';
import type { SubcommandValues } from './command.js';
import { replaceFile } from './replace-file.js';

/** The line that makes all defaults nginx's. */
const COMPATIBLE = 'nginx_compatibility on;';

/**
 * Runs `sluice migrate FILE`; resolves to the exit code: 0 when the configuration is accepted, 1 when something has to be changed first.
 * Files that it names relative to nginx's prefix are looked for beside it, as a distribution's nginx does.
 */
export async function runMigrateCommand(values: SubcommandValues): Promise<number> {
  const conf = byteText(String(values.file));
  const full = conf.startsWith('/') ? conf : `${byteText(process.cwd())}/${conf}`;
  const prefix = typeof values.directory === 'string' ? byteText(values.directory) : full.slice(0, full.lastIndexOf('/') + 1);
  const options = loadOptions({ prefix, conf: full, globals: undefined, errorLog: undefined, signal: undefined });
  let survey = await surveyConfiguration(options);
  let said = '';
  if (values.write === true) {
    try {
      said = write(full, survey);
    } catch (error) {
      if (!(error instanceof ConfigError)) {
        throw error;
      }
      process.stderr.write(`sluice: migrate: ${placedMessage(error)}\n`, 'latin1');
      return EXIT.CONFIGURATION;
    }
    survey = await surveyConfiguration(options);
  }
  const text = values.json === true ? `${JSON.stringify({ file: full, ...survey }, null, 2)}\n` : reportText(full, survey) + said;
  process.stdout.write(text, 'latin1');
  return needsWork(survey) ? 1 : 0;
}

/** Adds the line unless the configuration has one; says what was done. @throws ConfigError */
function write(file: string, { lines }: Survey): string {
  const there = lines.find(({ directive }) => directive === 'nginx_compatibility');
  if (there !== undefined) {
    return `\n${there.places[0]} has \`nginx_compatibility\` already: nothing is written.\n`;
  }
  const text = readConfigFile(file, undefined);
  try {
    replaceFile(file, `${COMPATIBLE}\n${text}`);
  } catch (error) {
    throw new ConfigError(withErrno(`cannot write "${file}"`, error));
  }
  return `\nWritten: \`${COMPATIBLE}\` at the top of ${file}. nginx itself does not know this line: it would refuse the file.\n`;
}
