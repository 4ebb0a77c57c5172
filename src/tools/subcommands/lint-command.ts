import { EXIT } from '../../master/command-line/exit-codes.js';
import { loadOptions } from '../../master/command-line/places.js';
import { diskSources } from '../../shared/config/sources.js';
import { counted } from '../../shared/text/counted.js';
import { byteText } from '../../shared/text/native-text.js';
import { type LintFinding, lintConfiguration, rules } from '../lint/lint.js';
import type { SubcommandValues } from './command.js';
import { serverOptions, textValue } from './server-options.js';

/** Runs `sluice lint [FILE]`; resolves to the exit code: 0 when nothing was found. */
export function runLintCommand(values: SubcommandValues): number {
  if (values.rules === true) {
    const width = Math.max(...rules.map(({ name }) => name.length));
    process.stdout.write(rules.map(({ name, about }) => `${name.padEnd(width)}  ${about}\n`).join(''));
    return EXIT.OK;
  }
  const sources = diskSources(lintOptions(values));
  const findings = lintConfiguration(sources);
  if (sources.order.length === 0) {
    process.stderr.write(`sluice: lint: cannot read "${sources.entry}"\n`, 'latin1');
    return EXIT.CONFIGURATION;
  }
  const text =
    values.json === true ? `${JSON.stringify({ file: sources.entry, findings }, null, 2)}\n` : report(findings, sources.order.length);
  process.stdout.write(text, 'latin1');
  return findings.length === 0 ? EXIT.OK : EXIT.NO;
}

/** How the configuration is read: like a server's, or, when a file is named, with the paths of that file's folder. */
function lintOptions(values: SubcommandValues): ReturnType<typeof loadOptions> {
  const file = textValue(values, 'file');
  if (file === undefined) {
    return serverOptions(values, undefined);
  }
  const conf = file.startsWith('/') ? file : `${byteText(process.cwd())}/${file}`;
  const prefix = textValue(values, 'directory') ?? conf.slice(0, conf.lastIndexOf('/') + 1);
  return loadOptions({ prefix, conf, globals: textValue(values, 'globals'), errorLog: undefined, signal: undefined });
}

function report(findings: readonly LintFinding[], files: number): string {
  const parts = findings.map(
    ({ rule, file, line, problem, remedy, excerpt }) => `${file}:${line}: ${rule}: ${problem}\n${excerpt}    write: ${remedy}\n\n`,
  );
  return `${parts.join('')}${counted(findings.length, 'finding')} in ${counted(files, 'file')}\n`;
}
