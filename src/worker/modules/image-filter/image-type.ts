/** A format that images may have. */
export type ImageType = 'jpeg' | 'gif' | 'png' | 'webp';

/** As many bytes have to be there before the format is told. */
export const ENOUGH = 16;

const SPACE = 0x20;
const VP8X_ANIMATION = 0x02;

/** The format of an image by its first bytes; undefined for what is none, or too short. nginx: ngx_http_image_test. */
export function imageType(b: Buffer): ImageType | undefined {
  if (b.length < ENOUGH) {
    return undefined;
  }
  if (b[0] === 0xff && b[1] === 0xd8) {
    return 'jpeg';
  }
  if (has(b, 0, 'GIF87a') || has(b, 0, 'GIF89a')) {
    return 'gif';
  }
  if (has(b, 0, '\x89PNG\r\n\x1a\n')) {
    return 'png';
  }
  return has(b, 0, 'RIFF') && has(b, 8, 'WEBP') ? 'webp' : undefined;
}

/**
 * Whether these bytes begin as images of the format do. nginx leaves it to the decoder of the format; here the decoder is chosen by the
 * bytes, and no other one may take them for its own.
 */
export function beginsAs(type: ImageType, b: Buffer): boolean {
  if (type === 'jpeg') {
    return b[2] === 0xff;
  }
  if (type !== 'webp') {
    return true;
  }
  // The decoder that nginx uses takes no animations.
  const kind = b[15];
  return has(b, 12, 'VP8') && (kind === SPACE || kind === 0x4c || (kind === 0x58 && b.length > 20 && (b[20]! & VP8X_ANIMATION) === 0));
}

function has(b: Buffer, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    if (b[at + i] !== text.charCodeAt(i)) {
      return false;
    }
  }
  return true;
}
