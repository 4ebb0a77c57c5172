const HEAD = 13;
const EXTENSION = 0x21;
const GRAPHIC_CONTROL = 0xf9;
const DESCRIPTOR = 0x2c;
const DESCRIPTOR_LENGTH = 10;
const TRAILER = Buffer.from([0x3b]);

/** Bytes of the palette that a byte of flags tells of. */
const paletteLength = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1));

/**
 * The first frame of a GIF as a GIF of its own, as large as that frame, which is what libgd takes of one; with `opaque` no colour of it is
 * transparent. Undefined where there is none, or where it reaches out of the picture, which libgd does not take.
 */
export function firstFrame(b: Buffer, opaque: boolean): Buffer | undefined {
  if (b.length < HEAD) {
    return undefined;
  }
  let at = HEAD + paletteLength(b[10]!);
  const head = Buffer.from(b.subarray(0, at));
  let control: Buffer | undefined;
  while (b[at] === EXTENSION) {
    const end = blocksEnd(b, at + 2);
    if (b[at + 1] === GRAPHIC_CONTROL && end - at === 8) {
      control = Buffer.from(b.subarray(at, end));
    }
    at = end;
  }
  if (b[at] !== DESCRIPTOR || b.length - at <= DESCRIPTOR_LENGTH) {
    return undefined;
  }
  const descriptor = Buffer.from(b.subarray(at, at + DESCRIPTOR_LENGTH));
  if (reachesOut(head, descriptor, 0) || reachesOut(head, descriptor, 2)) {
    return undefined;
  }
  const data = at + DESCRIPTOR_LENGTH;
  const end = blocksEnd(b, data + paletteLength(descriptor[9]!) + 1);
  // The whole picture begins where the frame does.
  descriptor.copy(head, 6, 5, 9);
  descriptor.fill(0, 1, 5);
  if (control !== undefined && opaque) {
    control[3]! &= 0xfe;
  }
  return Buffer.concat([head, ...(control === undefined ? [] : [control]), descriptor, b.subarray(data, end), TRAILER]);
}

/** Whether a frame is beyond the picture, from left to right, or from top to bottom, whose numbers stand two bytes behind. */
const reachesOut = (head: Buffer, descriptor: Buffer, at: 0 | 2): boolean =>
  descriptor.readUInt16LE(1 + at) + descriptor.readUInt16LE(5 + at) > head.readUInt16LE(6 + at);

/** Where the blocks from `at` on end: behind an empty one, or with the bytes. */
function blocksEnd(b: Buffer, at: number): number {
  let end = at;
  while (end < b.length && b[end] !== 0) {
    end += b[end]! + 1;
  }
  return Math.min(end + 1, b.length);
}
