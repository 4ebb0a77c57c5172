import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

const MOST_LINES = 400;

/** A file that holds one idea is seldom long; where it is, its first line says why. */
t.test('long files say why in their first line', async (t) => {
  for (const folder of ['src', 'test', 'scripts']) {
    for (const file of [...filesBelow(folder, '.ts'), ...filesBelow(folder, '.mjs')]) {
      const lines = readFileSync(`${root}${folder}/${file}`, 'utf8').split('\n');
      if (lines.length - 1 > MOST_LINES) {
        t.match(lines[0], /^\/\/ .{20}/, `${folder}/${file} has ${lines.length - 1} lines`);
      }
    }
  }
});

/** The formatter breaks code; comments are broken by whoever writes them. */
t.test('no comment is longer than a line', async (t) => {
  for (const folder of ['src', 'test', 'scripts']) {
    for (const file of [...filesBelow(folder, '.ts'), ...filesBelow(folder, '.mjs')]) {
      const lines = readFileSync(`${root}${folder}/${file}`, 'utf8').split('\n');
      const long = lines.flatMap((line, i) => (line.length > 140 && /^\s*(\/\/(?! biome-ignore)|\/?\*)/.test(line) ? [i + 1] : []));
      t.strictSame(long, [], `${folder}/${file}`);
    }
  }
});
