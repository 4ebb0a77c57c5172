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
    return this.#pairAt(this.skip(2));
  }

  // What stands together is there as a whole, or not: a message that has no room for it ends before its first byte comes.

  pairs(): readonly [number, number] {
    const at = this.skip(4);
    return [this.#pairAt(at), this.#pairAt(at + 2)];
  }

  byteAndPair(): readonly [number, number] {
    const at = this.skip(3);
    return [this.#bytes[at]!, this.#pairAt(at + 1)];
  }

  /** Reads the head of the message, and returns its length. */
  head(): number {
    const at = this.skip(HEAD);
    if (this.#bytes[at] !== CLIENT_HELLO) {
      throw NONE;
    }
    return (this.#bytes[at + 1]! << 16) | this.#pairAt(at + 2);
  }

  #pairAt(at: number): number {
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

/** How far a hello was read: up to its extension at `at`, behind those that say a name and protocols. */
interface Progress {
  at: number;
  left: number;
  named: boolean;
  listed: boolean;
}

/** What was seen of a hello, which may break off within an extension. */
interface Seen {
  version: number;
  serverName: string;
  alpn: string;
}

/** A hello in the records that came so far: each extension is read once, in however many records they are. */
export class HelloRecords {
  readonly #payload = new GrowingBytes(Buffer.alloc(0));
  readonly #said: Seen = { version: 0, serverName: '', alpn: '' };
  #progress: Progress | undefined = undefined;

  /** What the hello has said so far. */
  get seen(): PrereadHello {
    const { version, serverName, alpn } = this.#said;
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
    const progress = (this.#progress ??= readBeginning(cursor, this.#said));
    while (cursor.left > 0) {
      readExtension(cursor, progress, this.#said);
      progress.at = cursor.at;
      progress.left = cursor.left;
    }
  }
}

/** Reads up to the first extension. */
function readBeginning(cursor: Cursor, seen: Seen): Progress {
  const size = cursor.head();
  cursor.left = size;
  seen.version = cursor.pair();
  cursor.skip(32);
  cursor.skip(cursor.byte());
  cursor.skip(cursor.pair());
  cursor.skip(cursor.byte());
  if (cursor.left > 0) {
    cursor.pair();
  }
  return { at: cursor.at, left: cursor.left, named: false, listed: false };
}

function readExtension(cursor: Cursor, progress: Progress, seen: Seen): void {
  const [kind, length] = cursor.pairs();
  if (kind === EXTENSION.SERVER_NAME && !progress.named) {
    readServerName(cursor, seen);
    progress.named = true;
  } else if (kind === EXTENSION.ALPN && !progress.listed) {
    readAlpn(cursor, seen);
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
  const [type, size] = cursor.byteAndPair();
  if (type !== 0 || list < 3 + size) {
    throw NONE;
  }
  seen.serverName = cursor.text(size);
  cursor.skip(list - 3 - size);
}

function readAlpn(cursor: Cursor, seen: Seen): void {
  let left = cursor.pair();
  let names = '';
  do {
    const size = cursor.byte();
    if (size === 0 || left < 1 + size) {
      throw NONE;
    }
    left -= 1 + size;
    names += `${cursor.text(size)}${left > 0 ? ',' : ''}`;
    seen.alpn = names;
  } while (left > 0);
}
