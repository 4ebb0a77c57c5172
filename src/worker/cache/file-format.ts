import { crc32 } from 'node:zlib';

// A cache file is a header, the body, and a checksum for each block of the body. The header's first part has a fixed form:
//   0 magic   8 bytes of the whole header   12 checksum of the header from 16 on
//   16 valid until   24 seconds it may be served while it is refreshed   32 seconds it may be served in place of errors
//   40 last modified (-1: none)   48 date of the response   56 bytes of the body   64 announced length (-1: none)
//   72 status   74 status of a remembered error (0: a response)   76 checksum of the block checksums   80 lengths of the texts
// The texts follow: key, Vary, variant, ETag, reason, and the head's lines. What the header has beyond them are the tags.

/** What a file begins with. The last byte changes with the form of the files: a file of another form is no entry. */
const MAGIC = Buffer.from('sluicec\x01', 'latin1');
/** Bytes of the magic that all forms share. */
const OURS = MAGIC.length - 1;
const FIXED = 104;
/** Texts whose lengths stand in the first part. */
const COUNTED = 6;
/** Bytes of the body that share one checksum. */
export const BLOCK = 64 * 1024;
/** The largest header that is written. */
const MAX_HEADER = 1024 * 1024;

/** What a cache file says about the response in it. Times are seconds since 1970. nginx: ngx_http_file_cache_header_t. */
export interface EntryHeader {
  readonly key: string;
  readonly validUntil: number;
  /** Seconds after that in which it may be served while somebody refreshes it. */
  readonly updating: number;
  /** Seconds after that in which it may be served in place of an error. */
  readonly onError: number;
  /** -1: none. */
  readonly lastModified: number;
  readonly date: number;
  readonly bodyLength: number;
  /** What the backend announced; -1: nothing. */
  readonly contentLength: number;
  readonly status: number;
  /** Not 0: no response, but an error to answer with. */
  readonly error: number;
  /** The value of Vary; empty when the response does not vary. */
  readonly vary: string;
  /** The digest of key and varying request headers. */
  readonly variant: string;
  readonly etag: string;
  readonly reason: string | undefined;
  /** Names and values of the head's lines by turns. */
  readonly lines: readonly string[];
  /** The entry's tags, with a space between two. */
  readonly tags: string;
}

/** The bytes of the block checksums of a body of this length. */
export const tableLength = (bodyLength: number): number => Math.ceil(bodyLength / BLOCK) * 4;

/** Writes a header. `tableCrc` is the checksum of the block checksums. Returns undefined for one that is too large. */
export function encodeHeader(entry: EntryHeader, tableCrc: number): Buffer | undefined {
  const texts = [entry.key, entry.vary, entry.variant, entry.etag, entry.reason ?? '\0', entry.lines.join('\0'), entry.tags];
  let length = FIXED;
  for (const text of texts) {
    length += text.length;
  }
  if (length > MAX_HEADER) {
    return undefined;
  }
  const bytes = Buffer.alloc(length);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(length, 8);
  bytes.writeDoubleLE(entry.validUntil, 16);
  bytes.writeDoubleLE(entry.updating, 24);
  bytes.writeDoubleLE(entry.onError, 32);
  bytes.writeDoubleLE(entry.lastModified, 40);
  bytes.writeDoubleLE(entry.date, 48);
  bytes.writeDoubleLE(entry.bodyLength, 56);
  bytes.writeDoubleLE(entry.contentLength, 64);
  bytes.writeUInt16LE(entry.status, 72);
  bytes.writeUInt16LE(entry.error, 74);
  bytes.writeUInt32LE(tableCrc, 76);
  let at = FIXED;
  for (let i = 0; i < texts.length; i++) {
    if (i < COUNTED) {
      bytes.writeUInt32LE(texts[i]!.length, 80 + i * 4);
    }
    bytes.write(texts[i]!, at, 'latin1');
    at += texts[i]!.length;
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(16)), 12);
  return bytes;
}

/** What was found at the start of a file. */
export interface DecodedHeader {
  readonly entry: EntryHeader;
  /** Where the body begins. */
  readonly bodyStart: number;
  readonly tableCrc: number;
}

/** Whether a file that begins so was written by a cache of ours, be it damaged or of another form. All others are somebody else's. */
export const isOurs = (bytes: Buffer): boolean => bytes.length >= OURS && MAGIC.compare(bytes, 0, OURS, 0, OURS) === 0;

/** How many bytes the header of a file has whose first bytes these are; 0 when it is no cache file. */
export function headerLength(bytes: Buffer): number {
  if (bytes.length < FIXED || MAGIC.compare(bytes, 0, MAGIC.length) !== 0) {
    return 0;
  }
  const length = bytes.readUInt32LE(8);
  return length < FIXED || length > MAX_HEADER ? 0 : length;
}

/** Reads a header. A string says what is wrong with it. */
export function decodeHeader(bytes: Buffer): DecodedHeader | string {
  if (!isOurs(bytes)) {
    return bytes.length === 0 ? 'is empty' : 'is no cache file of sluice';
  }
  if (bytes.length < FIXED) {
    return 'is too small';
  }
  const length = headerLength(bytes);
  if (length === 0) {
    return 'has another format';
  }
  if (bytes.length < length) {
    return 'is too small';
  }
  if (crc32(bytes.subarray(16, length)) !== bytes.readUInt32LE(12)) {
    return 'has a damaged header';
  }
  const texts: string[] = [];
  let at = FIXED;
  for (let i = 0; i < COUNTED; i++) {
    const end = at + bytes.readUInt32LE(80 + i * 4);
    texts.push(bytes.toString('latin1', at, end));
    at = end;
  }
  const [key, vary, variant, etag, reason, lines] = texts as [string, string, string, string, string, string];
  return {
    entry: {
      key,
      validUntil: bytes.readDoubleLE(16),
      updating: bytes.readDoubleLE(24),
      onError: bytes.readDoubleLE(32),
      lastModified: bytes.readDoubleLE(40),
      date: bytes.readDoubleLE(48),
      bodyLength: bytes.readDoubleLE(56),
      contentLength: bytes.readDoubleLE(64),
      status: bytes.readUInt16LE(72),
      error: bytes.readUInt16LE(74),
      vary,
      variant,
      etag,
      reason: reason === '\0' ? undefined : reason,
      lines: lines === '' ? [] : lines.split('\0'),
      tags: bytes.toString('latin1', at, length),
    },
    bodyStart: length,
    tableCrc: bytes.readUInt32LE(76),
  };
}

/** Where {@link staleBytes} belong. */
export const STALE_AT = 12;

/** The few bytes that make an entry stale since a time (seconds), whose file begins with these. */
export function staleBytes(header: Buffer, since: number): Buffer {
  header.writeDoubleLE(since, 16);
  header.writeUInt32LE(crc32(header.subarray(16)), STALE_AT);
  return header.subarray(STALE_AT, 24);
}

/** The whole length of a file with this header. */
export const fileLength = ({ entry, bodyStart }: DecodedHeader): number => bodyStart + entry.bodyLength + tableLength(entry.bodyLength);

/** Makes the checksums of a body's blocks as its pieces come. */
export class BlockSums {
  readonly #sums: number[] = [];
  #crc = 0;
  #filled = 0;

  add(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      const take = Math.min(BLOCK - this.#filled, piece.length - at);
      this.#crc = crc32(piece.subarray(at, at + take), this.#crc);
      this.#filled += take;
      at += take;
      if (this.#filled === BLOCK) {
        this.#close();
      }
    }
  }

  /** The checksums as they stand in the file. Nothing may be added afterwards. */
  table(): Buffer {
    if (this.#filled > 0) {
      this.#close();
    }
    const bytes = Buffer.alloc(this.#sums.length * 4);
    for (let i = 0; i < this.#sums.length; i++) {
      bytes.writeUInt32LE(this.#sums[i]!, i * 4);
    }
    return bytes;
  }

  #close(): void {
    this.#sums.push(this.#crc);
    this.#crc = 0;
    this.#filled = 0;
  }
}

/** The checksum of the block checksums. */
export const tableChecksum = (table: Buffer): number => crc32(table);

/** Whether one block of a body has its checksum; `i` counts the blocks. */
export const isBlock = (block: Buffer, table: Buffer, i: number): boolean => crc32(block) === table.readUInt32LE(i * 4);
