// Over 400 lines: a connection is where spaces, paths, streams, keys and timers meet; each of them is a file of its own.
import type { Region } from '../../../shared/net/uring/memory.js';
import { PacketKeys, SAMPLE, suiteOf, TAG } from '../openssl/packet-keys.js';
import { type HandshakeUser, Level, QuicHandshake } from '../openssl/quic-handshake.js';
import { AgreedTls } from './agreed-tls.js';
import { closeFrame } from './close-frame.js';
import { OwnIds, PeerIds } from './connection-ids.js';
import type { QuicConnection, QuicConnectionHandler, QuicEnd, QuicStream, QuicStreamHandler, QuicTls } from './contract.js';
import { Control, ControlQueue } from './control-queue.js';
import { ALERT, Alert, Code, TransportError } from './errors.js';
import { ELICITING, type FrameReader, NOT_PROBING } from './frame-reader.js';
import type { QuicClient, QuicEnds, QuicServer, QuicSettings } from './host.js';
import { BASE, MtuDiscovery } from './mtu.js';
import { wholeNumber } from './packet-number.js';
import type { PacketWriter } from './packet-writer.js';
import { Path } from './path.js';
import { Recovery, type RecoveryOwner } from './recovery.js';
import { giveRecord, Probe, type SentPacket } from './sent-packets.js';
import { APPLICATION, HANDSHAKE, INITIAL, Space } from './space.js';
import { StreamTable, type StreamTableOwner } from './stream-table.js';
import { type PeerParameters, readParameters, writeParameters } from './transport-parameters.js';
import type { initialKeys, Version } from './version.js';

/** After so many milliseconds an acknowledgement leaves at the latest. */
const MAX_ACK_DELAY = 25;
/** A packet of so many bytes that asks is acknowledged with others, if they come soon. */
const ACK_EVERY = 2;
/** No hello is longer, in bytes. */
const MOST_HELLO = 64 * 1024;
/** The largest datagram that is taken. */
const MAX_PAYLOAD = 65527;
/** As many datagrams leave in one call, and as many bytes. */
const MOST_SEGMENTS = 60;
const MOST_BYTES = 63_000;
/** So many packets that ask may be sent with one key before it is changed: far from what it could bear. */
const UPDATE_AFTER = 2 ** 22;
/** At other paths than the one in use. */
const MOST_PATHS = 4;

/** What a connection needs of its endpoint. */
export interface ConnectionHost {
  readonly reader: FrameReader;
  readonly writer: PacketWriter;
  /** What datagrams are read in, and built in. */
  readonly input: Region;
  readonly output: Region;
  readonly now: number;
  newId(connection: Connection): Buffer;
  dropId(id: Buffer): void;
  resetToken(id: Buffer): Buffer;
  newToken(path: Path): Buffer;
  /** Has `flush` called before the tick is over. */
  dirty(connection: Connection): void;
  /** Has `expired` called at {@link Connection.deadline}, which is another one than before. */
  schedule(connection: Connection): void;
  /** The connection is no more. */
  forget(connection: Connection): void;
  /** Sends `length` bytes of the output as datagrams of `segment` bytes, the last of which may be shorter. 0, or a negated error number. */
  send(path: Path, from: number, length: number, segment: number): number;
  localAddress(path: Path): { readonly address?: string | undefined; readonly port?: number | undefined };
}

/** What the first packet of a connection says. */
export interface Beginning {
  readonly version: Version;
  /** The client's first destination, and its source. */
  readonly originalDestination: Buffer;
  readonly source: Buffer;
  /** The source of our Retry packet. */
  readonly retrySource: Buffer | undefined;
  /** A token has shown that the client is at its address. */
  readonly validated: boolean;
}

const EMSGSIZE = -90;

/** There is no room for a connection. */
export class NoRoom extends Error {}

/** A server's connection (RFC 9000). Times are monotonic milliseconds. */
export class Connection implements QuicConnection, HandshakeUser, RecoveryOwner, StreamTableOwner, QuicEnds {
  readonly host: ConnectionHost;
  readonly version: Version;
  readonly spaces: readonly Space[] = [new Space(INITIAL), new Space(HANDSHAKE), new Space(APPLICATION)];
  readonly controls = new ControlQueue();
  readonly ownIds: OwnIds;
  readonly peerIds: PeerIds;
  readonly originalDestination: Buffer;
  readonly retrySource: Buffer | undefined;
  readonly streams: StreamTable;
  readonly recovery: Recovery;
  readonly mtu = new MtuDiscovery();
  handler: QuicConnectionHandler | undefined = undefined;
  path: Path;
  /** The path before the client has moved, until the new one is known to work. */
  #before: Path | undefined = undefined;
  #others: Path[] = [];
  #handshake: QuicHandshake | undefined = undefined;
  #accept: ((connection: QuicConnection) => QuicConnectionHandler | undefined) | undefined = undefined;
  /** What came of the hello: so many bytes of the memory. */
  #hello: Buffer | undefined = undefined;
  #helloLength = 0;
  #earlyKeys: PacketKeys | undefined = undefined;
  #alert = -1;
  #agreed: QuicTls | undefined = undefined;
  #peer: PeerParameters | undefined = undefined;
  /** A packet came that is authentic. */
  heard = false;
  /** The handshake is complete, which the client has shown. */
  confirmed = false;
  /** Nothing is read or sent any more but the answer that it is over. */
  ending = false;
  #gone = false;
  #counted = true;
  /** What answers everything once the connection is closed; empty where the peer has closed it. */
  #farewell: Buffer | undefined = undefined;
  #farewells = 0;
  #farewellAfter = 1;
  isDirty = false;
  deadline = Number.POSITIVE_INFINITY;
  /** The endpoint's heap keeps its place here. */
  heapAt = -1;
  heapTime = Number.POSITIVE_INFINITY;
  #idleAt: number;
  readonly #handshakeBy: number;
  /** When something may leave that the pacer holds back. */
  #pacedUntil = Number.POSITIVE_INFINITY;
  keyPhase: 0 | 1 = 0;
  #nextKeys: PacketKeys | undefined = undefined;
  #oldKeys: PacketKeys | undefined = undefined;
  #dropOldAt = Number.POSITIVE_INFINITY;
  /** The first number that came with the present keys, and that was sent with them. */
  #phaseRead = 0;
  #phaseSent = 0;
  #received = 0;
  #sent = 0;
  #ecnCongestion = 0;
  idleTimeout: number;

  readonly #client: QuicClient;
  readonly settings: QuicSettings;

  /** Throws {@link NoRoom} where the server does not take the client. */
  constructor(host: ConnectionHost, server: QuicServer, path: Path, beginning: Beginning, now: number) {
    const client = server.admit(this);
    if (client === undefined) {
      throw new NoRoom();
    }
    this.#client = client;
    this.settings = server.settings;
    this.host = host;
    this.path = path;
    this.version = beginning.version;
    this.originalDestination = beginning.originalDestination;
    this.retrySource = beginning.retrySource;
    const { settings } = this;
    path.validated = beginning.validated;
    this.ownIds = new OwnIds({ newId: () => host.newId(this), dropId: (id) => host.dropId(id) }, this.controls);
    this.peerIds = new PeerIds(beginning.source, settings.idLimit, this.controls);
    this.streams = new StreamTable(this, settings.streams, this.controls);
    this.recovery = new Recovery(this, BASE);
    this.idleTimeout = settings.idleTimeout;
    this.#idleAt = now + settings.idleTimeout;
    this.#handshakeBy = now + settings.handshakeTimeout;
  }

  /** Takes the keys of the first packets. */
  begin({ client, server }: ReturnType<typeof initialKeys>): void {
    this.spaces[INITIAL]!.readKeys = client(false);
    this.spaces[INITIAL]!.writeKeys = server(true);
  }

  // ---------------------------------------------------------------- what the protocol above sees

  get protocol(): string {
    return this.#handshake?.settings.protocol ?? '';
  }

  get tls(): QuicTls {
    this.#agreed ??= new AgreedTls(this.#handshake!, this);
    return this.#agreed;
  }

  remote(): { readonly address?: string | undefined; readonly port?: number | undefined } {
    return this.path.remoteAddress;
  }

  local(): { readonly address?: string | undefined; readonly port?: number | undefined } {
    return this.host.localAddress(this.path);
  }

  get remoteAddress(): string {
    return this.remote().address ?? '';
  }

  get remotePort(): number {
    return this.remote().port ?? 0;
  }

  get localAddress(): string {
    return this.local().address ?? '';
  }

  get localPort(): number {
    return this.local().port ?? 0;
  }

  get bytesReceived(): number {
    return this.#received;
  }

  get bytesSent(): number {
    return this.#sent;
  }

  get now(): number {
    return this.host.now;
  }

  get window(): number {
    return this.recovery.cubic.window;
  }

  openUnidirectional(handler: QuicStreamHandler): QuicStream | undefined {
    return this.ending ? undefined : this.streams.openUnidirectional(handler);
  }

  close(code: number, reason: string): void {
    this.#close(true, code, reason, 0, 'local');
  }

  stopCredit(): void {
    this.streams.stopCredit();
  }

  // ---------------------------------------------------------------- the handshake

  secret(level: number, forSending: boolean, suite: number, secret: Buffer): void {
    const found = suiteOf(suite);
    if (found === undefined) {
      throw new TransportError(ALERT + Alert.HANDSHAKE_FAILURE, 'the cipher suite is none of QUIC');
    }
    const { prefix } = this.version;
    if (level === Level.EARLY) {
      if (!forSending) {
        this.#earlyKeys?.free();
        this.#earlyKeys = new PacketKeys(found, secret, false, prefix);
      }
      return;
    }
    const space = this.spaces[level === Level.HANDSHAKE ? HANDSHAKE : APPLICATION]!;
    const keys = new PacketKeys(found, secret, forSending, prefix);
    if (forSending) {
      space.writeKeys = keys;
    } else {
      space.readKeys = keys;
    }
  }

  message(level: number, bytes: Buffer): void {
    const index = level === Level.INITIAL ? INITIAL : level === Level.HANDSHAKE ? HANDSHAKE : APPLICATION;
    this.spaces[index]!.cryptoOut.write(bytes);
    this.touch();
  }

  peerParameters(bytes: Buffer): void {
    const peer = readParameters(bytes);
    if (!peer.initialSource!.equals(this.peerIds.current)) {
      throw new TransportError(Code.TRANSPORT_PARAMETER, 'initial_source_connection_id is another one');
    }
    if (peer.versions !== undefined && peer.versions.chosen !== this.version.number) {
      throw new TransportError(Code.TRANSPORT_PARAMETER, 'version_information names another version');
    }
    this.#peer = peer;
    this.streams.allow(peer);
    if (peer.idleTimeout > 0) {
      this.idleTimeout = Math.min(this.idleTimeout, peer.idleTimeout);
    }
  }

  alert(code: number): void {
    this.#alert = code;
  }

  get maxAckDelay(): number {
    return this.#peer?.maxAckDelay ?? MAX_ACK_DELAY;
  }

  /** The next bytes of the handshake came in order. */
  cryptoCame(space: Space, bytes: Buffer, now: number): void {
    if (space.index === APPLICATION) {
      throw new TransportError(ALERT + Alert.UNEXPECTED_MESSAGE, 'a message of TLS after the handshake');
    }
    if (this.#handshake === undefined) {
      this.#helloCame(bytes);
    } else {
      this.#advance(space.index === INITIAL ? Level.INITIAL : Level.HANDSHAKE, bytes);
    }
    if (this.#handshake?.done && !this.confirmed) {
      this.#complete(now);
    }
  }

  /** A client's hello may come in several parts; the server is chosen when it is whole. */
  #helloCame(bytes: Buffer): void {
    const length = this.#helloLength + bytes.length;
    if (length > MOST_HELLO) {
      throw new TransportError(Code.CRYPTO_BUFFER, 'too long a hello');
    }
    let memory = this.#hello;
    if (memory === undefined || length > memory.length) {
      // However small the parts are, they are not copied for each.
      const grown = Buffer.alloc(Math.max(length, 2 * (memory?.length ?? 0)));
      memory?.copy(grown, 0, 0, this.#helloLength);
      this.#hello = memory = grown;
    }
    bytes.copy(memory, this.#helloLength);
    this.#helloLength = length;
    const hello = memory.subarray(0, length);
    if (hello[0] !== 1) {
      throw new TransportError(ALERT + Alert.UNEXPECTED_MESSAGE, 'a handshake that begins with something else than a hello');
    }
    if (hello.length < 4 || hello.length < 4 + hello.readUIntBE(1, 3)) {
      return;
    }
    this.#hello = undefined;
    const message = hello.subarray(0, 4 + hello.readUIntBE(1, 3));
    const { settings } = this;
    const choice = this.#client.choose(message, this);
    if ('alert' in choice) {
      throw new TransportError(ALERT + choice.alert, 'handshake rejected');
    }
    const own = writeParameters({
      originalDestination: this.originalDestination,
      initialSource: this.ownIds.first,
      retrySource: this.retrySource,
      resetToken: this.resetToken(this.ownIds.first),
      idleTimeout: settings.idleTimeout,
      maxPayload: MAX_PAYLOAD,
      maxData: settings.streams.connectionWindow,
      maxStreamData: settings.streams.window,
      streamsBidi: settings.streams.bidi,
      streamsUni: settings.streams.uni,
      maxAckDelay: MAX_ACK_DELAY,
      idLimit: settings.idLimit,
      version: this.version.number,
    });
    this.#handshake = new QuicHandshake(choice.settings, this, own);
    this.#accept = (connection) => choice.accept(connection);
    this.#advance(Level.INITIAL, hello);
    if (this.#peer === undefined && this.#handshake.writeLevel !== Level.INITIAL) {
      throw new TransportError(ALERT + Alert.MISSING_EXTENSION, 'no transport parameters');
    }
  }

  #advance(level: number, bytes: Buffer): void {
    const handshake = this.#handshake!;
    if (handshake.receive(level, bytes)) {
      return;
    }
    if (this.#alert === Alert.NO_PROTOCOL || (this.#alert === Alert.INTERNAL && handshake.settings.protocol === '')) {
      throw new TransportError(ALERT + Alert.NO_PROTOCOL, 'no application protocol');
    }
    if (this.#alert >= 0) {
      throw new TransportError(ALERT + this.#alert, handshake.firstError() || 'the handshake failed');
    }
    throw new TransportError(ALERT + Alert.UNEXPECTED_MESSAGE, handshake.firstError() || 'an unexpected message');
  }

  #complete(now: number): void {
    const first = this.handler === undefined;
    if (this.protocol === '') {
      throw new TransportError(ALERT + Alert.NO_PROTOCOL, 'no application protocol');
    }
    this.confirmed = true;
    this.#handshake!.settle();
    this.path.validated = true;
    this.#discard(this.spaces[HANDSHAKE]!);
    this.controls.add(Control.DONE, 0);
    this.controls.add(Control.TOKEN, 0);
    this.ownIds.allow(this.#peer!.idLimit);
    this.mtu.begin(this.#peer!.maxPayload);
    if (first) {
      this.#begin();
    }
    this.#idleAt = now + this.#idle;
    this.handler?.established();
    this.touch();
  }

  /** Makes the protocol above. */
  #begin(): void {
    const handler = this.#accept!(this);
    this.#accept = undefined;
    if (handler === undefined) {
      throw new TransportError(Code.REFUSED, 'the connection is not wanted');
    }
    this.handler = handler;
  }

  #discard(space: Space): void {
    if (!space.discarded) {
      this.recovery.discard(space);
      space.discard();
    }
  }

  // ---------------------------------------------------------------- what comes

  /** So many bytes of a datagram came on a path. */
  datagramCame(path: Path, bytes: number): void {
    this.#received += bytes;
    path.received += bytes;
  }

  /** The path of a datagram: one that is known, or a new one. Undefined where there are too many. */
  pathOf(peer: Buffer, local: Buffer | undefined): Path | undefined {
    if (this.path.is(peer, local)) {
      return this.path;
    }
    if (this.#before?.is(peer, local)) {
      return this.#before;
    }
    let found = this.#others.find((each) => each.is(peer, local));
    if (found === undefined) {
      // The handshake is over before a client moves.
      if (!this.confirmed || this.#others.length >= MOST_PATHS) {
        return undefined;
      }
      // It is remembered once it has brought a packet that is authentic.
      found = new Path(peer, local);
    }
    return found;
  }

  /** Whether packets of this kind can be read now. */
  canRead(index: number, early: boolean): boolean {
    return early ? this.#earlyKeys !== undefined && !this.confirmed : this.spaces[index]!.readKeys !== undefined;
  }

  /**
   * Reads a packet `from..end` of the input, whose number begins at `numberAt`. Returns false for one that nobody understands. Throws
   * {@link TransportError}.
   */
  packet(
    index: number,
    early: boolean,
    path: Path,
    from: number,
    numberAt: number,
    end: number,
    used: string,
    ecn: number,
    now: number,
  ): boolean {
    const space = this.spaces[index]!;
    const region = this.host.input;
    const { bytes } = region;
    let keys = early ? this.#earlyKeys : space.readKeys;
    if (keys === undefined || (index === APPLICATION && !early && !this.confirmed) || end - numberAt < 4 + SAMPLE) {
      return true;
    }
    const mask = keys.mask(region, numberAt + 4);
    const short = index === APPLICATION && !early;
    const first = bytes[from]! ^ (mask[0]! & (short ? 0x1f : 0x0f));
    bytes[from] = first;
    const numberLength = (first & 3) + 1;
    let truncated = 0;
    for (let i = 0; i < numberLength; i++) {
      bytes[numberAt + i]! ^= mask[1 + i]!;
      truncated = truncated * 256 + bytes[numberAt + i]!;
    }
    const number = wholeNumber(space.largest, truncated, numberLength);
    const textAt = numberAt + numberLength;
    const textEnd = end - TAG;
    if (textEnd <= textAt || number > Number.MAX_SAFE_INTEGER) {
      return true;
    }
    let updates = false;
    if (short && ((first >> 2) & 1) !== this.keyPhase) {
      if (this.#oldKeys !== undefined && number < this.#phaseRead) {
        keys = this.#oldKeys;
      } else {
        this.#nextKeys ??= space.readKeys!.next();
        keys = this.#nextKeys;
        updates = true;
      }
    }
    if (!keys.open(number, region, from, textAt, textEnd)) {
      if (keys.forged >= keys.suite.forgedMost) {
        throw new TransportError(Code.AEAD_LIMIT, 'too many packets that are not authentic');
      }
      return false;
    }
    if (space.has(number)) {
      return true;
    }
    if ((first & (short ? 0x18 : 0x0c)) !== 0) {
      throw new TransportError(Code.PROTOCOL, 'reserved bits are set');
    }
    if (updates) {
      this.#peerUpdated(space, number, now);
    }
    if (index === HANDSHAKE) {
      path.validated = true;
      this.#discard(this.spaces[INITIAL]!);
    }
    this.#opened(space, early, path, textAt, textEnd, number, used, ecn, now);
    return true;
  }

  #opened(
    space: Space,
    early: boolean,
    path: Path,
    textAt: number,
    textEnd: number,
    number: number,
    used: string,
    ecn: number,
    now: number,
  ): void {
    this.heard = true;
    const inOrder = number === space.largest + 1;
    const latest = number > space.largest;
    space.add(number, now);
    if (ecn !== 0) {
      space.marked = true;
      space.marks[ecn === 2 ? 0 : ecn === 1 ? 1 : 2]!++;
    }
    this.#idleAt = now + this.#idle;
    if (early && this.handler === undefined) {
      this.#begin();
    }
    const { host } = this;
    const result = host.reader.read(this, host.input.bytes, textAt, textEnd, space, early, path, used, now);
    if (this.ending || this.#gone) {
      return;
    }
    if ((result & ELICITING) !== 0) {
      space.unacked++;
      if (space.index !== APPLICATION || space.unacked >= ACK_EVERY || !inOrder || ecn === 3) {
        space.ackNow = true;
      } else {
        space.ackAt = Math.min(space.ackAt, now + MAX_ACK_DELAY);
      }
    }
    if (path !== this.path) {
      if (path !== this.#before && !this.#others.includes(path)) {
        this.#others.push(path);
      }
      if ((result & NOT_PROBING) !== 0 && latest) {
        this.#moved(path, now);
      } else if (path.challenge === undefined && !path.validated) {
        path.ask(now, this.#probeTimeout);
      }
    }
    this.touch();
  }

  get #idle(): number {
    return Math.max(this.idleTimeout, 3 * this.#probeTimeout);
  }

  get #probeTimeout(): number {
    return this.recovery.rtt.probeTimeout(this.maxAckDelay);
  }

  /** The peer uses the next keys, so that we do. */
  #peerUpdated(space: Space, number: number, now: number): void {
    if (this.#oldKeys !== undefined && space.nextNumber === this.#phaseSent) {
      // Nothing was sent with the present keys, so that the peer cannot know that they are in use (RFC 9001, 6.2).
      throw new TransportError(Code.KEY_UPDATE, 'keys are changed again too early');
    }
    this.#changeKeys(space, number, now);
  }

  #changeKeys(space: Space, number: number, now: number): void {
    this.#oldKeys?.free();
    this.#oldKeys = space.readKeys;
    this.#dropOldAt = now + 3 * this.#probeTimeout;
    this.#nextKeys ??= space.readKeys!.next();
    space.readKeys = this.#nextKeys;
    this.#nextKeys = undefined;
    this.#phaseRead = number;
    const before = space.writeKeys!;
    space.writeKeys = before.next();
    before.free();
    this.keyPhase = this.keyPhase === 0 ? 1 : 0;
    this.#phaseSent = space.nextNumber;
  }

  /** Changes keys oneself before one has protected too much (RFC 9001, 6.6). */
  #updateKeys(now: number): void {
    const space = this.spaces[APPLICATION]!;
    const ready = this.confirmed && this.#oldKeys === undefined && space.largestAcked >= this.#phaseSent;
    if (space.writeKeys !== undefined && space.writeKeys.sealed >= UPDATE_AFTER && ready) {
      // Whatever comes with the old keys has a smaller number.
      this.#changeKeys(space, Number.POSITIVE_INFINITY, now);
    }
  }

  /** Whether a datagram that nobody understands says that the peer has lost the connection. */
  isReset(token: Buffer): boolean {
    return this.peerIds.isReset(token);
  }

  /** The peer has lost the connection. */
  wasReset(): void {
    this.#drain({ by: 'reset', application: false, code: Code.NO_ERROR, reason: 'stateless reset' });
  }

  /** CONNECTION_CLOSE came. */
  peerClosed(application: boolean, code: number, reason: string): void {
    this.#drain({ by: 'peer', application, code, reason });
  }

  // ---------------------------------------------------------------- paths

  /** The client uses another path from now on. */
  #moved(path: Path, now: number): void {
    const before = this.path;
    this.#others = this.#others.filter((each) => each !== path);
    if (before.validated) {
      this.#before = before;
    }
    this.path = path;
    if (!path.sharesAddress(before)) {
      this.recovery.newPath();
      this.peerIds.change();
    }
    this.mtu.reset();
    this.recovery.cubic.resize(BASE);
    if (path.validated) {
      this.mtu.begin(this.#peer!.maxPayload);
    } else if (path.challenge === undefined) {
      path.ask(now, this.#probeTimeout);
    }
  }

  /** PATH_RESPONSE came, on whichever path. */
  pathAnswered(data: Buffer): void {
    for (const path of [this.path, this.#before, ...this.#others]) {
      if (path?.answers(data)) {
        if (path === this.path) {
          this.#before = undefined;
          this.mtu.begin(this.#peer!.maxPayload);
        }
        return;
      }
    }
  }

  /** Nobody answers on a path. */
  #pathFailed(path: Path, now: number): void {
    if (path !== this.path) {
      this.#others = this.#others.filter((each) => each !== path);
    } else if (this.#before !== undefined) {
      this.path = this.#before;
      this.#before = undefined;
      this.mtu.reset();
      this.mtu.begin(this.#peer!.maxPayload);
      this.touch();
    } else {
      this.#idleAt = now;
    }
  }

  /** Answers and asks on all paths; each in a datagram of full length, unless that is too much for its path. */
  #sendPathFrames(now: number): void {
    this.#sendOnPath(this.path, now);
    if (this.#before !== undefined) {
      this.#sendOnPath(this.#before, now);
    }
    for (const path of this.#others) {
      this.#sendOnPath(path, now);
    }
  }

  #sendOnPath(path: Path, now: number): void {
    if (!path.challenges && path.responses.length === 0) {
      return;
    }
    const space = this.spaces[APPLICATION]!;
    if (space.writeKeys === undefined) {
      return;
    }
    // Who acknowledges nothing has to wait for answers as for everything else.
    const answers = this.recovery.cubic.room > 0 ? path.responses.splice(0) : [];
    const frames = answers.map((data) => Buffer.concat([Buffer.from([0x1b]), data]));
    if (path.challenges && path.challenge !== undefined) {
      path.challenges = false;
      frames.push(Buffer.concat([Buffer.from([0x1a]), path.challenge]));
    }
    if (frames.length === 0) {
      return;
    }
    const most = Math.min(BASE, path.allowance);
    if (most < 60 + frames.length * 9) {
      return;
    }
    const length = this.host.writer.pathPacket(this, space, 0, frames, most, now);
    this.#send(path, 0, length, length);
  }

  // ---------------------------------------------------------------- what leaves

  touch(): void {
    if (!this.isDirty && !this.#gone) {
      this.isDirty = true;
      this.host.dirty(this);
    }
  }

  get hasFrames(): boolean {
    return this.controls.length > 0 || this.streams.queueOfSenders.size > 0;
  }

  get stuck(): boolean {
    return this.path.allowance < BASE;
  }

  #send(path: Path, from: number, length: number, segment: number): number {
    path.sent += length;
    this.#sent += length;
    return this.host.send(path, from, length, segment);
  }

  /** A batch of datagrams was read. */
  prepare(): void {
    if (!this.ending) {
      this.handler?.flush();
    }
  }

  /** Sends what there is. */
  flush(now: number): void {
    this.isDirty = false;
    if (this.#gone) {
      return;
    }
    if (this.ending) {
      this.#answerFarewell();
      return;
    }
    this.#updateKeys(now);
    this.#sendPathFrames(now);
    this.#sendPackets(now);
    this.#probeMtu(now);
    this.#reschedule();
  }

  #sendPackets(now: number): void {
    const { settings } = this;
    const { writer } = this.host;
    const { cubic, pacer, rtt } = this.recovery;
    const size = this.mtu.size;
    let budget = pacer.budget(now, cubic.window, rtt.smoothed, cubic.slowStart, size);
    this.#pacedUntil = Number.POSITIVE_INFINITY;
    const { path } = this;
    let [from, segment, count] = [0, 0, 0];
    let allowance = path.allowance;
    for (;;) {
      // A datagram of the handshake has full length, so that there must be room for that.
      if (allowance < size) {
        break;
      }
      const room = cubic.room >= size || cubic.inFlight === 0;
      const length = writer.datagram(this, from, size, room && budget > 0, now);
      if (length === 0) {
        if ((budget <= 0 || !room) && this.#waits) {
          cubic.limitedAt = now;
          if (room) {
            this.#pacedUntil = now + pacer.wait(cubic.window, rtt.smoothed, cubic.slowStart, size);
          }
        }
        break;
      }
      budget -= length;
      allowance -= length;
      count++;
      segment = segment === 0 ? length : segment;
      from += length;
      // A shorter one ends what leaves together.
      if (length < segment || length > segment || count === MOST_SEGMENTS || from + size > MOST_BYTES || !settings.segments) {
        this.#sendTrain(path, from, segment, length);
        [from, segment, count] = [0, 0, 0];
      }
    }
    if (from > 0) {
      this.#sendTrain(path, from, segment, segment);
    }
  }

  /** Datagrams leave together as long as all but the last have one length. */
  #sendTrain(path: Path, length: number, segment: number, last: number): void {
    if (last <= segment) {
      this.#send(path, 0, length, segment);
      return;
    }
    this.#send(path, 0, length - last, segment);
    this.#send(path, length - last, last, last);
  }

  /** Something would leave if it were allowed. */
  get #waits(): boolean {
    return this.spaces.some((space) => space.cryptoOut.pending && space.writeKeys !== undefined) || (this.confirmed && this.hasFrames);
  }

  #probeMtu(now: number): void {
    const size = this.mtu.wanted;
    // One datagram more than the window allows does no harm.
    if (size === 0 || !this.confirmed || !this.path.validated || this.recovery.cubic.room < -size) {
      return;
    }
    const length = this.host.writer.mtuProbe(this, this.spaces[APPLICATION]!, 0, size, now);
    this.mtu.sent();
    if (this.#send(this.path, 0, length, length) === EMSGSIZE) {
      this.mtu.refused();
      this.touch();
    }
  }

  /** A packet is ready to leave. */
  packetBuilt(space: Space, packet: SentPacket, now: number): void {
    if (!packet.eliciting) {
      giveRecord(packet);
      return;
    }
    this.recovery.sent(space, packet, now);
  }

  newToken(): Buffer {
    return this.host.newToken(this.path);
  }

  resetToken(id: Buffer): Buffer {
    return this.host.resetToken(id);
  }

  // ---------------------------------------------------------------- acknowledgements

  /** An acknowledgement was about packets that were not acknowledged before. */
  wereAcked(space: Space, newestTime: number, delay: number, congestion: number, now: number): void {
    const { ackDelayExponent = 3, maxAckDelay = MAX_ACK_DELAY } = this.#peer ?? {};
    const waited = space.index === APPLICATION ? Math.min(maxAckDelay, (delay * 2 ** ackDelayExponent) / 1000) : 0;
    this.recovery.ackRead(space, newestTime, waited, now);
    if (congestion > this.#ecnCongestion && newestTime >= 0) {
      this.#ecnCongestion = congestion;
      this.recovery.cubic.congested(newestTime, now);
    }
    this.touch();
  }

  arrived(space: Space, packet: SentPacket): void {
    if (packet.acknowledged >= 0 && space.received.count > 1) {
      // What the peer has been told of it need not be told again.
      const { list } = space.received;
      while (list.length > 2 && list[1]! <= packet.acknowledged) {
        space.forgetBelow(list[1]!);
      }
    }
    if (packet.probe === Probe.MTU) {
      this.mtu.arrived(packet.size);
      this.recovery.cubic.resize(this.mtu.size);
    }
    const { buffer, more, control } = packet;
    if (buffer !== undefined) {
      this.#dataArrived(buffer, packet.stream, packet.from, packet.to, packet.fin);
    }
    if (more !== undefined) {
      for (const each of more) {
        this.#dataArrived(each.buffer, each.stream, each.from, each.to, each.fin);
      }
    }
    if (control !== undefined) {
      for (let i = 0; i < control.length; i += 2) {
        if (control[i] === Control.RETIRE_ID) {
          this.peerIds.gaveBack();
        } else if (control[i] === Control.RESET) {
          const stream = this.streams.get(control[i + 1]!);
          if (stream !== undefined) {
            stream.resetAcked = true;
            this.streams.maybeOver(stream);
          }
        }
      }
    }
  }

  #dataArrived(buffer: SentPacket['buffer'] & object, stream: SentPacket['stream'], from: number, to: number, fin: boolean): void {
    if (stream === undefined) {
      buffer.acked(from, to, false);
    } else {
      stream.acked(from, to, fin);
    }
  }

  sendAgain(space: Space, packet: SentPacket): void {
    const { buffer, stream, more, control } = packet;
    if (buffer !== undefined) {
      if (stream === undefined) {
        buffer.lost(packet.from, packet.to, false);
      } else {
        stream.lost(packet.from, packet.to, packet.fin);
      }
    }
    if (more !== undefined) {
      for (const each of more) {
        if (each.stream === undefined) {
          each.buffer.lost(each.from, each.to, false);
        } else {
          each.stream.lost(each.from, each.to, each.fin);
        }
      }
    }
    if (control !== undefined) {
      for (let i = 0; i < control.length; i += 2) {
        this.#controlAgain(control[i]!, control[i + 1]!);
      }
    }
    if (packet.acknowledged >= 0 && space.received.count > 0 && space.index !== APPLICATION) {
      space.ackNow = true;
    }
    this.touch();
  }

  #controlAgain(kind: number, argument: number): void {
    if (kind < Control.MAX_STREAM_DATA) {
      this.controls.add(kind, argument);
    } else {
      this.streams.get(argument)?.control(kind);
    }
  }

  probeLost(kind: number): void {
    if (kind === Probe.MTU) {
      this.mtu.lost();
      this.touch();
    }
  }

  // ---------------------------------------------------------------- time

  #reschedule(): void {
    let due = Math.min(this.#idleAt, this.#dropOldAt, this.#pacedUntil, this.path.challengeAt, this.recovery.due);
    if (!this.confirmed) {
      due = Math.min(due, this.#handshakeBy);
    }
    for (const { ackAt } of this.spaces) {
      due = Math.min(due, ackAt);
    }
    for (const { challengeAt } of this.#others) {
      due = Math.min(due, challengeAt);
    }
    this.#setDeadline(due);
  }

  #setDeadline(due: number): void {
    if (due !== this.deadline) {
      this.deadline = due;
      this.host.schedule(this);
    }
  }

  /** The deadline has come. The next one is known after the flush that this leads to. */
  expired(now: number): void {
    if (this.#gone) {
      return;
    }
    this.deadline = Number.POSITIVE_INFINITY;
    if (this.ending) {
      this.#forget();
      return;
    }
    if (now >= this.#idleAt || (!this.confirmed && now >= this.#handshakeBy)) {
      try {
        this.#end({ by: 'idle', application: false, code: Code.NO_ERROR, reason: 'timed out' });
      } finally {
        this.#forget();
      }
      return;
    }
    if (now >= this.#dropOldAt) {
      this.#oldKeys?.free();
      this.#oldKeys = undefined;
      this.#dropOldAt = Number.POSITIVE_INFINITY;
    }
    for (const space of this.spaces) {
      if (now >= space.ackAt) {
        space.ackNow = true;
        space.ackAt = Number.POSITIVE_INFINITY;
      }
    }
    for (const path of [this.path, ...this.#others]) {
      if (now >= path.challengeAt && !path.askAgain(now, this.#probeTimeout)) {
        this.#pathFailed(path, now);
      }
    }
    this.recovery.expired(now);
    this.touch();
  }

  // ---------------------------------------------------------------- the end

  /** Something of this connection went wrong: what a client did, or an error of ours. */
  fail(error: unknown): void {
    const known = error instanceof TransportError ? error : new TransportError(Code.INTERNAL, 'internal error');
    this.#close(false, known.code, known.message, known.frame, 'local');
  }

  /** Ends the connection whatever it is doing: the process must go. */
  kill(code = 0): void {
    this.#close(true, code, '', 0, 'killed');
  }

  #close(application: boolean, code: number, reason: string, frame: number, by: 'local' | 'killed'): void {
    if (this.ending || this.#gone) {
      return;
    }
    const wasConfirmed = this.confirmed;
    try {
      this.#end({ by, application, code, reason });
      if (!wasConfirmed) {
        this.#client.failed(reason, this);
      }
      this.#farewell = this.#makeFarewell(application, code, reason, frame);
    } finally {
      // Whatever goes wrong above, a connection that has ended keeps nothing.
      this.#release();
      this.#setDeadline(this.host.now + 3 * this.#probeTimeout);
      this.touch();
    }
  }

  /** The datagram that says that it is over, with a packet for each level that the client may be at. */
  #makeFarewell(application: boolean, code: number, reason: string, frame: number): Buffer {
    const { writer, output } = this.host;
    let at = 0;
    for (const space of this.spaces) {
      const wanted = space.index === APPLICATION ? this.#handshake?.done === true || this.confirmed : true;
      if (space.writeKeys !== undefined && wanted) {
        const complete = space.index === APPLICATION;
        at += writer.closePacket(this, space, at, closeFrame(application, complete, code, reason, frame));
      }
    }
    return Buffer.from(output.bytes.subarray(0, at));
  }

  /** Answers what still comes: less often the more comes. */
  #answerFarewell(): void {
    const farewell = this.#farewell;
    if (farewell === undefined || farewell.length === 0 || ++this.#farewells < this.#farewellAfter) {
      return;
    }
    this.#farewellAfter *= 2;
    if (this.path.allowance >= farewell.length) {
      this.host.output.bytes.set(farewell);
      this.#send(this.path, 0, farewell.length, farewell.length);
    }
  }

  #drain(why: QuicEnd): void {
    if (this.ending || this.#gone) {
      return;
    }
    const wasConfirmed = this.confirmed;
    try {
      this.#end(why);
      if (!wasConfirmed) {
        this.#client.failed('client closed connection', this);
      }
    } finally {
      this.#release();
      this.#setDeadline(this.host.now + 3 * this.#probeTimeout);
    }
  }

  /** Tells those above. */
  #end(why: QuicEnd): void {
    if (this.ending) {
      return;
    }
    this.ending = true;
    try {
      this.streams.end();
      this.handler?.ended(why);
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    if (this.#counted) {
      this.#counted = false;
      this.#client.left();
    }
  }

  /** Frees what only a living connection needs. */
  #release(): void {
    for (const space of this.spaces) {
      this.recovery.discard(space);
      space.discard();
    }
    for (const keys of [this.#nextKeys, this.#oldKeys, this.#earlyKeys]) {
      keys?.free();
    }
    this.#nextKeys = undefined;
    this.#oldKeys = undefined;
    this.#earlyKeys = undefined;
    this.#handshake?.free();
    this.controls.clear();
    this.#hello = undefined;
  }

  #forget(): void {
    if (this.#gone) {
      return;
    }
    this.#gone = true;
    this.#leave();
    this.#release();
    this.#setDeadline(Number.POSITIVE_INFINITY);
    this.host.forget(this);
  }

  /** Frees all at once, without a word: the process ends, or the client is not to hear anything. */
  abandon(): void {
    if (!this.ending) {
      this.#end({ by: 'killed', application: false, code: 0, reason: '' });
    }
    this.#forget();
  }
}
