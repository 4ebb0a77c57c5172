import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

/** The one file that writes what JavaScript gives into heads, after it has looked at it. */
const WRITER = 'worker/js/response-head.ts';

/** A change to `r.out` or an interim head. Lengths are numbers of ours. */
const WRITES =
  /\bout\s*\.\s*(?:add|adopt|addTrailer|readContentType)\s*\(|\bout\s*\.\s*(?!contentLength\b)\w+\s*=(?!=)|\.(?:sendInformational|sendContinue)\s*\(/;

t.test('what JavaScript writes into heads goes through one place', async (t) => {
  const files = filesBelow('src', '.ts').filter((file) => /^worker\/(?:js\/|modules\/(?:stream-)?js\/)/.test(file));
  t.ok(files.length > 30);
  for (const file of files) {
    const found = WRITES.exec(readFileSync(`${root}src/${file}`, 'utf8'))?.[0];
    if (file === WRITER) {
      t.ok(found, `${file} is what this is about`);
    } else {
      t.equal(found, undefined, `${file}: use ${WRITER}`);
    }
  }
});
