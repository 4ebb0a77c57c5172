import { createRequire } from 'node:module';
import { crc32, deflateSync } from 'node:zlib';
import type { SharpConstructor } from 'sharp';

/** The package that makes images; undefined where it has no binary. */
export const sharp = loadSharp();

function loadSharp(): SharpConstructor | undefined {
  try {
    return createRequire(import.meta.url)('sharp') as SharpConstructor;
  } catch {
    return undefined;
  }
}

/** Why a test that needs sharp is skipped. */
export const noSharp = sharp === undefined && 'sharp is not installed';

/** What an image is, as in `png 30x20`, or that it is none. */
export async function pictureOf(bytes: Buffer): Promise<string> {
  try {
    const { format, width, height } = await sharp!(bytes).metadata();
    return `${format} ${width}x${height}`;
  } catch {
    return 'none';
  }
}

function chunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** What a PNG has; see the format's colour types. */
interface Png {
  /** 0: grey, 2: RGB, 3: palette, 6: RGB with alpha. */
  readonly type?: 0 | 2 | 3 | 6;
  /** The byte of each sample. */
  readonly sample?: (x: number, y: number, band: number) => number;
  /** Of a palette: three bytes for each colour. */
  readonly palette?: readonly number[];
  /** The chunk tRNS. */
  readonly transparency?: readonly number[];
  /** The head only says that the picture is so large. */
  readonly empty?: boolean;
}

/** A PNG with eight bits for a sample. */
export function png(width: number, height: number, { type = 2, sample = () => 0, palette, transparency, empty }: Png = {}): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  head[9] = type;
  const bands = { 0: 1, 2: 3, 3: 1, 6: 4 }[type];
  const line = width * bands + 1;
  const rows = Buffer.alloc(empty ? 1 : line * height);
  for (let y = 0; y < height && !empty; y++) {
    for (let i = 0; i < width * bands; i++) {
      rows[y * line + 1 + i] = sample(Math.floor(i / bands), y, i % bands);
    }
  }
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    ...(palette === undefined ? [] : [chunk('PLTE', Buffer.from(palette))]),
    ...(transparency === undefined ? [] : [chunk('tRNS', Buffer.from(transparency))]),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A PNG of which each pixel tells where it was. */
export const pixelMap = (width: number, height: number): Buffer => png(width, height, { sample: (x, y, band) => [x, y, 128][band]! });

/** A frame of a GIF. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left?: number;
  readonly top?: number;
  /** Which colour is transparent. */
  readonly transparent?: number;
  /** The colour of each pixel, below 128. */
  readonly colour?: (x: number, y: number) => number;
}

const words = (...values: readonly number[]): Buffer => Buffer.from(values.flatMap((value) => [value & 255, value >> 8]));

/** A GIF of 128 colours, which are black, red, green and blue and then black again. */
export function gif(width: number, height: number, frames: readonly Frame[] = [{ width, height }]): Buffer {
  const palette = Buffer.alloc(128 * 3);
  palette.set([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255]);
  return Buffer.concat([
    Buffer.from('GIF89a', 'latin1'),
    words(width, height),
    Buffer.from([0xf6, 0, 0]),
    palette,
    ...frames.flatMap(frame),
    Buffer.from([0x3b]),
  ]);
}

function frame({ width, height, left = 0, top = 0, transparent, colour = () => 1 }: Frame): Buffer[] {
  // Each code has eight bits for as long as the table is cleared before it grows.
  const codes: number[] = [];
  for (let i = 0; i < width * height; i++) {
    if (i % 100 === 0) {
      codes.push(128);
    }
    codes.push(colour(i % width, Math.floor(i / width)));
  }
  codes.push(129);
  const blocks: Buffer[] = [];
  for (let at = 0; at < codes.length; at += 255) {
    const block = codes.slice(at, at + 255);
    blocks.push(Buffer.from([block.length, ...block]));
  }
  const control = transparent === undefined ? [] : [Buffer.from([0x21, 0xf9, 4, 1, 0, 0, transparent, 0])];
  return [...control, Buffer.from([0x2c]), words(left, top, width, height), Buffer.from([0, 7]), ...blocks, Buffer.from([0])];
}

/** The head of a JPEG: its size is told, and no picture follows. `notes`: bytes of a segment for notes. */
export function jpegHead(width: number, height: number, notes = 0): Buffer {
  const app = notes === 0 ? [] : [Buffer.from([0xff, 0xe1, (notes + 2) >> 8, (notes + 2) & 255]), Buffer.alloc(notes)];
  const frameHead = [0xff, 0xc0, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1];
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...app, Buffer.from(frameHead), Buffer.alloc(20)]);
}

/** The head of a WebP, of whose one chunk these are the first bytes. */
export function webpHead(name: string, bytes: readonly number[]): Buffer {
  const body = Buffer.alloc(40);
  Buffer.from(bytes).copy(body);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length + 12);
  return Buffer.concat([Buffer.from('RIFF'), size, Buffer.from(`WEBP${name}`), Buffer.from([40, 0, 0, 0]), body]);
}
