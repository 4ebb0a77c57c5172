// TLS 1.3 for QUIC by OpenSSL 3.5's own interface for that: messages come and go without records, and secrets are handed over. Contexts are
// QUIC's own: one that has served Node's ciphers has callbacks that take a connection of ours for one of theirs.
import { X509Certificate } from 'node:crypto';
import type { Region } from '../../../shared/net/uring/memory.js';
import { EMPTY } from '../../bytes/empty.js';
import { keepBytes } from '../../bytes/keep.js';
import type { CipherState } from '../tls-binding.js';
import { quicCalls, quicMemory, type SslCalls } from './quic-library.js';

/** OSSL_RECORD_PROTECTION_LEVEL. */
export const Level = { INITIAL: 0, EARLY: 1, HANDSHAKE: 2, APPLICATION: 3 } as const;

/** Who runs a handshake. What its methods throw ends the handshake, and is thrown by {@link QuicHandshake.receive}. */
export interface HandshakeUser {
  /** The secret of a level in one direction. `suite`: its number. */
  secret(level: number, forSending: boolean, suite: number, secret: Buffer): void;
  /** A message, or a part of it, is to leave at a level. */
  message(level: number, bytes: Buffer): void;
  /** The transport parameters of the client. */
  peerParameters(bytes: Buffer): void;
  /** The handshake failed, with this alert. */
  alert(code: number): void;
}

/** Where sessions are kept, in DER and by what tickets say, which is their id. */
export interface QuicSessions {
  get(id: Buffer): Buffer | undefined;
  put(id: Buffer, session: Buffer): void;
}

/** What a server's handshake is to be like. */
export interface QuicHandshakeSettings {
  /** The address of an SSL_CTX that is QUIC's own, and prepared by {@link prepareQuicContext}. It stays while the handshake does. */
  readonly context: number;
  /** What ALPN chooses; empty: none fits, and the handshake fails. */
  readonly protocol: string;
  /** The client is asked for a certificate. */
  readonly verify: boolean;
  readonly verifyDepth: number;
  readonly earlyData: boolean;
  /** The name in the client's hello. */
  readonly serverName: string | undefined;
  /** DER of an OCSP response that goes with the certificate. */
  readonly staple: Buffer | undefined;
  /** Tickets name sessions there, where they are not sessions themselves; the context was prepared for that. */
  readonly sessions: QuicSessions | undefined;
}

const WANT_READ = 2;
/** More than a message that comes, which the sender bounds, and more than a secret or an OCSP response. */
const INPUT = 128 * 1024;
const [PARAMETERS, PROTOCOL, WORD, TABLE, OTHER] = [0, 1024, 1280, 1536, 2048];
const COPIED = 64 * 1024;
/** SSL_OP_NO_ANTI_REPLAY: without it, tickets name sessions in a cache, which Node's contexts do not have. */
const NO_ANTI_REPLAY = 2 ** 24;
/** OpenSSL takes no other bound for QUIC. */
const MAX_EARLY = 0xffffffff;
const [VERIFY_NONE, VERIFY_PEER] = [0, 1];
const [ALERT_FATAL, TAKEN] = [2, 0];
const [CTRL_SET_STATUS_CB, CTRL_SET_OCSP_RESPONSE] = [63, 71];
const EARLY_ACCEPTED = 2;
/** SSL_MAX_SSL_SESSION_ID_LENGTH. */
const LONGEST_ID = 32;

interface Bound {
  readonly ssl: SslCalls;
  readonly input: Region;
  readonly other: Region;
  readonly copied: Region;
  /** The ID of a session of OpenSSL's. */
  readonly idOf: (session: number) => Buffer | undefined;
  readonly alpn: unknown;
  readonly verify: unknown;
  readonly status: unknown;
  readonly newSession: unknown;
  readonly findSession: unknown;
}

let bound: Bound | undefined;
/** Whose handshake is on the stack. */
let current: QuicHandshake | undefined;

/** What is done in OpenSSL's callbacks may not throw: it is kept, and thrown when OpenSSL has returned. */
function guarded(work: (handshake: QuicHandshake) => void): number {
  const handshake = current;
  if (handshake === undefined) {
    return 0;
  }
  try {
    work(handshake);
    return 1;
  } catch (error) {
    handshake.thrown ??= error;
    return 0;
  }
}

function bind(): Bound {
  if (bound !== undefined) {
    return bound;
  }
  const { ssl, library } = quicCalls();
  const [input, other, copied] = [quicMemory(INPUT), quicMemory(OTHER), quicMemory(COPIED)];
  const { callback } = library;
  const poke = (at: number, value: number): void => {
    other.bytes.writeBigUInt64LE(BigInt(value), WORD);
    ssl.copy(at, other.address(WORD, 8), 8);
  };
  const look = (at: number, length: number): Buffer => {
    if (length > 0) {
      ssl.copy(copied.address(0, length), at, length);
    }
    return copied.bytes.subarray(0, length);
  };
  const peek = (at: number, length: number): Buffer => Buffer.from(look(at, length));
  const idOf = (session: number): Buffer | undefined => {
    const length = new Uint32Array(1);
    const at = ssl.sessionId(session, length);
    return at === 0 ? undefined : peek(at, Math.min(LONGEST_ID, length[0]!));
  };
  const callbacks: readonly (readonly [number, unknown])[] = [
    [
      2001,
      callback('int SluiceQuicSend(intptr_t, intptr_t, size_t, intptr_t, intptr_t)', (_ssl, at, length, consumed) =>
        guarded((handshake) => {
          for (let done = 0; done < length!; ) {
            const part = Math.min(COPIED, length! - done);
            handshake.user.message(handshake.writeLevel, peek(at! + done, part));
            done += part;
          }
          poke(consumed!, length!);
        }),
      ),
    ],
    [
      2002,
      callback('int SluiceQuicReceive(intptr_t, intptr_t, intptr_t, intptr_t)', (_ssl, at, length) =>
        guarded((handshake) => {
          poke(at!, input.address(0, INPUT));
          // What came at one level is no message of the next one.
          poke(length!, handshake.readLevel === handshake.inputLevel ? handshake.offered : 0);
        }),
      ),
    ],
    [
      2003,
      callback('int SluiceQuicRelease(intptr_t, size_t, intptr_t)', (_ssl, length) =>
        guarded((handshake) => {
          if (length! > handshake.offered) {
            throw new Error('OpenSSL has read more than there is');
          }
          handshake.offered -= length!;
          input.bytes.copyWithin(0, length!, length! + handshake.offered);
        }),
      ),
    ],
    [
      2004,
      callback('int SluiceQuicSecret(intptr_t, uint32_t, int, intptr_t, size_t, intptr_t)', (_ssl, level, sends, at, length) =>
        guarded((handshake) => {
          const secret = peek(at!, length!);
          handshake.secret(level!, sends !== 0, secret);
          // Who makes keys of it has a copy.
          secret.fill(0);
        }),
      ),
    ],
    [
      2005,
      callback('int SluiceQuicParameters(intptr_t, intptr_t, size_t, intptr_t)', (_ssl, at, length) =>
        guarded((handshake) => handshake.user.peerParameters(peek(at!, length!))),
      ),
    ],
    [
      2006,
      callback('int SluiceQuicAlert(intptr_t, uint8_t, intptr_t)', (_ssl, code) => guarded((handshake) => handshake.user.alert(code!))),
    ],
  ];
  for (const [i, [id, address]] of callbacks.entries()) {
    other.bytes.writeInt32LE(id, TABLE + i * 16);
    other.bytes.writeBigUInt64LE(BigInt(address as bigint), TABLE + i * 16 + 8);
  }
  const alpn = callback('int SluiceQuicAlpn(intptr_t, intptr_t, intptr_t, intptr_t, unsigned int, intptr_t)', (_ssl, at, length) => {
    const protocol = current?.settings.protocol ?? '';
    if (protocol === '') {
      return ALERT_FATAL;
    }
    const size = other.bytes.write(protocol, PROTOCOL, 'latin1');
    poke(at!, other.address(PROTOCOL, size));
    other.bytes[WORD] = size;
    ssl.copy(length!, other.address(WORD, 1), 1);
    return TAKEN;
  });
  // Whether a certificate is trusted is asked for after the handshake.
  const verify = callback('int SluiceQuicVerify(int, intptr_t)', () => 1);
  const status = callback('int SluiceQuicStatus(intptr_t, intptr_t)', () => (current?.settings.staple === undefined ? 3 : TAKEN));
  // Nobody holds a session beside OpenSSL: what is kept is its DER.
  const newSession = callback('int SluiceQuicNewSession(intptr_t, intptr_t)', (_ssl, session) => {
    guarded(({ settings: { sessions } }) => {
      const id = idOf(session!);
      const der = encoded(copied, ssl, (into) => ssl.encodeSession(session, into));
      if (sessions !== undefined && id !== undefined && der !== undefined) {
        sessions.put(id, der);
      }
    });
    return 0;
  });
  const findSession = callback('intptr_t SluiceQuicFindSession(intptr_t, intptr_t, int, intptr_t)', (_ssl, at, length, copies) => {
    let found = 0;
    guarded(({ settings: { sessions } }) => {
      // OpenSSL need not count another holder of it.
      other.bytes.writeInt32LE(0, WORD);
      ssl.copy(copies!, other.address(WORD, 4), 4);
      const der = length! > 0 && length! <= LONGEST_ID ? sessions?.get(peek(at!, length!)) : undefined;
      if (der !== undefined && der.length > 0 && der.length <= COPIED) {
        copied.bytes.set(der);
        found = ssl.decodeSession(0, new BigUint64Array([BigInt(copied.address(0, der.length))]), der.length);
      }
    });
    return found;
  });
  bound = { ssl, input, other, copied, idOf, alpn, verify, status, newSession, findSession };
  return bound;
}

/**
 * Makes a context fit for QUIC, once, before its first handshake. `early`: its tickets allow early data; `sessions`: tickets name sessions
 * that {@link QuicHandshakeSettings.sessions} keeps.
 */
export function prepareQuicContext(context: number, early: boolean, sessions = false): void {
  const { ssl, alpn, status, newSession, findSession } = bind();
  if (sessions) {
    ssl.setNewSession(context, newSession);
    ssl.setFindSession(context, findSession);
  }
  ssl.setContextOptions(context, NO_ANTI_REPLAY);
  ssl.setMaxEarly(context, early ? MAX_EARLY : 0);
  ssl.setAlpnCallback(context, alpn, 0);
  ssl.contextCallbackControl(context, CTRL_SET_STATUS_CB, status);
}

/** Why a certificate is not trusted, in OpenSSL's words and by its number. */
interface VerifyError extends Error {
  code: string;
  number: number;
}

/** What is kept of a handshake when OpenSSL's part is gone. */
interface Kept {
  readonly cipher: number;
  /** A character for a byte. */
  readonly sessionId: string | undefined;
  readonly reused: boolean;
  readonly verifyResult: number;
  /** DER of the client's certificate. */
  readonly certificate: Buffer | undefined;
}

/** A server's handshake, and what was agreed in it. */
export class QuicHandshake implements CipherState {
  readonly user: HandshakeUser;
  readonly settings: QuicHandshakeSettings;
  #parameters: Buffer;
  #ssl: number;
  /** The level of the messages that leave. */
  writeLevel: number = Level.INITIAL;
  /** The level of the messages that are read. */
  readLevel: number = Level.INITIAL;
  /** How many bytes of the input wait for OpenSSL, and the level at which they came. */
  offered = 0;
  inputLevel: number = Level.INITIAL;
  /** What was thrown in a callback. */
  thrown: unknown = undefined;
  /** The handshake is over. */
  done = false;
  #certificate: X509Certificate | null | undefined = undefined;
  #kept: Kept | undefined = undefined;

  /** `parameters`: the server's transport parameters. */
  constructor(settings: QuicHandshakeSettings, user: HandshakeUser, parameters: Buffer) {
    const { ssl, other, verify } = bind();
    if (parameters.length > PROTOCOL) {
      throw new Error('too many transport parameters');
    }
    this.user = user;
    this.settings = settings;
    this.#parameters = parameters;
    this.#ssl = ssl.create(settings.context);
    if (this.#ssl === 0) {
      throw new Error('SSL_new() failed');
    }
    if (ssl.setCallbacks(this.#ssl, other.address(TABLE, 96 + 16), 0) !== 1) {
      ssl.free(this.#ssl);
      this.#ssl = 0;
      throw new Error('SSL_set_quic_tls_cbs() failed');
    }
    ssl.enableEarly(this.#ssl, settings.earlyData ? 1 : 0);
    ssl.setVerify(this.#ssl, settings.verify ? VERIFY_PEER : VERIFY_NONE, settings.verify ? verify : 0);
    ssl.setVerifyDepth(this.#ssl, settings.verifyDepth);
    ssl.acceptState(this.#ssl);
  }

  /**
   * Gives a level's next bytes to OpenSSL. Returns false when the handshake has failed, of which the user was told by an alert, or when
   * something follows the last message of a level. Throws what the user has thrown.
   */
  receive(level: number, bytes: Uint8Array): boolean {
    const { ssl, input, other } = bind();
    if (bytes.length > INPUT || level !== this.readLevel) {
      return false;
    }
    const before = current;
    current = this;
    try {
      input.bytes.set(bytes);
      this.inputLevel = level;
      this.offered = bytes.length;
      other.bytes.set(this.#parameters, PARAMETERS);
      ssl.setParameters(this.#ssl, other.address(PARAMETERS, this.#parameters.length), this.#parameters.length);
      this.#staple(ssl);
      ssl.clearErrors();
      const result = ssl.handshake(this.#ssl);
      if (this.thrown !== undefined) {
        throw this.thrown;
      }
      this.done = result === 1 && ssl.isFinished(this.#ssl) === 1;
      if (this.done && this.settings.sessions === undefined && this.isSessionReused() && ssl.newTicket(this.#ssl) === 1) {
        // OpenSSL gives a client whose ticket it has opened by itself no other one.
        ssl.handshake(this.#ssl);
      }
      return (result === 1 || ssl.error(this.#ssl, result) === WANT_READ) && this.offered === 0;
    } finally {
      current = before;
      this.offered = 0;
    }
  }

  #staple(ssl: SslCalls): void {
    const { staple } = this.settings;
    if (staple !== undefined && this.writeLevel === Level.INITIAL) {
      setStaple(ssl, this.#ssl, staple);
    }
  }

  secret(level: number, forSending: boolean, secret: Buffer): void {
    const { ssl } = bind();
    if (forSending) {
      this.writeLevel = level;
    } else if (level !== Level.EARLY) {
      this.readLevel = level;
    }
    const session = ssl.session(this.#ssl);
    const cipher = ssl.currentCipher(this.#ssl) || ssl.pendingCipher(this.#ssl) || (session === 0 ? 0 : ssl.sessionCipher(session));
    this.user.secret(level, forSending, cipher === 0 ? 0 : ssl.cipherId(cipher) & 0xffff, secret);
  }

  /** What OpenSSL says first of what went wrong. */
  firstError(): string {
    const { ssl } = bind();
    const code = ssl.nextError();
    if (code === 0) {
      return '';
    }
    const text = Buffer.alloc(256);
    ssl.describeError(code, text, text.length);
    return text.toString('latin1', 0, text.indexOf(0));
  }

  /** The client's early data was taken. */
  get tookEarly(): boolean {
    return this.#ssl !== 0 && bind().ssl.earlyStatus(this.#ssl) === EARLY_ACCEPTED;
  }

  // ---------------------------------------------------------------- what was agreed

  getProtocol(): string | null {
    return this.#ssl === 0 && this.#kept === undefined ? null : 'TLSv1.3';
  }

  getCipher(): { readonly name: string } | undefined {
    const cipher = this.#kept?.cipher ?? this.#cipher();
    return cipher === 0 ? undefined : { name: CIPHER_NAMES[cipher] ?? '' };
  }

  #cipher(): number {
    if (this.#ssl === 0) {
      return 0;
    }
    const { ssl } = bind();
    const cipher = ssl.currentCipher(this.#ssl);
    return cipher === 0 ? 0 : ssl.cipherId(cipher) & 0xffff;
  }

  sessionId(): Buffer | undefined {
    if (this.#ssl === 0) {
      const id = this.#kept?.sessionId;
      return id === undefined ? undefined : Buffer.from(id, 'latin1');
    }
    const { ssl, idOf } = bind();
    const session = ssl.session(this.#ssl);
    return session === 0 ? undefined : idOf(session);
  }

  isSessionReused(): boolean {
    return this.#kept?.reused ?? (this.#ssl !== 0 && bind().ssl.sessionReused(this.#ssl) === 1);
  }

  getALPNNegotiatedProtocol(): string | false {
    return this.settings.protocol || false;
  }

  getServername(): string | false {
    return this.settings.serverName ?? false;
  }

  verifyError(): VerifyError | null {
    if ((this.#ssl === 0 && this.#kept === undefined) || !this.settings.verify) {
      return null;
    }
    const result = this.#kept?.verifyResult ?? bind().ssl.verifyResult(this.#ssl);
    const text = result === 0 ? '' : String(bind().ssl.verifyText(result));
    return result === 0 ? null : Object.assign(new Error(text), { code: '', number: result });
  }

  /** The client's certificate; undefined when it sent none. */
  certificate(): X509Certificate | undefined {
    if (this.#certificate === undefined) {
      const der = this.#ssl === 0 ? this.#kept?.certificate : this.#readCertificate();
      this.#certificate = der === undefined ? null : new X509Certificate(der);
    }
    return this.#certificate ?? undefined;
  }

  #readCertificate(): Buffer | undefined {
    const { ssl, copied } = bind();
    const x509 = ssl.peerCertificate(this.#ssl);
    if (x509 === 0) {
      return undefined;
    }
    const der = encoded(copied, ssl, (into) => ssl.encodeCertificate(x509, into));
    ssl.freeCertificate(x509);
    return der;
  }

  /** Frees OpenSSL's part of a handshake that is over, which is most of the memory of an idle connection, and keeps what was agreed. */
  settle(): void {
    if (this.#ssl !== 0 && current !== this) {
      const { ssl } = bind();
      this.#kept = {
        cipher: this.#cipher(),
        sessionId: this.sessionId()?.toString('latin1'),
        reused: this.isSessionReused(),
        verifyResult: this.settings.verify ? ssl.verifyResult(this.#ssl) : 0,
        certificate: this.settings.verify ? this.#readCertificate() : undefined,
      };
      this.#release();
    }
  }

  /** Frees OpenSSL's part; afterwards nothing is known any more. */
  free(): void {
    this.#kept = undefined;
    this.#release();
  }

  #release(): void {
    if (this.#ssl !== 0 && current !== this) {
      bind().ssl.free(this.#ssl);
      this.#ssl = 0;
      this.#parameters = EMPTY;
    }
  }
}

const CIPHER_NAMES: Readonly<Record<number, string>> = {
  4865: 'TLS_AES_128_GCM_SHA256',
  4866: 'TLS_AES_256_GCM_SHA384',
  4867: 'TLS_CHACHA20_POLY1305_SHA256',
};

/** What an i2d function writes, which is asked for its length first; undefined for what is too long. */
function encoded(copied: Region, _ssl: SslCalls, encode: (into: BigUint64Array | null) => number): Buffer | undefined {
  const length = encode(null);
  if (length <= 0 || length > COPIED) {
    return undefined;
  }
  const pointer = new BigUint64Array([BigInt(copied.address(0, length))]);
  return encode(pointer) === length ? keepBytes(copied.bytes.subarray(0, length)) : undefined;
}

/** SSL_set_tlsext_status_ocsp_resp: OpenSSL frees the memory itself, so that it must be OpenSSL's. */
function setStaple(ssl: SslCalls, connection: number, staple: Buffer): void {
  const { copied } = bind();
  const memory = staple.length > COPIED ? 0 : ssl.allocate(staple.length, '', 0);
  if (memory === 0) {
    return;
  }
  copied.bytes.set(staple);
  ssl.copy(memory, copied.address(0, staple.length), staple.length);
  ssl.control(connection, CTRL_SET_OCSP_RESPONSE, staple.length, memory);
}
