import { counted } from '../../shared/text/counted.js';
import type { DirectiveVerdict, Survey, SurveyLine } from './survey.js';

const HEADINGS: readonly (readonly [DirectiveVerdict, string])[] = [
  ['unknown', 'Unknown: of no module of nginx, so a third-party module or a mistake; -t refuses them'],
  ['missing', 'Not there: nginx has them, sluice does not; -t refuses them'],
  ['differs', 'Different'],
  ['no effect', 'Accepted without effect: what clients and backends see is the same'],
];
const MOST_PLACES = 3;

/** The survey as a text for a person, line feeds included. */
export function reportText(entry: string, survey: Survey): string {
  const { files, lines, findings } = survey;
  const of = (verdict: DirectiveVerdict): SurveyLine[] => lines.filter((line) => line.verdict === verdict);
  const uses = (some: readonly SurveyLine[]): number => some.reduce((sum, { places }) => sum + places.length, 0);
  let text = `${entry}: ${counted(files.length, 'file')}, ${counted(uses(lines), 'directive')}\n\n`;
  for (const verdict of ['same', 'differs', 'no effect', 'missing', 'unknown'] as const) {
    text += `${verdict.padEnd(10)}${String(uses(of(verdict))).padStart(6)}\n`;
  }
  for (const [verdict, heading] of HEADINGS) {
    const some = of(verdict);
    if (some.length > 0) {
      text += `\n${heading}\n${some.map(lineText).join('')}`;
    }
  }
  if (findings.length > 0) {
    text += `\nWhat the configuration test says\n${findings.map(({ level, message, detail }) => `  [${level}] ${message}\n${detail}`).join('')}`;
  }
  return `${text}\n${conclusion(survey)}\n`;
}

/** True when an operator has to change something first. */
export const needsWork = ({ accepted }: Survey): boolean => !accepted;

function lineText({ directive, note, places }: SurveyLine): string {
  const more = places.length - MOST_PLACES;
  const where = places.slice(0, MOST_PLACES).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return `  ${directive}: ${note}\n      ${where}\n`;
}

function conclusion(survey: Survey): string {
  const kinds = new Set(survey.lines.map(({ verdict }) => verdict));
  if (needsWork(survey)) {
    return 'This configuration is not accepted as it stands. What is unknown, not there or marked [emerg] above has to be changed first.';
  }
  if (kinds.has('differs')) {
    return 'This configuration is accepted as it stands. Read what is different above before you rely on it.';
  }
  return 'This configuration is accepted as it stands, and works as it does with nginx.';
}
