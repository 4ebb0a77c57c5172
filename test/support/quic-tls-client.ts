import { createSecureContext, type SecureContext } from 'node:tls';
import { contextAddress } from '../../src/worker/net/openssl/context-address.js';
import { quicCalls, quicMemory } from '../../src/worker/net/openssl/quic-library.js';

/** Who uses a {@link QuicTlsClient}. */
export interface QuicTlsUser {
  secret(level: number, forSending: boolean, suite: number, secret: Buffer): void;
  message(level: number, bytes: Buffer): void;
  peerParameters(bytes: Buffer): void;
}

const [WORD, PARAMETERS, TABLE] = [0, 64, 2048];
const INPUT = 65536;
const EARLY_ACCEPTED = 2;

let bound: ReturnType<typeof bind> | undefined;
let current: QuicTlsClient | undefined;

function bind() {
  const { ssl, library } = quicCalls();
  const [input, other, copied] = [quicMemory(INPUT), quicMemory(4096), quicMemory(INPUT)];
  const poke = (at: number, value: number): void => {
    other.bytes.writeBigUInt64LE(BigInt(value), WORD);
    ssl.copy(at, other.address(WORD, 8), 8);
  };
  const peek = (at: number, length: number): Buffer => {
    ssl.copy(copied.address(0, length), at, length);
    return Buffer.from(copied.bytes.subarray(0, length));
  };
  const { callback, find } = library;
  const callbacks = [
    callback('int TestQuicSend(intptr_t, intptr_t, size_t, intptr_t, intptr_t)', (_s, at, length, consumed) => {
      current!.user.message(current!.writeLevel, peek(at!, length!));
      poke(consumed!, length!);
      return 1;
    }),
    callback('int TestQuicReceive(intptr_t, intptr_t, intptr_t, intptr_t)', (_s, at, length) => {
      poke(at!, input.address(0, INPUT));
      poke(length!, current!.offered);
      return 1;
    }),
    callback('int TestQuicRelease(intptr_t, size_t, intptr_t)', (_s, length) => {
      current!.offered -= length!;
      input.bytes.copyWithin(0, length!, length! + current!.offered);
      return 1;
    }),
    callback('int TestQuicSecret(intptr_t, uint32_t, int, intptr_t, size_t, intptr_t)', (_s, level, sends, at, length) => {
      current!.secret(level!, sends !== 0, peek(at!, length!));
      return 1;
    }),
    callback('int TestQuicParameters(intptr_t, intptr_t, size_t, intptr_t)', (_s, at, length) => {
      current!.user.peerParameters(peek(at!, length!));
      return 1;
    }),
    callback('int TestQuicAlert(intptr_t, uint8_t, intptr_t)', (_s, code) => {
      current!.alert = code!;
      return 1;
    }),
  ];
  for (const [i, address] of callbacks.entries()) {
    other.bytes.writeInt32LE(2001 + i, TABLE + i * 16);
    other.bytes.writeBigUInt64LE(BigInt(address as bigint), TABLE + i * 16 + 8);
  }
  return {
    ssl,
    input,
    other,
    connectState: find('void SSL_set_connect_state(intptr_t)'),
    setProtocols: find('int SSL_set_alpn_protos(intptr_t, void *, unsigned int)'),
    setName: find('long SSL_ctrl(intptr_t, int, long, void *)'),
    read: find('int SSL_read(intptr_t, void *, int)'),
    newestSession: find('intptr_t SSL_get1_session(intptr_t)'),
    setSession: find('int SSL_set_session(intptr_t, intptr_t)'),
    setShutdown: find('void SSL_set_shutdown(intptr_t, int)'),
    mostEarly: find('uint32_t SSL_SESSION_get_max_early_data(intptr_t)'),
    // Node's contexts have a callback for sessions, which wants a socket of Node's.
    own: find('intptr_t SSL_CTX_new(intptr_t)')(find('intptr_t TLS_client_method()')()),
  };
}

/** A client's TLS for QUIC, which checks no certificate. */
export class QuicTlsClient {
  readonly user: QuicTlsUser;
  readonly #context: SecureContext | undefined;
  readonly #parameters: Buffer | undefined;
  #ssl: number;
  writeLevel = 0;
  offered = 0;
  alert = -1;
  done = false;

  /**
   * `parameters`: undefined leaves the extension out as far as OpenSSL lets it. `protocol`: empty for no ALPN. `session`: where it is told,
   * tickets are taken; one of another connection to the same server, or 0.
   */
  constructor(user: QuicTlsUser, protocol: string, serverName: string, parameters: Buffer | undefined, session?: number) {
    bound ??= bind();
    this.user = user;
    this.#context = session === undefined ? createSecureContext({ minVersion: 'TLSv1.3' }) : undefined;
    this.#parameters = parameters;
    const { ssl, other, connectState, setProtocols, setName } = bound;
    this.#ssl = ssl.create(this.#context === undefined ? bound.own : contextAddress(this.#context.context));
    ssl.setCallbacks(this.#ssl, other.address(TABLE, 112), 0);
    connectState(this.#ssl);
    if (protocol !== '') {
      const wire = Buffer.from([protocol.length, ...Buffer.from(protocol)]);
      setProtocols(this.#ssl, wire, wire.length);
    }
    setName(this.#ssl, 55, 0, Buffer.from(`${serverName}\0`));
    if (session !== undefined && session !== 0) {
      bound.setSession(this.#ssl, session);
      ssl.enableEarly(this.#ssl, 1);
    }
  }

  /** A session that lets another connection send early data; 0 while there is none. */
  get session(): number {
    const session = this.done ? bound!.newestSession(this.#ssl) : 0;
    return session !== 0 && bound!.mostEarly(session) > 0 ? session : 0;
  }

  /** Whether the server took early data. */
  get early(): boolean {
    return bound!.ssl.earlyStatus(this.#ssl) === EARLY_ACCEPTED;
  }

  receive(bytes: Buffer): boolean {
    const { ssl, input, other } = bound!;
    const before = current;
    current = this;
    try {
      input.bytes.set(bytes);
      this.offered = bytes.length;
      if (this.#parameters !== undefined) {
        other.bytes.set(this.#parameters, PARAMETERS);
        ssl.setParameters(this.#ssl, other.address(PARAMETERS, this.#parameters.length), this.#parameters.length);
      }
      ssl.clearErrors();
      // Tickets come behind the handshake.
      const result = this.done ? bound!.read(this.#ssl, Buffer.alloc(1), 0) : ssl.handshake(this.#ssl);
      this.done ||= result === 1 && ssl.isFinished(this.#ssl) === 1;
      return result === 1 || ssl.error(this.#ssl, result) === 2;
    } finally {
      current = before;
    }
  }

  secret(level: number, forSending: boolean, secret: Buffer): void {
    const { ssl } = bound!;
    if (forSending) {
      this.writeLevel = level;
    }
    const cipher = ssl.currentCipher(this.#ssl) || ssl.pendingCipher(this.#ssl);
    this.user.secret(level, forSending, ssl.cipherId(cipher) & 0xffff, secret);
  }

  free(): void {
    if (this.#ssl !== 0) {
      // Otherwise its session is good for nothing.
      bound!.setShutdown(this.#ssl, 1);
      bound!.ssl.free(this.#ssl);
      this.#ssl = 0;
    }
  }
}
