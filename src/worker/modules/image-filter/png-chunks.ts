const SIGNATURE = 8;
/** Length, name and checksum of a chunk. */
const AROUND = 12;
const COLOUR_TYPE = 25;
const GREY = 0;
const PALETTE = 3;

/** Whether a PNG has a palette. */
export const hasPalette = (b: Buffer): boolean => b[COLOUR_TYPE] === PALETTE;

/** Whether libgd makes a palette of what a PNG has: of its own one, or of shades of grey. */
export const fewColours = (b: Buffer): boolean => hasPalette(b) || b[COLOUR_TYPE] === GREY;

/** A PNG of which no colour of a palette, and no shade of grey, is transparent; others as they are, as libgd leaves them. */
export function withoutTransparentColour(b: Buffer): Buffer {
  if (!fewColours(b)) {
    return b;
  }
  for (let at = SIGNATURE; at + AROUND <= b.length; ) {
    const name = b.toString('latin1', at + 4, at + 8);
    const end = at + AROUND + b.readUInt32BE(at);
    if (name === 'IDAT') {
      break;
    }
    if (name === 'tRNS' && end <= b.length) {
      return Buffer.concat([b.subarray(0, at), b.subarray(end)]);
    }
    at = end;
  }
  return b;
}
