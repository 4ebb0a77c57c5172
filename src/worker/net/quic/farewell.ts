import { closeFrame } from './close-frame.js';
import type { ServerConnection } from './connection.js';
import { APPLICATION } from './space.js';

/** The datagram that says that a connection is over, and answers what still comes: less often the more comes (RFC 9000, 10.2.1). */
export class Farewell {
  readonly #datagram: Buffer;
  #asked = 0;
  #answerAfter = 1;

  /** A packet for each level that the client may be at. */
  constructor(c: ServerConnection, application: boolean, code: number, reason: string, frame: number) {
    const { writer, output } = c.host;
    let at = 0;
    for (const space of c.spaces) {
      const complete = space.index === APPLICATION;
      if (space.writeKeys !== undefined && (!complete || c.handshake.done || c.confirmed)) {
        at += writer.closePacket(c, space, at, closeFrame(application, complete, code, reason, frame));
      }
    }
    this.#datagram = Buffer.from(output.bytes.subarray(0, at));
  }

  /** Sends the datagram, unless that was done often enough. */
  answer(c: ServerConnection): void {
    const { length } = this.#datagram;
    if (length === 0 || ++this.#asked < this.#answerAfter) {
      return;
    }
    this.#answerAfter *= 2;
    if (c.path.allowance >= length) {
      c.host.output.bytes.set(this.#datagram);
      c.sender.send(c.path, 0, length, length);
    }
  }
}
