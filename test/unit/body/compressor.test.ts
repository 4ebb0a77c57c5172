import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import t from 'tap';
import { brotli, gunzip, gzip } from '../../../src/worker/http/body/compressor.js';
import type { Transform } from '../../../src/worker/http/body/kept-stream.js';
import { whyNoDictionary, zstd } from '../../../src/worker/http/body/zstd.js';

const page = Buffer.from('<p>some words of a page and some more words</p>\n'.repeat(300));
const NONE = Buffer.alloc(0);

function whole(transform: Transform, body: Buffer): Buffer {
  const out = Buffer.concat([transform.write(body.subarray(0, 100), 'more'), transform.write(body.subarray(100), 'end')]);
  transform.close();
  return out;
}

t.test('one stream after another gives the same bytes', async (t) => {
  const first = whole(gzip(1, 15, 8), page);
  for (let i = 0; i < 20; i++) {
    t.same(whole(gzip(1, 15, 8), page), first);
  }
  t.same(gunzipSync(first), page);
  t.same(whole(gzip(9, 9, 1), page).length < page.length, true);
});

t.test('bodies that are compressed at the same time do not meet', async (t) => {
  const bodies = Array.from({ length: 30 }, (_, i) => Buffer.from(`body ${i} `.repeat(1000 + i)));
  const streams = bodies.map((_, i) => (i % 2 === 0 ? gzip(1, 15, 8) : brotli(5, 18, 0)));
  const outs = streams.map((stream, i) => [stream.write(bodies[i]!.subarray(0, 4000), 'flush')]);
  streams.forEach((stream, i) => {
    outs[i]!.push(stream.write(bodies[i]!.subarray(4000), 'end'));
    stream.close();
  });
  for (const [i, pieces] of outs.entries()) {
    const out = Buffer.concat(pieces);
    t.same(i % 2 === 0 ? gunzipSync(out) : brotliDecompressSync(out), bodies[i]);
  }
});

t.test('a body that was given up leaves nothing behind', async (t) => {
  for (const make of [() => gzip(1, 15, 8), () => brotli(6, 19, 0)]) {
    const before = whole(make(), page);
    const givenUp = make();
    givenUp.write(randomBytes(100_000), 'more');
    givenUp.close();
    t.same(whole(make(), page), before);
  }
});

t.test('brotli has the parameters of each body', async (t) => {
  const weak = whole(brotli(0, 10, 0), page);
  const strong = whole(brotli(11, 22, page.length), page);
  t.ok(strong.length < weak.length);
  t.same(whole(brotli(0, 10, 0), page), weak);
  t.same(whole(brotli(11, 22, page.length), page), strong);
  t.same(brotliDecompressSync(strong), page);
});

t.test('gunzip: a body, one that breaks, and a body again', async (t) => {
  const packed = gzipSync(page);
  t.same(whole(gunzip(), packed), page);
  const broken = gunzip();
  t.throws(() => broken.write(Buffer.from('this is no gzip at all'), 'end'));
  broken.close();
  const cut = gunzip();
  cut.write(packed.subarray(0, 50), 'more');
  cut.close();
  t.same(whole(gunzip(), packed), page);
});

t.test('pieces of output stay as they are while others are made', async (t) => {
  const stream = gzip(1, 15, 8);
  const noise = randomBytes(300_000);
  const pieces: Buffer[] = [];
  const copies: Buffer[] = [];
  for (let at = 0; at < noise.length; at += 10_000) {
    const piece = stream.write(noise.subarray(at, at + 10_000), 'flush');
    pieces.push(piece);
    copies.push(Buffer.from(piece));
    whole(gzip(1, 15, 8), page);
  }
  pieces.push(stream.write(NONE, 'end'));
  stream.close();
  t.same(pieces.slice(0, -1), copies);
  t.same(gunzipSync(Buffer.concat(pieces)), noise);
});

t.test('with a limit, what becomes long comes in pieces', async (t) => {
  const Limit = 64 * 1024;
  const body = Buffer.concat([Buffer.alloc(3_000_000, 'a'), page, randomBytes(200_000), Buffer.alloc(Limit, 'b')]);
  const zipped = gzipSync(body);
  for (const size of [zipped.length, 1000]) {
    const transform = gunzip();
    const pieces: Buffer[] = [];
    for (let at = 0; at < zipped.length; at += size) {
      let input = zipped.subarray(at, at + size);
      const end = at + size >= zipped.length ? 'end' : 'more';
      do {
        pieces.push(transform.write(input, end, Limit));
        input = input.subarray(transform.used);
      } while (transform.pending);
      t.equal(input.length, 0);
    }
    transform.close();
    t.ok(pieces.every(({ length }) => length <= Limit));
    t.ok(Buffer.concat(pieces).equals(body));
  }
});

/** How many frames of zstd stand one behind the other. */
function frames(packed: Buffer): number {
  let count = 0;
  for (let at = 0; at < packed.length; count++) {
    if (packed.readUInt32LE(at) !== 0xfd2fb528) {
      throw new Error(`no frame at ${at}`);
    }
    const descriptor = packed[at + 4]!;
    const single = (descriptor & 32) >> 5;
    at += 5 + (1 - single) + [0, 1, 2, 4][descriptor & 3]! + [single, 2, 4, 8][descriptor >> 6]!;
    for (let last = 0; last === 0; ) {
      const head = packed.readUIntLE(at, 3);
      last = head & 1;
      at += 3 + (((head >> 1) & 3) === 1 ? 1 : head >> 3);
    }
    at += ((descriptor >> 2) & 1) * 4;
  }
  return count;
}

t.test('zstd: one frame a body, wherever its output ends', async (t) => {
  const noise = randomBytes(300_000);
  // Lengths of output about the ends of the pieces of memory that it is put in.
  for (const near of [0, 1, 16_384, 65_536, 131_072, 147_456, 262_144]) {
    for (let length = Math.max(0, near - 30); length < near + 8; length++) {
      for (const split of [0, length >> 1]) {
        const body = noise.subarray(0, length);
        const stream = zstd(1);
        const out = Buffer.concat([
          split > 0 ? stream.write(body.subarray(0, split), split & 1 ? 'flush' : 'more') : NONE,
          stream.write(body.subarray(split), 'end'),
        ]);
        stream.close();
        if (frames(out) !== 1 || !zstdDecompressSync(out).equals(body)) {
          t.fail(`${length} bytes from ${split} on: ${frames(out)} frames`);
        }
      }
    }
  }
});

t.test('zstd: levels, windows, dictionaries and what was given up', async (t) => {
  const lines = Buffer.from(
    Array.from({ length: 30_000 }, (_, i) => `line ${(i * i * 7919) % 99991} of page ${(i ^ (i >> 3)) % 977}\n`).join(''),
  );
  const sizes = [-100, 1, 6, 19, 22].map((level) => {
    const out = whole(zstd(level), lines);
    t.ok(zstdDecompressSync(out).equals(lines));
    t.ok(zstdDecompressSync(out, { params: { [100]: 23 } }).equals(lines), 'no window above 8 MB');
    return out.length;
  });
  t.ok(sizes[0]! > sizes[1]! && sizes[1]! > sizes[3]!, String(sizes));
  const before = whole(zstd(3), page);
  const givenUp = zstd(19);
  givenUp.write(randomBytes(100_000), 'more');
  givenUp.close();
  t.same(whole(zstd(3), page), before);
  const bytes = Buffer.from('<p>some words of a page and some more words</p>\n');
  const dictionary = { bytes, digest: 'a' };
  t.equal(whyNoDictionary(dictionary), undefined);
  const packed = whole(zstd(3, dictionary), page);
  t.ok(packed.length < before.length, `${packed.length} ${before.length}`);
  t.throws(() => zstdDecompressSync(packed));
  t.ok(zstdDecompressSync(packed, { dictionary: bytes }).equals(page));
  t.same(whole(zstd(3), page), before, 'the next body has none');
  const broken = Buffer.concat([Buffer.from([0x37, 0xa4, 0x30, 0xec]), randomBytes(300)]);
  t.equal(whyNoDictionary({ bytes: broken, digest: 'b' }), 'broken');
  t.same(whole(zstd(3), page), before);
});
