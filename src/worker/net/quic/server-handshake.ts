import { EMPTY } from '../../bytes/empty.js';
import { GrowingBytes } from '../../bytes/growing-bytes.js';
import { PacketKeys, suiteOf } from '../openssl/packet-keys.js';
import { type HandshakeUser, Level, QuicHandshake } from '../openssl/quic-handshake.js';
import { AgreedTls } from './agreed-tls.js';
import type { ServerConnection } from './connection.js';
import type { QuicConnectionHandler, QuicTls } from './contract.js';
import { ALERT, Alert, Code, TransportError } from './errors.js';
import type { QuicChoice, QuicClient } from './host.js';
import { APPLICATION, HANDSHAKE, INITIAL, type Space } from './space.js';
import { MAX_ACK_DELAY, type PeerParameters, readParameters, writeTransportParameters } from './transport-parameters.js';

/** No hello is longer, in bytes. */
const MOST_HELLO = 64 * 1024;
/** The largest datagram that is taken. */
const MAX_PAYLOAD = 65527;

/** The part of a connection that runs TLS (RFC 9001, 4): the server is chosen by the client's hello. */
export class ServerHandshake implements HandshakeUser {
  readonly #connection: ServerConnection;
  readonly #client: QuicClient;
  #tls: QuicHandshake | undefined = undefined;
  #choice: QuicChoice | undefined = undefined;
  /** What came of the hello: so many bytes of the memory. */
  #hello: GrowingBytes | undefined = undefined;
  #alert = -1;
  #agreed: QuicTls | undefined = undefined;
  /** What early data is read with. */
  earlyKeys: PacketKeys | undefined = undefined;
  /** What the client's transport parameters say; undefined before they came. */
  peer: PeerParameters | undefined = undefined;

  constructor(connection: ServerConnection, client: QuicClient) {
    this.#connection = connection;
    this.#client = client;
  }

  /** What ALPN chose; empty before. */
  get protocol(): string {
    return this.#tls?.settings.protocol ?? '';
  }

  /** TLS has no more to say. */
  get done(): boolean {
    return this.#tls?.done === true;
  }

  get agreed(): QuicTls {
    this.#agreed ??= new AgreedTls(this.#tls!, this.#connection);
    return this.#agreed;
  }

  /** The client's, in milliseconds. */
  get maxAckDelay(): number {
    return this.peer?.maxAckDelay ?? MAX_ACK_DELAY;
  }

  // ---------------------------------------------------------------- what TLS says

  secret(level: number, forSending: boolean, suite: number, secret: Buffer): void {
    const found = suiteOf(suite);
    if (found === undefined) {
      throw new TransportError(ALERT + Alert.HANDSHAKE_FAILURE, 'the cipher suite is none of QUIC');
    }
    const { spaces, version } = this.#connection;
    if (level === Level.EARLY) {
      if (!forSending) {
        this.earlyKeys?.free();
        this.earlyKeys = new PacketKeys(found, secret, false, version.prefix);
      }
      return;
    }
    const space = spaces[level === Level.HANDSHAKE ? HANDSHAKE : APPLICATION]!;
    const keys = new PacketKeys(found, secret, forSending, version.prefix, space.index === APPLICATION);
    if (forSending) {
      space.writeKeys = keys;
    } else {
      space.readKeys = keys;
    }
  }

  message(level: number, bytes: Buffer): void {
    const index = level === Level.INITIAL ? INITIAL : level === Level.HANDSHAKE ? HANDSHAKE : APPLICATION;
    this.#connection.spaces[index]!.cryptoOut.write(bytes);
    this.#connection.touch();
  }

  peerParameters(bytes: Buffer): void {
    const peer = readParameters(bytes);
    const { peerIds, version } = this.#connection;
    if (!peer.initialSource!.equals(peerIds.current)) {
      throw new TransportError(Code.TRANSPORT_PARAMETER, 'initial_source_connection_id is another one');
    }
    if (peer.versions !== undefined && peer.versions.chosen !== version.number) {
      throw new TransportError(Code.TRANSPORT_PARAMETER, 'version_information names another version');
    }
    // Nobody asks for them once more.
    peer.initialSource = peer.versions = undefined;
    this.peer = peer;
    this.#connection.allowed(peer);
  }

  alert(code: number): void {
    this.#alert = code;
  }

  // ---------------------------------------------------------------- what the client says

  /** The next bytes of the handshake came in order. */
  came(space: Space, bytes: Buffer): void {
    if (space.index === APPLICATION) {
      throw new TransportError(ALERT + Alert.UNEXPECTED_MESSAGE, 'a message of TLS after the handshake');
    }
    if (this.#tls === undefined) {
      this.#helloCame(bytes);
    } else {
      this.#advance(this.#tls, space.index === INITIAL ? Level.INITIAL : Level.HANDSHAKE, bytes);
    }
  }

  /** A client's hello may come in several parts; the server is chosen when it is whole. */
  #helloCame(bytes: Buffer): void {
    this.#hello ??= new GrowingBytes(EMPTY);
    if (this.#hello.length + bytes.length > MOST_HELLO) {
      throw new TransportError(Code.CRYPTO_BUFFER, 'too long a hello');
    }
    const hello = this.#hello.add(bytes);
    if (hello[0] !== 1) {
      throw new TransportError(ALERT + Alert.UNEXPECTED_MESSAGE, 'a handshake that begins with something else than a hello');
    }
    if (hello.length < 4 || hello.length < 4 + hello.readUIntBE(1, 3)) {
      return;
    }
    this.#hello = undefined;
    const message = hello.subarray(0, 4 + hello.readUIntBE(1, 3));
    const choice = this.#client.choose(message, this.#connection);
    if ('alert' in choice) {
      throw new TransportError(ALERT + choice.alert, 'handshake rejected');
    }
    const tls = new QuicHandshake(choice.settings, this, this.#ownParameters());
    this.#tls = tls;
    this.#choice = choice;
    this.#advance(tls, Level.INITIAL, hello);
    if (this.peer === undefined && tls.writeLevel !== Level.INITIAL) {
      throw new TransportError(ALERT + Alert.MISSING_EXTENSION, 'no transport parameters');
    }
  }

  #ownParameters(): Buffer {
    const c = this.#connection;
    const { settings, ownIds } = c;
    return writeTransportParameters({
      originalDestination: Buffer.from(c.originalDestination, 'latin1'),
      initialSource: Buffer.from(ownIds.first, 'latin1'),
      retrySource: c.retrySource === undefined ? undefined : Buffer.from(c.retrySource, 'latin1'),
      resetToken: c.resetToken(ownIds.first),
      idleTimeout: settings.idleTimeout,
      maxPayload: MAX_PAYLOAD,
      maxData: settings.streams.connectionWindow,
      maxStreamData: settings.streams.window,
      streamsBidi: settings.streams.bidi,
      streamsUni: settings.streams.uni,
      maxAckDelay: MAX_ACK_DELAY,
      idLimit: settings.idLimit,
      version: c.version.number,
    });
  }

  #advance(tls: QuicHandshake, level: number, bytes: Buffer): void {
    if (tls.receive(level, bytes)) {
      return;
    }
    if (this.#alert === Alert.NO_PROTOCOL || (this.#alert === Alert.INTERNAL && tls.settings.protocol === '')) {
      throw new TransportError(ALERT + Alert.NO_PROTOCOL, 'no application protocol');
    }
    if (this.#alert >= 0) {
      throw new TransportError(ALERT + this.#alert, tls.firstError() || 'the handshake failed');
    }
    throw new TransportError(ALERT + Alert.UNEXPECTED_MESSAGE, tls.firstError() || 'an unexpected message');
  }

  // ---------------------------------------------------------------- the end

  /** Makes the protocol above, once. */
  accept(): QuicConnectionHandler {
    const handler = this.#choice!.accept(this.#connection);
    this.#choice = undefined;
    if (handler === undefined) {
      throw new TransportError(Code.REFUSED, 'the connection is not wanted');
    }
    return handler;
  }

  /** Keeps only what was agreed: the handshake is over. */
  settle(): void {
    if (this.protocol === '') {
      throw new TransportError(ALERT + Alert.NO_PROTOCOL, 'no application protocol');
    }
    this.#tls!.settle();
  }

  free(): void {
    this.earlyKeys?.free();
    this.earlyKeys = undefined;
    this.#tls?.free();
    this.#hello = undefined;
  }
}
