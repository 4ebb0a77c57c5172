/** Decodes base64 that comes in pieces, each of which may have been padded by itself, as gRPC-Web's text has it. */
export class Base64Pieces {
  /** Characters that do not make a group of four yet. */
  #rest = '';

  /** The bytes that come of a piece and what was left of those before. */
  decode(piece: Buffer): Buffer {
    const text = this.#rest + piece.toString('latin1');
    const whole = text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    const parts: Buffer[] = [];
    // A group with padding ends a part.
    for (let start = 0; start < whole; ) {
      const padding = text.indexOf('=', start);
      const end = padding === -1 || padding >= whole ? whole : padding - ((padding - start) % 4) + 4;
      parts.push(Buffer.from(text.slice(start, end), 'base64'));
      start = end;
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** Begins anew. */
  reset(): void {
    this.#rest = '';
  }
}
