import type { Channel } from '../connection/channel.js';
import type { BodyFrame } from './exchange.js';

/**
 * Writes a piece of body, in as many frames as it takes. `lent`: its memory is the caller's again afterwards. Returns false when the
 * connection's buffer is full.
 */
export function writePiece(c: Channel, frame: BodyFrame | undefined, piece: Buffer, lent: boolean): boolean {
  if (frame === undefined) {
    return lent ? c.writeLent(piece, 0, piece.length) : c.write(piece);
  }
  let flowing = true;
  c.cork();
  for (let at = 0; at < piece.length; at += frame.largest) {
    const part = piece.length <= frame.largest ? piece : piece.subarray(at, at + frame.largest);
    c.writeText(frame.before(part.length));
    flowing = lent ? c.writeLent(part, 0, part.length) : c.write(part);
    const after = frame.after(part.length);
    if (after !== '') {
      flowing = c.writeText(after);
    }
  }
  c.uncork();
  return flowing;
}
