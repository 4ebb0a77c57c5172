import { GrowingBytes } from '../../bytes/growing-bytes.js';

/** What a client's hello says to somebody who only passes it on. */
export interface PrereadHello {
  /** Version as SSL_get_version() writes it; empty for one without a name. */
  readonly protocol: string;
  /** As sent; empty when there is none. */
  readonly serverName: string;
  /** Joined by commas. */
  readonly alpn: string;
}

/** More has to come; or it is no hello. */
type Otherwise = 'more' | 'none';

const CLIENT_HELLO = 1;
const EXTENSION = { SERVER_NAME: 0, ALPN: 16, VERSIONS: 43 } as const;
const NAMES: Readonly<Record<number, string>> = {
  2: 'SSLv2',
  768: 'SSLv3',
  769: 'TLSv1',
  770: 'TLSv1.1',
  771: 'TLSv1.2',
  772: 'TLSv1.3',
};

/** The name of a version; empty when it has none. */
export const protocolName = (version: number): string => NAMES[version] ?? '';

/** Reads a message piece by piece: what is not there yet, and what is longer than the message says, ends it with an exception. */
class Cursor {
  readonly #bytes: Buffer;
  /** Where it stands, and how many bytes of the message are left. */
  at: number;
  left: number;

  constructor(bytes: Buffer, at: number, left: number) {
    this.#bytes = bytes;
    this.at = at;
    this.left = left;
  }

  /** Goes past so many bytes, and returns where they begin. */
  skip(size: number): number {
    if (this.left < size) {
      throw NONE;
    }
    if (this.at + size > this.#bytes.length) {
      throw MORE;
    }
    const { at } = this;
    this.at += size;
    this.left -= size;
    return at;
  }

  byte(): number {
    return this.#bytes[this.skip(1)]!;
  }

  pair(): number {
    const at = this.skip(2);
    return (this.#bytes[at]! << 8) | this.#bytes[at + 1]!;
  }

  text(size: number): string {
    const at = this.skip(size);
    return this.#bytes.toString('latin1', at, at + size);
  }
}

class Unread extends Error {
  readonly why: Otherwise;

  constructor(why: Otherwise) {
    super(why);
    this.why = why;
  }
}

const MORE = new Unread('more');
const NONE = new Unread('none');

/** The head of a message: its type and its length. */
const HEAD = 4;

/** What a hello says, up to its extension at `at`. */
interface Extensions {
  at: number;
  left: number;
  version: number;
  serverName: string | undefined;
  alpn: string | undefined;
}

/** A hello in the records that came so far: each extension is read once, in however many records they are. */
export class HelloRecords {
  readonly #payload = new GrowingBytes(Buffer.alloc(0));
  #read: Extensions | undefined = undefined;

  /** Adds a record's payload, and reads as far as there is something. nginx: ngx_stream_ssl_preread_parse_record. */
  add(payload: Buffer): PrereadHello | Otherwise {
    const bytes = this.#payload.add(payload);
    try {
      return this.#goOn(bytes);
    } catch (error) {
      if (error instanceof Unread) {
        return error.why;
      }
      throw error;
    }
  }

  #goOn(bytes: Buffer): PrereadHello {
    const cursor = new Cursor(bytes, this.#read?.at ?? 0, this.#read?.left ?? HEAD);
    const read = (this.#read ??= readBeginning(cursor));
    while (cursor.left > 0) {
      readExtension(cursor, read);
      read.at = cursor.at;
      read.left = cursor.left;
    }
    return { protocol: protocolName(read.version), serverName: read.serverName ?? '', alpn: read.alpn ?? '' };
  }
}

/** Reads up to the first extension. */
function readBeginning(cursor: Cursor): Extensions {
  const type = cursor.byte();
  if (type !== CLIENT_HELLO) {
    throw NONE;
  }
  const high = cursor.byte();
  const size = (high << 16) | cursor.pair();
  cursor.left = size;
  const version = cursor.pair();
  cursor.skip(32);
  cursor.skip(cursor.byte());
  cursor.skip(cursor.pair());
  cursor.skip(cursor.byte());
  if (cursor.left > 0) {
    cursor.pair();
  }
  return { at: cursor.at, left: cursor.left, version, serverName: undefined, alpn: undefined };
}

function readExtension(cursor: Cursor, read: Extensions): void {
  const kind = cursor.pair();
  const length = cursor.pair();
  if (kind === EXTENSION.SERVER_NAME && read.serverName === undefined) {
    read.serverName = readServerName(cursor);
  } else if (kind === EXTENSION.ALPN && read.alpn === undefined) {
    read.alpn = readAlpn(cursor);
  } else if (kind === EXTENSION.VERSIONS) {
    read.version = 0x0304;
    cursor.skip(cursor.byte());
  } else {
    cursor.skip(length);
  }
}

function readServerName(cursor: Cursor): string {
  const list = cursor.pair();
  if (cursor.byte() !== 0) {
    throw NONE;
  }
  const size = cursor.pair();
  if (list < 3 + size) {
    throw NONE;
  }
  const name = cursor.text(size);
  cursor.skip(list - 3 - size);
  return name;
}

function readAlpn(cursor: Cursor): string {
  let left = cursor.pair();
  const names: string[] = [];
  do {
    const size = cursor.byte();
    if (size === 0 || left < 1 + size) {
      throw NONE;
    }
    names.push(cursor.text(size));
    left -= 1 + size;
  } while (left > 0);
  return names.join(',');
}
