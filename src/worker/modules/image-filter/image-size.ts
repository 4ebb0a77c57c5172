import type { ImageType } from './image-type.js';

/** What the head of an image says of it. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
  /** More than a twentieth of it are notes of cameras and programs, which a new encoding leaves out. */
  readonly bloated: boolean;
}

const SIZE_OF_PNG = 24;
const SIZE_OF_WEBP = 30;
/** Behind a marker of a JPEG's frame come as many bytes up to its size. */
const FRAME_HEAD = 10;

/** Width and height as the head of an image has them, by nginx's rules; undefined where it has none. nginx: ngx_http_image_size. */
export function imageSize(type: ImageType, b: Buffer): ImageSize | undefined {
  switch (type) {
    case 'jpeg':
      return sizeOfJpeg(b);
    case 'gif':
      return { width: b.readUInt16LE(6), height: b.readUInt16LE(8), bloated: false };
    case 'png':
      // As nginx, the lower half of both.
      return b.length < SIZE_OF_PNG ? undefined : { width: b.readUInt16BE(18), height: b.readUInt16BE(22), bloated: false };
    case 'webp':
      return sizeOfWebp(b);
  }
}

/** Whether a marker begins a frame, whose head has the size. */
const isFrame = (marker: number): boolean => (marker >= 0xc0 && marker <= 0xc3) || (marker >= 0xc9 && marker <= 0xcb);

function sizeOfJpeg(b: Buffer): ImageSize | undefined {
  const last = b.length - FRAME_HEAD;
  let width = 0;
  let height = 0;
  let notes = 0;
  for (let p = 2; p < last; ) {
    if (b[p] !== 0xff || b[p + 1] === 0xff) {
      p++;
      continue;
    }
    const marker = b[++p]!;
    if (isFrame(marker) && (width === 0 || height === 0)) {
      height = b.readUInt16BE(p + 4);
      width = b.readUInt16BE(p + 6);
    }
    const length = b.readUInt16BE(p + 1);
    if (marker >= 0xe1 && marker <= 0xef) {
      notes += length;
    }
    p += length;
  }
  return width === 0 || height === 0 ? undefined : { width, height, bloated: Math.floor(b.length / 20) < notes };
}

function sizeOfWebp(b: Buffer): ImageSize | undefined {
  if (b.length < SIZE_OF_WEBP || b.toString('latin1', 12, 15) !== 'VP8') {
    return undefined;
  }
  switch (String.fromCharCode(b[15]!)) {
    case ' ':
      // A frame that needs others, or no frame.
      if ((b[20]! & 1) !== 0 || b[23] !== 0x9d || b[24] !== 0x01 || b[25] !== 0x2a) {
        return undefined;
      }
      return { width: b.readUInt16LE(26) & 0x3fff, height: b.readUInt16LE(28) & 0x3fff, bloated: false };
    case 'L': {
      if (b[20] !== 0x2f) {
        return undefined;
      }
      const bits = b.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, bloated: false };
    }
    case 'X':
      return { width: b.readUIntLE(24, 3) + 1, height: b.readUIntLE(27, 3) + 1, bloated: false };
    default:
      return undefined;
  }
}
