import type { UpstreamConnection } from '../connection/connection.js';
import type { BodyFrame } from './protocol.js';

/** Writes a piece of body, in as many frames as it takes. Returns false when the connection's buffer is full. */
export function writePiece(c: UpstreamConnection, frame: BodyFrame | undefined, piece: Buffer): boolean {
  if (frame === undefined) {
    return c.write(piece);
  }
  let flowing = true;
  c.socket.cork();
  for (let at = 0; at < piece.length; at += frame.largest) {
    const part = piece.length <= frame.largest ? piece : piece.subarray(at, at + frame.largest);
    c.writeText(frame.before(part.length));
    flowing = c.write(part);
    const after = frame.after(part.length);
    if (after !== '') {
      flowing = c.writeText(after);
    }
  }
  c.socket.uncork();
  return flowing;
}
