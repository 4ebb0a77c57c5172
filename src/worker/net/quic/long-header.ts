import { PacketCursor } from './varint.js';
import { type QuicVersion, Type, versionOf } from './version.js';

/** The longest connection ID. */
export const LONGEST_ID = 20;

/** A long header up to the packet number (RFC 9000, 17.2); one object is used for all. Places are in the memory of the datagram. */
export class LongHeader {
  first = 0;
  versionNumber = 0;
  /** Undefined for a version that is not spoken: then nothing follows the connection IDs. */
  version: QuicVersion | undefined = undefined;
  type = 0;
  destinationAt = 0;
  destinationLength = 0;
  sourceAt = 0;
  sourceLength = 0;
  tokenAt = 0;
  tokenLength = 0;
  /** Where the packet number begins, and the packet ends. */
  numberAt = 0;
  end = 0;
  readonly #cursor = new PacketCursor();

  /** Reads the header at `from`. Returns false for one that is cut off. */
  read(bytes: Buffer, from: number, end: number): boolean {
    const cursor = this.#cursor;
    cursor.set(bytes, from, end);
    if (end - from < 7) {
      return false;
    }
    this.first = cursor.byte();
    this.versionNumber = bytes.readUInt32BE(cursor.skip(4));
    this.destinationLength = cursor.byte();
    this.destinationAt = cursor.skip(this.destinationLength);
    this.sourceLength = cursor.byte();
    this.sourceAt = cursor.skip(this.sourceLength);
    this.version = versionOf(this.versionNumber);
    this.tokenLength = 0;
    if (cursor.failed || this.version === undefined) {
      return !cursor.failed;
    }
    if (this.destinationLength > LONGEST_ID || this.sourceLength > LONGEST_ID) {
      return false;
    }
    this.type = this.version.types[(this.first >> 4) & 3]!;
    if (this.type === Type.RETRY) {
      this.end = end;
      return true;
    }
    if (this.type === Type.INITIAL) {
      this.tokenLength = cursor.int();
      this.tokenAt = cursor.skip(this.tokenLength);
    }
    const length = cursor.int();
    this.numberAt = cursor.at;
    cursor.skip(length);
    this.end = cursor.at;
    return !cursor.failed;
  }
}
