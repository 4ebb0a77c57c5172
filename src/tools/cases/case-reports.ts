import { counted } from '../../shared/text/counted.js';
import { type CaseResult, passed } from './case-runner.js';

const place = ({ file, case: { pos } }: CaseResult): string => `${file}:${pos.line}`;

/** The lines that say why a case failed: what was expected where, what came, and the step that decided it. */
function reasons({ file, failures, error }: CaseResult): string[] {
  if (error !== undefined) {
    return [error];
  }
  return failures.flatMap(({ expectation, expected, got, step }) => {
    const at = step?.file === undefined ? '' : ` (${step.file}:${step.line})`;
    return [
      `${file}:${expectation.pos.line}: expected ${expected}`,
      `  got ${got}`,
      ...(step === undefined ? [] : [`  because ${step.text}${at}`]),
    ];
  });
}

/** For a person: what failed and why, and how many passed. */
export function textReport(results: readonly CaseResult[], milliseconds: number): string {
  const failed = results.filter((result) => !passed(result));
  const parts = failed.map((result) => `not ok  ${result.case.name}  ${place(result)}\n${indented(reasons(result))}\n`);
  const verdict = failed.length === 0 ? 'passed' : `passed, ${failed.length} failed`;
  return `${parts.join('')}${counted(results.length - failed.length, 'case')} ${verdict} in ${Math.round(milliseconds)} ms\n`;
}

const indented = (lines: readonly string[]): string => lines.map((line) => `        ${line}\n`).join('');

/** The Test Anything Protocol, version 13. */
export function tapReport(results: readonly CaseResult[]): string {
  const lines = ['TAP version 13', `1..${results.length}`];
  results.forEach((result, i) => {
    lines.push(`${passed(result) ? 'ok' : 'not ok'} ${i + 1} - ${result.case.name.replaceAll('#', '\\#')}`);
    if (!passed(result)) {
      lines.push('  ---', `  at: ${place(result)}`, '  message: |', ...reasons(result).map((line) => `    ${line}`), '  ...');
    }
  });
  return `${lines.join('\n')}\n`;
}

/** What continuous integration reads: JUnit's XML. Bytes outside of ASCII are written as the characters of latin1. */
export function junitReport(results: readonly CaseResult[], milliseconds: number): string {
  const failed = results.filter((result) => !passed(result)).length;
  const seconds = (ms: number): string => (ms / 1000).toFixed(6);
  const cases = results.map((result) => {
    const head = `  <testcase classname="${xml(result.file)}" name="${xml(result.case.name)}" time="${seconds(result.milliseconds)}"`;
    return passed(result)
      ? `${head}/>`
      : `${head}>\n    <failure message="${xml(reasons(result)[0]!)}">${xml(reasons(result).join('\n'))}</failure>\n  </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="sluice test" tests="${results.length}" failures="${failed}" time="${seconds(milliseconds)}">`,
    ...cases,
    '</testsuite>',
    '',
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Control characters have no place in XML at all. */
const xml = (text: string): string =>
  text
    .replaceAll(/[&<>"]/g, (c) => ENTITIES[c]!)
    .replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xff]/g, (c) => (c < ' ' || c === '\x7f' ? '?' : `&#${c.charCodeAt(0)};`));
