import { Buffer } from 'node:buffer';
import t from 'tap';
import { decodeHuffman } from '../../../src/worker/http/fields/huffman-decode.js';
import { encodeHuffman, huffmanLength } from '../../../src/worker/http/fields/huffman-encode.js';

const encode = (text: string): Buffer => {
  const into = Buffer.alloc(huffmanLength(text));
  return into.subarray(0, encodeHuffman(text, into, 0));
};

function decode(hex: string): string | undefined {
  const bytes = Buffer.from(hex, 'hex');
  const into = Buffer.alloc(bytes.length * 2);
  const made = decodeHuffman(bytes, 0, bytes.length, into);
  return made < 0 ? undefined : into.toString('latin1', 0, made);
}

// RFC 7541, appendix C.
const EXAMPLES: readonly (readonly [string, string])[] = [
  ['www.example.com', 'f1e3c2e5f23a6ba0ab90f4ff'],
  ['no-cache', 'a8eb10649cbf'],
  ['custom-key', '25a849e95ba97d7f'],
  ['302', '6402'],
  ['Mon, 21 Oct 2013 20:13:21 GMT', 'd07abe941054d444a8200595040b8166e082a62d1bff'],
  [
    'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    '94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
  ],
  ['', ''],
];

t.test("the specification's examples", async (t) => {
  for (const [text, hex] of EXAMPLES) {
    t.equal(encode(text).toString('hex'), hex, text);
    t.equal(decode(hex), text);
  }
});

t.test('every byte, alone and next to every length of what stands before it', async (t) => {
  for (let c = 0; c < 256; c++) {
    const byte = String.fromCharCode(c);
    for (let before = 0; before < 9; before++) {
      const text = 'a'.repeat(before) + byte + '0' + byte;
      if (decode(encode(text).toString('hex')) !== text) {
        t.fail(`${c} behind ${before}`);
      }
    }
  }
});

t.test('a whole byte of padding', async (t) => {
  t.equal(decode('ff'), '');
  t.equal(decode('f1e3c2e5f23a6ba0ab90f4ffff'), undefined, 'but not behind other padding');
});

t.test('what is no Huffman code', async (t) => {
  for (const [hex, what] of [
    ['ffffffff', 'the word of the end'],
    ['1fff', 'more than seven bits of padding'],
    ['ffff', 'two bytes of padding'],
    ['00', 'padding of zeros'],
    ['1e', 'padding that is not all ones'],
    ['fffffffc', 'the word of the end within'],
  ] as const) {
    t.equal(decode(hex), undefined, what);
  }
});
