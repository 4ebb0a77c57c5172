// A little over 400 lines: finding, beginning, flushing and ending connections work on the same tables.
import { emptyList } from '../../../shared/collection/empty-list.js';
import type { Region } from '../../../shared/net/uring/memory.js';
import { keepBytes } from '../../bytes/keep.js';
import { latin1 } from '../../bytes/latin1.js';
import type { UdpSocket, UdpTaker } from '../udp-socket.js';
import { Answers } from './answers.js';
import { ClientResets, LEAST_RESET } from './client-resets.js';
import { ServerConnection } from './connection.js';
import { NoRoom, type QuicConnectionHost } from './connection-host.js';
import { EachSecond } from './each-second.js';
import type { Forwarder } from './forwarder.js';
import { QuicFrameReader } from './frame-reader.js';
import type { QuicServer } from './host.js';
import { LongHeader } from './long-header.js';
import { canRead, readPacket } from './packet-reader.js';
import { PacketWriter } from './packet-writer.js';
import { Path } from './path.js';
import { ID_LENGTH, type RoutedIds } from './routed-ids.js';
import { APPLICATION, HANDSHAKE, INITIAL } from './space.js';
import { TimerHeap } from './timer-heap.js';
import type { AddressTokens } from './tokens.js';
import { initialKeys, type QuicVersion, Type } from './version.js';

/** A datagram with a client's Initial packet is that long, and its destination's ID (RFC 9000, 7.2 and 14.1). */
const LEAST_INITIAL = 1200;
const LEAST_DESTINATION = 8;
/** The shortest packet: a header, a number and what its mask is made of. */
const LEAST_SHORT = 1 + ID_LENGTH + 4 + 16;
/** As often is what became due while others were flushed seen to in one tick. */
const MOST_ROUNDS = 4;
/** As many datagrams a second that nobody knows go to all other processes. */
const MOST_PASSED = 100;

/** The connections of one UDP socket: finds whose a datagram is (RFC 9000, 5.2), and begins new ones. */
export class QuicEndpoint implements QuicConnectionHost, UdpTaker {
  /** Takes new clients; those that came before stay with theirs. */
  server: QuicServer;
  readonly reader = new QuicFrameReader();
  readonly writer: PacketWriter;
  readonly input: Region;
  readonly output: Region;
  readonly #socket: UdpSocket;
  readonly #tokens: AddressTokens;
  readonly #answers: Answers;
  readonly #routed: RoutedIds;
  readonly #ids = new Map<string, ServerConnection>();
  readonly #connections = new Set<ServerConnection>();
  readonly #resets: ClientResets;
  readonly #timers = new TimerHeap<ServerConnection>(
    (connection, now) => this.#expired(connection, now),
    () => this.#flush(),
  );
  readonly #header = new LongHeader();
  /** The ID that a packet came to last, as bytes and as the key that was made of them: most come to the same one as the packet before. */
  readonly #recent: Buffer = Buffer.alloc(ID_LENGTH);
  #recentKey = '\0'.repeat(ID_LENGTH);
  #dirty: ServerConnection[] = [];
  #spare: ServerConnection[] = [];
  #draining = false;
  /** The connection that the present datagram has begun. */
  #begun: ServerConnection | undefined = undefined;
  /** The name of the token that it came with. */
  #begunBy = '';
  now = performance.now();

  readonly #forwarder: Pick<Forwarder, 'forward' | 'forwardToAll'> | undefined;
  readonly #passes = new EachSecond(MOST_PASSED);

  /** `forwarder`: what leads to other processes, whose connections datagrams may be of. */
  constructor(
    socket: UdpSocket,
    server: QuicServer,
    tokens: AddressTokens,
    routed: RoutedIds,
    forwarder?: Pick<Forwarder, 'forward' | 'forwardToAll'>,
  ) {
    this.#forwarder = forwarder;
    this.#socket = socket;
    this.server = server;
    this.#tokens = tokens;
    this.#answers = new Answers(socket, tokens);
    this.#resets = new ClientResets(tokens);
    this.#routed = routed;
    this.input = socket.input;
    this.output = socket.output;
    this.writer = new PacketWriter(socket.output);
  }

  // ---------------------------------------------------------------- what connections ask for

  newId(connection: ServerConnection): string {
    const id = this.#makeId();
    const key = latin1(id, 0, ID_LENGTH);
    this.#ids.set(key, connection);
    return key;
  }

  #makeId(): Buffer {
    for (;;) {
      const id = this.#routed.make();
      if (!this.#ids.has(latin1(id, 0, ID_LENGTH))) {
        return id;
      }
    }
  }

  dropId(id: string): void {
    this.#ids.delete(id);
  }

  resetToken(id: string): Buffer {
    return this.#tokens.reset(Buffer.from(id, 'latin1'));
  }

  newToken(path: Path): Buffer {
    return this.#tokens.later(path.peer);
  }

  watchReset(connection: ServerConnection, token: Buffer | undefined): void {
    this.#resets.watch(connection, token);
  }

  dirty(connection: ServerConnection): void {
    this.#dirty.push(connection);
    this.#socket.ask();
  }

  schedule(connection: ServerConnection): void {
    this.#timers.schedule(connection, this.now);
  }

  forget(connection: ServerConnection): void {
    this.#timers.remove(connection);
    connection.ownIds.dropAll();
    this.watchReset(connection, undefined);
    this.#dropOf(connection, connection.originalDestination);
    this.#dropOf(connection, connection.retrySource);
    this.#connections.delete(connection);
    if (this.#draining && this.#connections.size === 0) {
      this.#close();
    }
  }

  #dropOf(connection: ServerConnection, id: string | undefined): void {
    if (id !== undefined && this.#ids.get(id) === connection) {
      this.#ids.delete(id);
    }
  }

  send(path: Path, from: number, length: number, segment: number, marked: boolean): number {
    this.writer.protect();
    return this.#socket.send(path.peer, path.local, from, length, segment, marked);
  }

  localAddress(path: Path): { readonly address?: string | undefined; readonly port?: number | undefined } {
    return this.#socket.localAddress(path.local);
  }

  // ---------------------------------------------------------------- what comes

  datagrams(length: number, segment: number, peer: Buffer, local: Buffer | undefined, ecn: number): void {
    this.now = performance.now();
    for (let from = 0; from < length; from += segment) {
      this.#datagram(from, Math.min(length, from + segment), peer, local, ecn);
      this.#forgetUnheard();
    }
  }

  /** What looked like a first packet was none: a connection that has heard nothing takes no place, and its token is as good as before. */
  #forgetUnheard(): void {
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun === undefined) {
      return;
    }
    if (!begun.heard) {
      begun.abandon();
    } else if (this.#begunBy !== '') {
      this.#tokens.spend(this.#begunBy);
    }
    this.#begunBy = '';
  }

  #datagram(start: number, end: number, peer: Buffer, local: Buffer | undefined, ecn: number): void {
    const { bytes } = this.input;
    let owner: ServerConnection | undefined;
    let path: Path | undefined;
    for (let from = start; from < end; ) {
      const long = (bytes[from]! & 0x80) !== 0;
      const header = this.#header;
      let key: string;
      if (!long) {
        if ((bytes[from]! & 0x40) === 0) {
          return;
        }
        if (end - from < LEAST_SHORT) {
          if (from === start && !this.#resetBy(start, end)) {
            this.#passToAll(start, end, peer, local, ecn);
          }
          return;
        }
        key = this.#keyAt(from + 1);
      } else {
        if (!header.read(bytes, from, end)) {
          return;
        }
        if (header.version === undefined) {
          if (from === start && end - start >= LEAST_INITIAL && header.versionNumber !== 0) {
            this.#answers.negotiate(header, peer, local);
          }
          return;
        }
        if (header.type === Type.RETRY) {
          return;
        }
        key = latin1(bytes, header.destinationAt, header.destinationAt + header.destinationLength);
      }
      let connection = this.#ids.get(key);
      if (connection === undefined) {
        // What follows a packet in a datagram is for the same connection, or for nobody.
        if (from !== start) {
          return;
        }
        if (!long && this.#resetBy(start, end)) {
          return;
        }
        const idAt = long ? header.destinationAt : from + 1;
        if (!long || header.destinationLength === ID_LENGTH) {
          const forwarded = this.#forward(idAt, start, end, peer, local, ecn);
          if (!long && !forwarded) {
            this.#passToAll(start, end, peer, local, ecn);
            this.#answers.reset(start, end, peer, local, this.now);
          }
          if (!long || forwarded) {
            return;
          }
        }
        connection = this.#accept(header, end - start, peer, local);
        if (connection === undefined) {
          return;
        }
      }
      if (owner !== undefined && owner !== connection) {
        return;
      }
      if (path === undefined) {
        owner = connection;
        path = connection.ending ? connection.path : connection.paths.find(peer, local);
        if (path === undefined) {
          return;
        }
        connection.datagramCame(path, end - start);
      }
      const next = long ? header.end : end;
      if (connection.ending) {
        connection.touch();
        return;
      }
      this.#packet(connection, path, from, next, start, end, long, key, ecn);
      from = next;
    }
  }

  /** The ID at a place of the input, a character for a byte. */
  #keyAt(at: number): string {
    const { bytes } = this.input;
    const recent = this.#recent;
    let same = true;
    for (let i = 0; i < ID_LENGTH; i++) {
      if (recent[i] !== bytes[at + i]) {
        recent[i] = bytes[at + i]!;
        same = false;
      }
    }
    if (!same) {
      this.#recentKey = latin1(recent, 0, ID_LENGTH);
    }
    return this.#recentKey;
  }

  #packet(
    connection: ServerConnection,
    path: Path,
    from: number,
    packetEnd: number,
    start: number,
    end: number,
    long: boolean,
    key: string,
    ecn: number,
  ): void {
    const header = this.#header;
    try {
      if (long) {
        if (header.version !== connection.version) {
          return;
        }
        const index = header.type === Type.INITIAL ? INITIAL : header.type === Type.HANDSHAKE ? HANDSHAKE : APPLICATION;
        const early = header.type === Type.EARLY;
        // An Initial packet that is not in a whole datagram was not sent by a client as it must be.
        if (canRead(connection, index, early) && (index !== INITIAL || end - start >= LEAST_INITIAL)) {
          readPacket(connection, index, early, path, from, header.numberAt, packetEnd, key, ecn, this.now);
        }
        return;
      }
      if (!readPacket(connection, APPLICATION, false, path, from, from + 1 + ID_LENGTH, packetEnd, key, ecn, this.now) && from === start) {
        this.#resetBy(start, end);
      }
    } catch (error) {
      this.#failed(connection, error);
    }
  }

  /** Whether a datagram that nobody understands says that a client has lost its connection, which then ends. */
  #resetBy(start: number, end: number): boolean {
    const found = this.#resets.find(this.input.bytes, start, end);
    try {
      found?.wasReset();
    } catch (error) {
      this.#failed(found!, error);
    }
    return found !== undefined;
  }

  #failed(connection: ServerConnection, error: unknown): void {
    connection.fail(error);
    if (error instanceof Error && error.name !== 'TransportError') {
      throw error;
    }
  }

  /** A first packet: begins a connection, or asks the client to show its address. */
  #accept(header: LongHeader, size: number, peer: Buffer, local: Buffer | undefined): ServerConnection | undefined {
    const { bytes } = this.input;
    if (header.type !== Type.INITIAL || size < LEAST_INITIAL || header.destinationLength < LEAST_DESTINATION || this.#draining) {
      return undefined;
    }
    const destination = bytes.subarray(header.destinationAt, header.destinationAt + header.destinationLength);
    const key = latin1(destination, 0, destination.length);
    const source = keepBytes(bytes.subarray(header.sourceAt, header.sourceAt + header.sourceLength));
    const version = header.version as QuicVersion;
    let originalDestination = key;
    let retrySource: string | undefined;
    let validated = false;
    let name = '';
    const { retry } = this.server.settings;
    if (header.tokenLength > 0) {
      const token = this.#tokens.read(bytes.subarray(header.tokenAt, header.tokenAt + header.tokenLength), peer);
      // One that was made with another key is as good as none, unless clients have to have one. nginx refuses it always.
      if (token === undefined ? retry : !token.valid && token.originalDestination !== undefined) {
        const reason = token === undefined ? 'cannot decrypt token' : 'invalid address validation token';
        this.#answers.refuse(version, destination, source, reason, peer, local);
        return undefined;
      }
      validated = token?.valid === true;
      name = validated ? token!.name : '';
      if (validated && token?.originalDestination !== undefined) {
        originalDestination = latin1(token.originalDestination, 0, token.originalDestination.length);
        retrySource = key;
      }
    }
    if (retry && !validated) {
      this.#answers.retry(version, destination, source, this.#makeId(), peer, local);
      return undefined;
    }
    let connection: ServerConnection;
    try {
      const beginning = { version, originalDestination, source, retrySource, validated };
      connection = new ServerConnection(this, this.server, new Path(peer, local), beginning, this.now);
    } catch (error) {
      if (error instanceof NoRoom) {
        return undefined;
      }
      throw error;
    }
    connection.begin(initialKeys(version, destination));
    this.#ids.set(key, connection);
    this.#connections.add(connection);
    this.#begun = connection;
    this.#begunBy = name;
    connection.touch();
    return connection;
  }

  /** Passes a datagram on whose ID was made by another process. Returns false where that is not so, or where the other one has gone. */
  #forward(idAt: number, start: number, end: number, peer: Buffer, local: Buffer | undefined, ecn: number): boolean {
    if (this.#forwarder === undefined) {
      return false;
    }
    const { bytes } = this.input;
    const port = this.#routed.portOf(bytes, idAt);
    return port !== 0 && this.#forwarder.forward(port, bytes.subarray(start, end), peer, local, ecn);
  }

  /** Has the other processes look whether a datagram says that a client has lost a connection: what is in front of its token is random. */
  #passToAll(start: number, end: number, peer: Buffer, local: Buffer | undefined, ecn: number): void {
    if (this.#forwarder !== undefined && end - start >= LEAST_RESET && this.#passes.may(this.now)) {
      this.#forwarder.forwardToAll(this.input.bytes.subarray(start, end), peer, local, ecn);
    }
  }

  /** Takes a datagram that another process has read. Returns false when it is not of a connection here. */
  delivered(datagram: Buffer, peer: Buffer, local: Buffer | undefined, ecn: number): boolean {
    const { bytes } = this.input;
    if (datagram.length > bytes.length) {
      return false;
    }
    const long = (datagram[0]! & 0x80) !== 0;
    const at = long ? 6 : 1;
    const known = this.#ids.has(latin1(datagram, at, Math.min(datagram.length, at + ID_LENGTH)));
    if (!known && long) {
      return false;
    }
    datagram.copy(bytes);
    if (known) {
      this.datagrams(datagram.length, datagram.length, peer, local, ecn);
    } else {
      this.now = performance.now();
      if (!this.#resetBy(0, datagram.length)) {
        return false;
      }
    }
    this.#socket.ask();
    return true;
  }

  // ---------------------------------------------------------------- turns

  batchOver(): void {
    this.#flush();
  }

  #expired(connection: ServerConnection, now: number): void {
    this.now = now;
    try {
      connection.expired(now);
    } catch (error) {
      this.#failed(connection, error);
    }
  }

  /** Has all connections send that have something to send. */
  #flush(): void {
    if (this.#dirty.length === 0) {
      return;
    }
    this.now = performance.now();
    for (let round = 0; this.#dirty.length > 0 && round < MOST_ROUNDS; round++) {
      const dirty = this.#dirty;
      this.#dirty = this.#spare;
      let next = 0;
      try {
        while (next < dirty.length) {
          this.#flushOne(dirty[next++]!);
        }
      } finally {
        while (next < dirty.length) {
          this.#dirty.push(dirty[next++]!);
        }
        emptyList(dirty);
        this.#spare = dirty;
      }
    }
    if (this.#dirty.length > 0) {
      this.#socket.ask();
    }
  }

  #flushOne(connection: ServerConnection): void {
    try {
      connection.prepare();
      connection.flush(this.now);
    } catch (error) {
      connection.isDirty = false;
      this.#failed(connection, error);
    }
  }

  // ---------------------------------------------------------------- the end

  /** Begins no more connections; the socket is closed with the last. `read`: nobody else reads it. */
  drain(read: boolean): void {
    this.#draining = true;
    if (!read && this.#forwarder !== undefined) {
      this.#socket.release();
    }
    if (this.#connections.size === 0) {
      this.#close();
    }
  }

  /** Tells all clients that it is over, and closes the socket. */
  terminate(): void {
    for (const connection of [...this.#connections]) {
      if (!connection.ending) {
        connection.kill();
        connection.flush(this.now);
      }
      connection.abandon();
    }
    this.#close();
  }

  #close(): void {
    this.#timers.close();
    this.#socket.close();
  }
}
