import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

/** Words that point back at a sentence. `same` and `so many` do, too, where nothing stands before them. */
const POINTS_BACK = /^\s*\/\*\*\s+(\* )?(It|Its|They|Them|Those|Theirs|That|The same|So many|[A-Z][a-z]+s (it|them))\b/;

/** Whoever looks a declaration up reads its comment alone: no sentence before it says what a pronoun means. */
t.test('comments of declarations begin with what they are about', async (t) => {
  for (const file of filesBelow('src', '.ts')) {
    const lines = readFileSync(`${root}src/${file}`, 'utf8').split('\n');
    const found = lines.flatMap((line, i) => (POINTS_BACK.test(`${line}\n${lines[i + 1]}`) ? [`${i + 1}: ${line.trim()}`] : []));
    t.strictSame(found, [], `src/${file}`);
  }
});
