import t from 'tap';
import { CHUNK_AGAIN, CHUNK_DONE, CHUNK_INVALID, ChunkedBody } from '../../../src/worker/http/syntax/chunked-body.js';

/** Reads a body that comes in pieces of `size` bytes. */
function read(text: string, size: number, keepTrailers = false) {
  const reader = new ChunkedBody(keepTrailers);
  let code = CHUNK_AGAIN;
  let data = '';
  let used = 0;
  for (let at = 0; at < text.length && code === CHUNK_AGAIN; at += size) {
    const bytes = Buffer.from(text.slice(at, at + size), 'latin1');
    code = reader.read(bytes, 0, bytes.length);
    data += bytes.toString('latin1', reader.start, reader.end);
    used += reader.next;
  }
  return { code, data, used, left: reader.left };
}

t.test('the data of all chunks in a piece is moved together', (t) => {
  const bytes = Buffer.from(`${'1\r\na\r\n02\r\nbc\r\n3;x=y\r\ndef\r\n'.repeat(1000)}ff\r\nrest`);
  const reader = new ChunkedBody(false);
  t.equal(reader.read(bytes, 0, bytes.length), CHUNK_AGAIN);
  t.equal(bytes.toString('latin1', reader.start, reader.end), `${'abcdef'.repeat(1000)}rest`, 'one range, whatever stood between');
  t.equal(reader.next, bytes.length);
  t.equal(reader.left, 251);
  t.end();
});

t.test('a body is read alike however it is cut', (t) => {
  const sizes = [1, 2, 9, 15, 16, 47, 48, 49, 255, 256, 4095, 4096, 5000];
  const chunk = (length: number, i: number): string => {
    const digits = length.toString(16);
    const size = i % 3 === 0 ? digits.toUpperCase() : i % 3 === 1 ? `00${digits}` : `${digits} ;a=b`;
    return `${size}\r\n${String.fromCharCode(97 + (i % 26)).repeat(length)}\r\n`;
  };
  const chunks = [...sizes, ...sizes, ...sizes].map(chunk).join('');
  const data = [...sizes, ...sizes, ...sizes].map((length, i) => String.fromCharCode(97 + (i % 26)).repeat(length)).join('');
  const ends: [string, number, number][] = [
    ['0\r\n\r\n', CHUNK_DONE, 5],
    ['0;x\r\nA: b\r\nC: d\r\n\r\n', CHUNK_DONE, 19],
    ['1\r\nab\r\n', CHUNK_INVALID, 4],
    ['1\nt\r\n', CHUNK_INVALID, 1],
    ['x\r\n', CHUNK_INVALID, 0],
    [`${'f'.repeat(14)}\r\nz`, CHUNK_AGAIN, 17],
    [`${'f'.repeat(15)}\r\nz`, CHUNK_INVALID, 15],
  ];
  for (const [end, code, used] of ends) {
    for (const size of [1, 2, 3, 5, 7, 64, 1000, 1 << 20]) {
      const text = `${chunks}${end}next`;
      const given = code === CHUNK_AGAIN ? text.slice(0, -4) : text;
      const extra = end.startsWith('1\r\nab') ? 'a' : end.endsWith('z') && code === CHUNK_AGAIN ? 'z' : '';
      const found = read(given, size);
      t.strictSame(
        [found.code, found.used, found.data === data + extra],
        [code, chunks.length + used, true],
        `${JSON.stringify(end)} by ${size}`,
      );
    }
  }
  t.equal(read('1\r\nt\r\n0\r\nA: b\r\n\r\n', 1 << 20, true).used, 9, 'trailers that are kept are left to others');
  t.end();
});
