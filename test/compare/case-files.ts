import { CASES, type CaseText, STREAMS } from './configuration.js';

/** Which of the texts of cases are in which file. */
export const FILES: ReadonlyMap<string, keyof CaseText> = new Map([
  [CASES, 'http'],
  [STREAMS, 'stream'],
] as const);

/** Where in a message a place in a file of all cases is. */
const PLACE = new RegExp(`\\S*(${CASES}|${STREAMS}):(\\d+)`, 'g');

/** A message that names cases in place of lines of the files of all cases. */
export const withCases = (message: string, texts: ReadonlyMap<string, CaseText>): string =>
  message.replace(PLACE, (_, path, line) => `case ${nameAt(texts, FILES.get(path)!, Number(line))}`);

/** Whose text a line of all texts together is in. */
function nameAt(texts: ReadonlyMap<string, CaseText>, of: keyof CaseText, line: number): string {
  let last = 0;
  for (const [name, text] of texts) {
    last += text[of].split('\n').length - 1;
    if (line <= last) {
      return name;
    }
  }
  return 'none';
}
