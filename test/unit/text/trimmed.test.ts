import t from 'tap';
import { isBlank, trimmed } from '../../../src/worker/text/trimmed.js';

t.test('what is dropped stands at the ends', (t) => {
  t.equal(trimmed(' \t a b\t ', isBlank), 'a b');
  t.equal(trimmed(' \t ', isBlank), '');
  t.equal(trimmed('', isBlank), '');
  t.equal(trimmed('a', isBlank), 'a');
  t.equal(
    trimmed('//a//b/', (code) => code === 0x2f),
    'a//b',
  );
  t.end();
});

t.test('a long text is read once', (t) => {
  const text = `a${' '.repeat(4_000_000)}b`;
  t.equal(trimmed(text, isBlank), text, 'with work that grows with its square, nobody would wait for that');
  t.end();
});
