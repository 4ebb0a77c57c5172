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
/** Bytes of the head of a message: its type and its length. */
const HEAD = 4;
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

  /** Asks for so many bytes that are read one by one, but stand together: where the message has no room for them, none is awaited. */
  need(size: number): void {
    if (this.left < size) {
      throw NONE;
    }
    if (this.at + size > this.#bytes.length) {
      throw MORE;
    }
  }

  /** Goes past so many bytes, and returns where they begin. */
  skip(size: number): number {
    this.need(size);
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

/** How far a hello was read: up to the extension, or the name of a protocol, at `at`. */
interface Progress {
  at: number;
  left: number;
  /** The extension that says the server's name was read. */
  named: boolean;
  /** The extension that lists protocols was begun. */
  listed: boolean;
  /** Bytes that the list of protocols still has, while names of it are read; -1 otherwise. */
  list: number;
}

/** What was seen of a hello, which may break off within an extension. */
interface Seen {
  version: number;
  serverName: string;
  alpn: string;
}

/** A hello in the records that came so far: each extension and each name of a protocol is read once, in however many records they are. */
export class HelloRecords {
  readonly #payload = new GrowingBytes(Buffer.alloc(0));
  readonly #seen: Seen = { version: 0, serverName: '', alpn: '' };
  #progress: Progress | undefined = undefined;

  /** What the hello has said so far. */
  get seen(): PrereadHello {
    const { version, serverName, alpn } = this.#seen;
    return { protocol: protocolName(version), serverName, alpn };
  }

  /** Adds a record's payload, and reads as far as there is something. nginx: ngx_stream_ssl_preread_parse_record. */
  add(payload: Buffer): 'whole' | Otherwise {
    const bytes = this.#payload.add(payload);
    try {
      this.#goOn(bytes);
      return 'whole';
    } catch (error) {
      if (error instanceof Unread) {
        return error.why;
      }
      throw error;
    }
  }

  #goOn(bytes: Buffer): void {
    const cursor = new Cursor(bytes, this.#progress?.at ?? 0, this.#progress?.left ?? HEAD);
    const progress = (this.#progress ??= readBeginning(cursor, this.#seen));
    while (progress.list >= 0 || cursor.left > 0) {
      if (progress.list >= 0) {
        readProtocol(cursor, progress, this.#seen);
      } else {
        readExtension(cursor, progress, this.#seen);
      }
      progress.at = cursor.at;
      progress.left = cursor.left;
    }
  }
}

/** Reads up to the first extension. */
function readBeginning(cursor: Cursor, seen: Seen): Progress {
  cursor.need(HEAD);
  const type = cursor.byte();
  if (type !== CLIENT_HELLO) {
    throw NONE;
  }
  const high = cursor.byte();
  const size = (high << 16) | cursor.pair();
  cursor.left = size;
  seen.version = cursor.pair();
  cursor.skip(32);
  cursor.skip(cursor.byte());
  cursor.skip(cursor.pair());
  cursor.skip(cursor.byte());
  if (cursor.left > 0) {
    cursor.pair();
  }
  return { at: cursor.at, left: cursor.left, named: false, listed: false, list: -1 };
}

function readExtension(cursor: Cursor, progress: Progress, seen: Seen): void {
  cursor.need(4);
  const kind = cursor.pair();
  const length = cursor.pair();
  if (kind === EXTENSION.SERVER_NAME && !progress.named) {
    readServerName(cursor, seen);
    progress.named = true;
  } else if (kind === EXTENSION.ALPN && !progress.listed) {
    progress.list = cursor.pair();
    progress.listed = true;
  } else if (kind === EXTENSION.VERSIONS) {
    const size = cursor.byte();
    seen.version = 0x0304;
    cursor.skip(size);
  } else {
    cursor.skip(length);
  }
}

function readServerName(cursor: Cursor, seen: Seen): void {
  const list = cursor.pair();
  cursor.need(3);
  const type = cursor.byte();
  const size = cursor.pair();
  if (type !== 0 || list < 3 + size) {
    throw NONE;
  }
  seen.serverName = cursor.text(size);
  cursor.skip(list - 3 - size);
}

function readProtocol(cursor: Cursor, progress: Progress, seen: Seen): void {
  const size = cursor.byte();
  const left = progress.list - 1 - size;
  if (size === 0 || left < 0) {
    throw NONE;
  }
  seen.alpn += `${cursor.text(size)}${left > 0 ? ',' : ''}`;
  progress.list = left > 0 ? left : -1;
}
