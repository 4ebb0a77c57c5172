import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CacheEntry, readEntry } from '../../../src/worker/cache/entry.js';
import {
  BLOCK,
  BlockSums,
  decodeHeader,
  type EntryHeader,
  encodeHeader,
  isBlock,
  tableChecksum,
} from '../../../src/worker/cache/file-format.js';

const header = (bodyLength: number): EntryHeader => ({
  key: 'http://x/a\xe9?b',
  validUntil: 1_800_000_000,
  updating: 30,
  onError: 60,
  lastModified: -1,
  date: 1_700_000_000,
  bodyLength,
  contentLength: -1,
  status: 200,
  error: 0,
  vary: 'Accept-Encoding',
  variant: '0123456789abcdef0123456789abcdef',
  etag: '"x"',
  reason: 'OK',
  lines: ['Content-Type', 'text/plain', 'X-Empty', ''],
  tags: 'product-1 all',
});

function makeFile(body: Buffer): Buffer {
  const sums = new BlockSums();
  // In pieces that do not fit the blocks.
  for (let at = 0; at < body.length; at += 7001) {
    sums.add(body.subarray(at, at + 7001));
  }
  const table = sums.table();
  return Buffer.concat([encodeHeader(header(body.length), tableChecksum(table))!, body, table]);
}

function inFolder(t: Test, run: (read: (bytes: Buffer) => CacheEntry | string | undefined) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'cache-file-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'entry');
  run((bytes) => {
    writeFileSync(path, bytes);
    return readEntry(path, path);
  });
}

t.test('a header comes back as it was', (t) => {
  for (const reason of ['Not So Bad', '', undefined]) {
    const given = { ...header(600), reason };
    const decoded = decodeHeader(encodeHeader(given, 7)!);
    if (typeof decoded === 'string') {
      t.fail(decoded);
      continue;
    }
    t.strictSame(decoded.entry, given);
    t.equal(decoded.tableCrc, 7);
  }
  const bare = { ...header(0), lines: [], tags: '' };
  t.strictSame((decodeHeader(encodeHeader(bare, 0)!) as { entry: EntryHeader }).entry, bare);
  t.end();
});

t.test('bodies of all sizes', (t) => {
  inFolder(t, (read) => {
    for (const size of [0, 1, 600, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 1024 * 1024 + 5]) {
      const body = Buffer.alloc(size, 'some text, ');
      const entry = read(makeFile(body));
      if (!(entry instanceof CacheEntry)) {
        t.fail(`${size}: ${entry}`);
      } else if (entry.body !== undefined) {
        t.ok(entry.body.equals(body), `${size} in memory`);
      } else {
        for (let i = 0; i * BLOCK < size; i++) {
          t.ok(isBlock(body.subarray(i * BLOCK, (i + 1) * BLOCK), entry.table!, i), `block ${i} of ${size}`);
        }
      }
    }
  });
  t.end();
});

t.test('no flipped byte, cut or foreign file is an entry', (t) => {
  inFolder(t, (read) => {
    const sound = makeFile(Buffer.alloc(90, 'some text, '));
    t.ok(read(sound) instanceof CacheEntry);
    const taken: string[] = [];
    for (let i = 0; i < sound.length; i++) {
      const flipped = Buffer.from(sound);
      flipped[i]! ^= 1 << (i % 8);
      if (typeof read(flipped) !== 'string') {
        taken.push(`byte ${i} flipped`);
      }
      if (typeof read(sound.subarray(0, i)) !== 'string') {
        taken.push(`cut at ${i}`);
      }
    }
    t.strictSame(taken, []);
    t.type(read(Buffer.concat([sound, Buffer.from('x')])), 'string', 'something behind it');
    t.type(read(readFileSync(process.execPath).subarray(0, 5000)), 'string', 'a foreign file');
    t.equal(readEntry('/nonexistent/file', '/nonexistent/file'), undefined, 'no file');
  });
  t.end();
});
