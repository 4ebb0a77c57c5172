/** What is read from a client's first message before the handshake runs, so that the server is known when it starts. */
export interface ClientHello {
  /** The name in the server name extension, in lower case as sent; undefined when there was none. */
  readonly serverName: string | undefined;
  /** Session id of the message; in TLS 1.3 it says nothing. Empty when there is none. */
  readonly sessionId: Buffer;
  /** Identities of pre-shared keys: tickets or session ids of TLS 1.3. */
  readonly identities: readonly Buffer[];
  readonly ciphers: readonly number[];
  readonly groups: readonly number[];
  /** Groups for which the client sent a key right away. */
  readonly keyShares: readonly number[];
  readonly signatureAlgorithms: readonly number[];
}

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
/** Longer messages are left to the handshake itself. */
const MAX_HELLO = 64 * 1024;

const EXT = { SERVER_NAME: 0, GROUPS: 10, SIGNATURE_ALGORITHMS: 13, PRE_SHARED_KEY: 41, KEY_SHARE: 51 } as const;

/** Reads over the bytes of a message; every read past the end throws {@link Short}. */
class Reader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  number(size: number): number {
    if (this.left < size) throw new Short();
    const value = this.#bytes.readUIntBE(this.#at, size);
    this.#at += size;
    return value;
  }

  take(size: number): Buffer {
    if (this.left < size) throw new Short();
    const part = this.#bytes.subarray(this.#at, this.#at + size);
    this.#at += size;
    return part;
  }

  /** What follows under a length of `size` bytes. */
  vector(size: number): Reader {
    return new Reader(this.take(this.number(size)));
  }

  numbers(size: number): number[] {
    const all: number[] = [];
    while (this.left >= size) all.push(this.number(size));
    return all;
  }
}

class Short extends Error {}

/**
 * Reads a hello from the first bytes of a connection. Returns `more` when the message is not complete yet and `unknown` when the bytes
 * are something else or malformed: the handshake itself will say what is wrong with them.
 */
export function readClientHello(bytes: Buffer): ClientHello | 'more' | 'unknown' {
  const message = handshakeMessage(bytes);
  if (typeof message === 'string') return message;
  try {
    return parseHello(message);
  } catch (error) {
    if (error instanceof Short) return 'unknown';
    throw error;
  }
}

/** Puts the message together from its records. */
function handshakeMessage(bytes: Buffer): Buffer | 'more' | 'unknown' {
  const parts: Buffer[] = [];
  let length = 0;
  let wanted = -1;
  for (let at = 0; ; ) {
    if (at < bytes.length && bytes[at] !== HANDSHAKE) return 'unknown';
    if (bytes.length - at < 5) return 'more';
    const size = bytes.readUInt16BE(at + 3);
    if (size === 0) return 'unknown';
    if (bytes.length - at - 5 < size) return size > MAX_HELLO ? 'unknown' : 'more';
    const part = bytes.subarray(at + 5, at + 5 + size);
    parts.push(part);
    length += size;
    at += 5 + size;
    if (wanted === -1 && length >= 4) {
      const head = parts.length === 1 ? part : Buffer.concat(parts);
      if (head[0] !== CLIENT_HELLO) return 'unknown';
      wanted = 4 + head.readUIntBE(1, 3);
      if (wanted > MAX_HELLO) return 'unknown';
    }
    if (wanted !== -1 && length >= wanted) return parts.length === 1 ? part : Buffer.concat(parts);
  }
}

function parseHello(message: Buffer): ClientHello {
  const outer = new Reader(message);
  outer.number(1);
  const hello = outer.vector(3);
  hello.take(34);
  const session = hello.vector(1);
  const sessionId = session.take(session.left);
  const ciphers = hello.vector(2).numbers(2);
  hello.vector(1);
  let serverName: string | undefined;
  let identities: Buffer[] = [];
  let groups: readonly number[] = [];
  let keyShares: readonly number[] = [];
  let signatureAlgorithms: readonly number[] = [];
  const extensions = hello.left > 0 ? hello.vector(2) : undefined;
  while (extensions !== undefined && extensions.left > 0) {
    const type = extensions.number(2);
    const body = extensions.vector(2);
    if (type === EXT.SERVER_NAME && body.left > 0) serverName = readServerName(body.vector(2));
    else if (type === EXT.GROUPS) groups = body.vector(2).numbers(2);
    else if (type === EXT.SIGNATURE_ALGORITHMS) signatureAlgorithms = body.vector(2).numbers(2);
    else if (type === EXT.KEY_SHARE) keyShares = readKeyShares(body.vector(2));
    else if (type === EXT.PRE_SHARED_KEY) identities = readIdentities(body.vector(2));
  }
  return { serverName, sessionId, identities, ciphers, groups, keyShares, signatureAlgorithms };
}

function readServerName(list: Reader): string | undefined {
  while (list.left > 0) {
    const type = list.number(1);
    const name = list.vector(2);
    if (type === 0) return name.take(name.left).toString('latin1');
  }
  return undefined;
}

function readKeyShares(list: Reader): number[] {
  const groups: number[] = [];
  while (list.left > 0) {
    groups.push(list.number(2));
    list.vector(2);
  }
  return groups;
}

function readIdentities(list: Reader): Buffer[] {
  const identities: Buffer[] = [];
  while (list.left > 0) {
    const identity = list.vector(2);
    identities.push(identity.take(identity.left));
    list.take(4);
  }
  return identities;
}
