// Reaches into the worker's folders, as parts.ts does: the modules know which directives there are.
import { byteText } from '../../shared/lib/native-text.js';
import { needsWork, reportText } from '../../worker/migration/report.js';
import { surveyConfiguration } from '../../worker/migration/survey.js';
import { loadOptions } from '../command-line/places.js';
import type { SubcommandValues } from './command.js';

/**
 * Runs `sluice migrate FILE`; resolves to the exit code: 0 when the configuration is accepted, 1 when something has to be changed first.
 * Files that it names relative to nginx's prefix are looked for beside it, as a distribution's nginx does.
 */
export async function runMigrateCommand(values: SubcommandValues): Promise<number> {
  const conf = byteText(String(values.file));
  const full = conf.startsWith('/') ? conf : `${byteText(process.cwd())}/${conf}`;
  const prefix = typeof values.directory === 'string' ? byteText(values.directory) : full.slice(0, full.lastIndexOf('/') + 1);
  const survey = await surveyConfiguration(loadOptions({ prefix, conf: full, globals: undefined, errorLog: undefined, signal: undefined }));
  const text = values.json === true ? `${JSON.stringify({ file: full, ...survey }, null, 2)}\n` : reportText(full, survey);
  process.stdout.write(text, 'latin1');
  return needsWork(survey) ? 1 : 0;
}
