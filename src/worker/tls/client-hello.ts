import { latin1 } from '../bytes/latin1.js';
import { HelloProgress } from '../task/tls-terminator.js';

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_HEAD = 5;
/** The type of a message, and its length. */
const MESSAGE_HEAD = 4;
/** Longer messages are left to the handshake itself. */
const MAX_HELLO = 64 * 1024;
const TLS_1_3 = 0x0304;
/** OpenSSL's SSL_MAX_SSL_SESSION_ID_LENGTH. */
const MAX_SESSION_ID = 32;
/** The name of its key begins each ticket. */
const KEY_NAME = 16;
const OCSP = 1;

const EXT = {
  SERVER_NAME: 0,
  STATUS: 5,
  GROUPS: 10,
  SIGNATURE_ALGORITHMS: 13,
  ALPN: 16,
  PRE_SHARED_KEY: 41,
  EARLY_DATA: 42,
  VERSIONS: 43,
  KEY_SHARE: 51,
} as const;

/**
 * What a client says first, read before the handshake runs, so that the server is known when it starts. What few configurations ask for is
 * read when they do. What is malformed inside ends a list early: the handshake itself will say what is wrong with it.
 */
export class ClientHello {
  /** The name in the server name extension, in lower case as sent; undefined when there was none. */
  readonly serverName: string | undefined;
  /** The client speaks TLS 1.3. */
  readonly tls13: boolean;
  /** The client asks for the status of the server's certificate. */
  readonly wantsStatus: boolean;
  /** Early data follows. */
  readonly earlyData: boolean;
  /** The name of the key of the first ticket of TLS 1.3, a character for a byte; empty when there is none. */
  readonly ticketKey: string;
  // Lists of the message, a character for a byte. The message itself, of which keys and tickets are most, is not kept.
  readonly #session: string;
  readonly #ciphers: string;
  readonly #groups: string;
  readonly #signatures: string;
  readonly #shares: string;
  readonly #identities: readonly string[];
  readonly #protocols: string;

  /** Takes a whole message; throws {@link Short} when that is not a hello's form. */
  constructor(message: Buffer) {
    const end = message.length;
    let at = 38;
    this.#session = vector(message, at, 1);
    at = after(message, at, 1, end);
    this.#ciphers = alike('ciphers', vector(message, at, 2));
    at = after(message, at, 2, end);
    at = after(message, at, 1, end);
    let serverName: string | undefined;
    let tls13 = false;
    let wantsStatus = false;
    let earlyData = false;
    let groupsAt = 0;
    let signaturesAt = 0;
    let sharesAt = 0;
    let identitiesAt = 0;
    let protocolsAt = 0;
    if (at < end) {
      const last = after(message, at, 2, end);
      at += 2;
      while (at < last) {
        const next = after(message, at + 2, 2, last);
        const body = at + 4;
        switch (number(message, at, 2, last)) {
          case EXT.SERVER_NAME:
            if (body < next) {
              serverName = readServerName(message, body, next);
            }
            break;
          case EXT.STATUS:
            wantsStatus = message[body] === OCSP && body < next;
            break;
          case EXT.GROUPS:
            groupsAt = body;
            break;
          case EXT.SIGNATURE_ALGORITHMS:
            signaturesAt = body;
            break;
          case EXT.ALPN:
            protocolsAt = body;
            break;
          case EXT.PRE_SHARED_KEY:
            identitiesAt = body;
            break;
          case EXT.EARLY_DATA:
            earlyData = true;
            break;
          case EXT.VERSIONS:
            tls13 = offers13(message, body, next);
            break;
          case EXT.KEY_SHARE:
            sharesAt = body;
            break;
        }
        at = next;
      }
    }
    this.serverName = serverName;
    this.tls13 = tls13;
    this.wantsStatus = wantsStatus;
    this.earlyData = earlyData;
    this.#groups = alike('groups', vector(message, groupsAt, 2));
    this.#signatures = alike('signatures', vector(message, signaturesAt, 2));
    this.#shares = alike('shares', sharedGroups(vector(message, sharesAt, 2)));
    const identities = vector(message, identitiesAt, 2);
    this.#identities = identities === '' ? NONE : sessionIds(identities);
    this.ticketKey = identities === '' ? '' : keyName(identities);
    this.#protocols = alike('protocols', vector(message, protocolsAt, 2));
  }

  /** Session id of the message; in TLS 1.3 it says nothing. Empty when there is none. */
  get sessionId(): Buffer {
    return Buffer.from(this.#session, 'latin1');
  }

  /** Identities of pre-shared keys that are of the length of a session's id: others are tickets. */
  get identities(): readonly Buffer[] {
    return this.#identities.map((id) => Buffer.from(id, 'latin1'));
  }

  get ciphers(): readonly number[] {
    return pairs(this.#ciphers);
  }

  get groups(): readonly number[] {
    return pairs(this.#groups);
  }

  /** Groups for which the client sent a key right away. */
  get keyShares(): readonly number[] {
    return pairs(this.#shares);
  }

  /** Names of protocols that the client speaks (ALPN). */
  get protocols(): readonly string[] {
    const names: string[] = [];
    const list = this.#protocols;
    for (let at = 0; at < list.length; ) {
      const size = list.charCodeAt(at);
      names.push(list.slice(at + 1, at + 1 + size));
      at += 1 + size;
    }
    return names;
  }

  get signatureAlgorithms(): readonly number[] {
    return pairs(this.#signatures);
  }
}

const NONE: readonly string[] = [];

/** Lists of the hellos that were read last. Most clients say the same, so that connections share the memory of theirs. */
const latest = { ciphers: '', groups: '', signatures: '', shares: '', protocols: '' };

/** The list of that name in place of its text, if they are equal. */
function alike(name: keyof typeof latest, text: string): string {
  if (text !== latest[name]) {
    latest[name] = text;
  }
  return latest[name];
}

/** What stands there under a length of `size` bytes, as far as it came; nothing at 0. */
function vector(message: Buffer, at: number, size: number): string {
  if (at === 0 || at + size > message.length) {
    return '';
  }
  const length = size === 1 ? message[at]! : (message[at]! << 8) | message[at + 1]!;
  return latin1(message, at + size, Math.min(message.length, at + size + length));
}

/** The numbers of the groups in a list of keys. */
function sharedGroups(list: string): string {
  let groups = '';
  for (let at = 0; at + 4 <= list.length; at += 4 + pair(list, at + 2)) {
    groups += String.fromCharCode(list.charCodeAt(at), list.charCodeAt(at + 1));
  }
  return groups;
}

/** The identities of a list of pre-shared keys that may name sessions. */
function sessionIds(list: string): readonly string[] {
  const all: string[] = [];
  for (let at = 0; at + 2 < list.length; ) {
    const size = pair(list, at);
    if (size <= MAX_SESSION_ID) {
      all.push(copied(list, at + 2, size));
    }
    at += 2 + size + 4;
  }
  return all;
}

/** The name of the key of the first identity, where that is a ticket. */
function keyName(list: string): string {
  return list.length >= 2 + KEY_NAME && pair(list, 0) > MAX_SESSION_ID ? copied(list, 2, KEY_NAME) : '';
}

/** A copy of a part, which by itself would keep all of the list. */
const copied = (list: string, at: number, length: number): string => Buffer.from(list.slice(at, at + length), 'latin1').toString('latin1');

/** The bytes end before the message does. */
class Short extends Error {}

const pair = (text: string, at: number): number => (text.charCodeAt(at) << 8) | text.charCodeAt(at + 1);

function pairs(list: string): number[] {
  const all: number[] = [];
  for (let at = 0; at + 2 <= list.length; at += 2) {
    all.push(pair(list, at));
  }
  return all;
}

/** A number of one or two bytes. */
function number(bytes: Buffer, at: number, size: number, end: number): number {
  if (at + size > end) {
    throw new Short();
  }
  return size === 1 ? bytes[at]! : (bytes[at]! << 8) | bytes[at + 1]!;
}

/** Where what stands there under a length of `size` bytes ends. */
function after(bytes: Buffer, at: number, size: number, end: number): number {
  const next = at + size + number(bytes, at, size, end);
  if (next > end) {
    throw new Short();
  }
  return next;
}

function readServerName(bytes: Buffer, at: number, end: number): string | undefined {
  const last = after(bytes, at, 2, end);
  at += 2;
  while (at < last) {
    const next = after(bytes, at + 1, 2, last);
    if (bytes[at] === 0) {
      return latin1(bytes, at + 3, next);
    }
    at = next;
  }
  return undefined;
}

function offers13(bytes: Buffer, at: number, end: number): boolean {
  const last = after(bytes, at, 1, end);
  for (at++; at + 2 <= last; at += 2) {
    if (number(bytes, at, 2, last) === TLS_1_3) {
      return true;
    }
  }
  return false;
}

/**
 * Reads a hello from the first bytes of a connection. Returns `more` when the message is not complete yet and `unknown` when the bytes
 * are something else or malformed: the handshake itself will say what is wrong with them. `progress`: that of the connection, where it was
 * asked before, with fewer bytes.
 */
export function readClientHello(bytes: Buffer, progress: HelloProgress = new HelloProgress()): ClientHello | 'more' | 'unknown' {
  const message = handshakeMessage(bytes, progress);
  return typeof message === 'string' ? message : (readHelloMessage(message) ?? 'unknown');
}

/** Reads a hello that came without records; undefined for one that is malformed. */
export function readHelloMessage(message: Buffer): ClientHello | undefined {
  try {
    return new ClientHello(message);
  } catch (error) {
    if (error instanceof Short) {
      return undefined;
    }
    throw error;
  }
}

/** Goes on through the records; puts the message together once they are there. */
function handshakeMessage(bytes: Buffer, progress: HelloProgress): Buffer | 'more' | 'unknown' {
  for (;;) {
    const { at } = progress;
    if (at < bytes.length && bytes[at] !== HANDSHAKE) {
      return 'unknown';
    }
    if (bytes.length - at < RECORD_HEAD) {
      return 'more';
    }
    const size = (bytes[at + 3]! << 8) | bytes[at + 4]!;
    if (size === 0) {
      return 'unknown';
    }
    if (bytes.length - at - RECORD_HEAD < size) {
      return 'more';
    }
    progress.length += size;
    progress.at = at + RECORD_HEAD + size;
    if (progress.wanted === -1 && progress.length >= MESSAGE_HEAD) {
      const head = joined(bytes, MESSAGE_HEAD);
      if (head[0] !== CLIENT_HELLO) {
        return 'unknown';
      }
      progress.wanted = MESSAGE_HEAD + ((head[1]! << 16) | (head[2]! << 8) | head[3]!);
      if (progress.wanted > MAX_HELLO) {
        return 'unknown';
      }
    }
    if (progress.wanted !== -1 && progress.length >= progress.wanted) {
      return joined(bytes, progress.wanted);
    }
  }
}

/** The first `length` bytes in the records, all of which are whole. */
function joined(bytes: Buffer, length: number): Buffer {
  const first = (bytes[3]! << 8) | bytes[4]!;
  if (first >= length) {
    return bytes.subarray(RECORD_HEAD, RECORD_HEAD + length);
  }
  const message = Buffer.alloc(length);
  for (let at = 0, to = 0; to < length; ) {
    const size = (bytes[at + 3]! << 8) | bytes[at + 4]!;
    bytes.copy(message, to, at + RECORD_HEAD, at + RECORD_HEAD + Math.min(size, length - to));
    at += RECORD_HEAD + size;
    to += size;
  }
  return message;
}
