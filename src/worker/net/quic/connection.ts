// A little over 400 lines: the parts of a connection meet here, and what each asks of the others.
import { ConnectionEnd } from './connection-end.js';
import { type Beginning, NoRoom, type QuicConnectionHost } from './connection-host.js';
import { type IdGiver, OwnIds, PeerIds, type ResetWatch } from './connection-ids.js';
import type { QuicConnection, QuicConnectionHandler, QuicStream, QuicStreamHandler, QuicTls } from './contract.js';
import { Control, ControlQueue } from './control-queue.js';
import { DatagramSender } from './datagram-sender.js';
import { Code, TransportError } from './errors.js';
import type { QuicEnds, QuicServer, QuicSettings } from './host.js';
import { KeyPhases } from './key-phases.js';
import { BASE, MtuDiscovery } from './mtu.js';
import { PacketFates } from './packet-fates.js';
import type { Path } from './path.js';
import { Paths } from './paths.js';
import { Recovery } from './recovery.js';
import { giveRecord, type SentPacket } from './sent-packets.js';
import { ServerHandshake } from './server-handshake.js';
import { APPLICATION, GONE, HANDSHAKE, INITIAL, Space } from './space.js';
import { StreamTable, type StreamTableOwner } from './stream-table.js';
import type { PeerParameters } from './transport-parameters.js';
import type { initialKeys, QuicVersion } from './version.js';

/** A server's connection (RFC 9000): its parts, its times and its end. Times are monotonic milliseconds. */
export class ServerConnection implements QuicConnection, StreamTableOwner, QuicEnds, IdGiver, ResetWatch {
  readonly host: QuicConnectionHost;
  readonly settings: QuicSettings;
  readonly version: QuicVersion;
  readonly spaces: Space[] = [new Space(INITIAL), new Space(HANDSHAKE), new Space(APPLICATION)];
  readonly keys = new KeyPhases();
  readonly controls = new ControlQueue();
  readonly ownIds: OwnIds;
  readonly peerIds: PeerIds;
  readonly originalDestination: string;
  readonly retrySource: string | undefined;
  readonly handshake: ServerHandshake;
  readonly paths: Paths;
  readonly streams: StreamTable;
  readonly fates = new PacketFates(this);
  readonly recovery: Recovery;
  readonly sender = new DatagramSender(this);
  readonly mtu = new MtuDiscovery();
  readonly end: ConnectionEnd;
  handler: QuicConnectionHandler | undefined = undefined;
  /** A packet came that is authentic. */
  heard = false;
  /** The handshake is complete, which the client has shown. */
  confirmed = false;
  isDirty = false;
  deadline = Number.POSITIVE_INFINITY;
  /** The endpoint's heap keeps its place here. */
  heapAt = -1;
  heapTime = Number.POSITIVE_INFINITY;
  /** The endpoint's name of the token by which the peer says that it has lost the connection; empty where it has told none. */
  resetName = '';
  /** When it is over unless something comes. */
  idleAt: number;
  readonly #handshakeBy: number;
  idleTimeout: number;
  /** A packet that asks for an acknowledgement has left since something came. */
  #asked = false;
  #received = 0;

  /** Throws {@link NoRoom} where the server does not take the client. */
  constructor(host: QuicConnectionHost, server: QuicServer, path: Path, beginning: Beginning, now: number) {
    const client = server.admit(this);
    if (client === undefined) {
      throw new NoRoom();
    }
    const { settings } = server;
    this.end = new ConnectionEnd(this, client);
    this.settings = settings;
    this.host = host;
    this.version = beginning.version;
    this.originalDestination = beginning.originalDestination;
    this.retrySource = beginning.retrySource;
    path.validated = beginning.validated;
    this.paths = new Paths(this, path);
    this.ownIds = new OwnIds(this, this.controls);
    this.peerIds = new PeerIds(beginning.source, settings.idLimit, this.controls, this);
    this.handshake = new ServerHandshake(this, client);
    this.streams = new StreamTable(this, settings.streams, this.controls);
    this.recovery = new Recovery(this.fates, BASE);
    this.idleTimeout = settings.idleTimeout;
    this.idleAt = now + settings.idleTimeout;
    this.#handshakeBy = now + settings.handshakeTimeout;
  }

  /** Takes the keys of the first packets. */
  begin({ client, server }: ReturnType<typeof initialKeys>): void {
    this.spaces[INITIAL]!.readKeys = client(false);
    this.spaces[INITIAL]!.writeKeys = server(true);
  }

  // ---------------------------------------------------------------- what the protocol above sees

  get protocol(): string {
    return this.handshake.protocol;
  }

  get tls(): QuicTls {
    return this.handshake.agreed;
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
    return this.sender.bytes;
  }

  get now(): number {
    return this.host.now;
  }

  openUnidirectional(handler: QuicStreamHandler): QuicStream | undefined {
    return this.ending ? undefined : this.streams.openUnidirectional(handler);
  }

  handlerOf(id: number): QuicStreamHandler | undefined {
    return this.streams.get(id)?.handler;
  }

  handlers(): QuicStreamHandler[] {
    return this.streams.handlers();
  }

  close(code: number, reason: string): void {
    this.end.close(true, code, reason, 0, 'local');
  }

  stopCredit(): void {
    this.streams.stopCredit();
  }

  // ---------------------------------------------------------------- what its parts ask for

  /** The path in use. */
  get path(): Path {
    return this.paths.current;
  }

  /** Nothing is read or sent any more but the answer that it is over. */
  get ending(): boolean {
    return this.end.begun;
  }

  get window(): number {
    return this.recovery.cubic.window;
  }

  get probeTimeout(): number {
    return this.recovery.rtt.probeTimeout(this.handshake.maxAckDelay);
  }

  /** There are frames for packets of the application. */
  get hasFrames(): boolean {
    return this.controls.length > 0 || this.streams.queueOfSenders.size > 0;
  }

  /** A token for the address in use; undefined as long as nobody knows whether the client is there. */
  newToken(): Buffer | undefined {
    return this.path.validated ? this.host.newToken(this.path) : undefined;
  }

  /** The client is known to be at the address in use, for which it gets a token (RFC 9000, 8.1.3 and 9.3). */
  vouch(): void {
    this.controls.add(Control.TOKEN, 0);
  }

  resetToken(id: string): Buffer {
    return this.host.resetToken(id);
  }

  newId(): string {
    return this.host.newId(this);
  }

  dropId(id: string): void {
    this.host.dropId(id);
  }

  tokenInUse(token: Buffer | undefined): void {
    this.host.watchReset(this, token);
  }

  /** Finds out how long datagrams may be on the path in use, which is validated. */
  beginMtu(): void {
    this.mtu.begin(this.handshake.peer!.maxPayload);
  }

  /** Has the connection flushed before the tick is over. */
  touch(): void {
    if (!this.isDirty && !this.end.complete) {
      this.isDirty = true;
      this.host.dirty(this);
    }
  }

  // ---------------------------------------------------------------- the handshake

  /** The client's transport parameters came. */
  allowed(peer: PeerParameters): void {
    this.streams.allow(peer);
    if (peer.idleTimeout > 0) {
      this.idleTimeout = Math.min(this.idleTimeout, peer.idleTimeout);
    }
  }

  /** The next bytes of the handshake came in order. */
  cryptoCame(space: Space, bytes: Buffer, now: number): void {
    this.handshake.came(space, bytes);
    if (this.handshake.done && !this.confirmed) {
      this.#complete(now);
    }
  }

  #complete(now: number): void {
    this.handshake.settle();
    this.confirmed = true;
    this.path.validated = true;
    this.discard(this.spaces[INITIAL]!);
    this.discard(this.spaces[HANDSHAKE]!);
    this.spaces[INITIAL] = this.spaces[HANDSHAKE] = GONE;
    this.controls.add(Control.DONE, 0);
    this.vouch();
    this.ownIds.allow(this.handshake.peer!.idLimit);
    this.beginMtu();
    this.beginEarly();
    this.stayAwake(now);
    this.handler?.established();
    this.touch();
  }

  /** Makes the protocol above, unless it is there: early data came, or the handshake is complete. */
  beginEarly(): void {
    this.handler ??= this.handshake.accept();
  }

  /** A space is not used any more. */
  discard(space: Space): void {
    if (!space.discarded) {
      this.recovery.discard(space);
      space.discard();
    }
  }

  // ---------------------------------------------------------------- what comes

  /** `bytes` of a datagram came on a path. */
  datagramCame(path: Path, bytes: number): void {
    this.#received += bytes;
    path.received += bytes;
  }

  /** Something authentic came: it lives on. */
  stayAwake(now: number): void {
    this.#asked = false;
    this.#idleFrom(now);
  }

  #idleFrom(now: number): void {
    this.idleAt = now + Math.max(this.idleTimeout, 3 * this.probeTimeout);
  }

  /** The peer has lost the connection: a datagram that nobody understands said so. */
  wasReset(): void {
    this.end.drain({ by: 'reset', application: false, code: Code.NO_ERROR, reason: 'stateless reset' });
  }

  /** CONNECTION_CLOSE came. */
  peerClosed(application: boolean, code: number, reason: string): void {
    this.end.drain({ by: 'peer', application, code, reason });
  }

  // ---------------------------------------------------------------- what leaves

  /** A batch of datagrams was read. */
  prepare(): void {
    if (!this.ending) {
      this.handler?.flush();
    }
  }

  /** Sends what there is. */
  flush(now: number): void {
    this.isDirty = false;
    if (this.end.complete) {
      return;
    }
    if (this.ending) {
      this.end.answer();
      return;
    }
    if (this.confirmed) {
      this.keys.updateOwn(this.spaces[APPLICATION]!, now, 3 * this.probeTimeout);
    }
    this.paths.send(now);
    this.sender.sendPackets(now);
    this.sender.probeMtu(now);
    this.#reschedule();
  }

  /** A packet is ready to leave. */
  packetBuilt(space: Space, packet: SentPacket, now: number): void {
    if (this.sender.marks) {
      space.markedSent++;
      packet.marked = true;
      this.path.marks.sent();
    }
    if (!packet.eliciting) {
      giveRecord(packet);
      return;
    }
    if (!this.#asked) {
      // The client has as long to answer as it has to speak (RFC 9000, 10.1).
      this.#asked = true;
      this.#idleFrom(now);
    }
    this.recovery.sent(space, packet, now);
  }

  // ---------------------------------------------------------------- time

  #reschedule(): void {
    let due = Math.min(this.idleAt, this.keys.dropOldAt, this.sender.pacedUntil, this.paths.due, this.recovery.due);
    if (!this.confirmed) {
      due = Math.min(due, this.#handshakeBy);
    }
    for (const { ackAt } of this.spaces) {
      due = Math.min(due, ackAt);
    }
    this.setDeadline(due);
  }

  /** Has the connection expire at this moment. */
  setDeadline(due: number): void {
    if (due !== this.deadline) {
      this.deadline = due;
      this.host.schedule(this);
    }
  }

  /** The deadline has come. The next one is known after the flush that this leads to. */
  expired(now: number): void {
    if (this.end.complete) {
      return;
    }
    this.deadline = Number.POSITIVE_INFINITY;
    if (this.ending) {
      this.end.forget();
      return;
    }
    if (now >= this.idleAt || (!this.confirmed && now >= this.#handshakeBy)) {
      this.end.timedOut();
      return;
    }
    this.keys.expired(now);
    for (const space of this.spaces) {
      if (now >= space.ackAt) {
        space.ackNow = true;
        space.ackAt = Number.POSITIVE_INFINITY;
      }
    }
    this.paths.expired(now);
    this.recovery.expired(now);
    this.touch();
  }

  // ---------------------------------------------------------------- the end

  /** Something of this connection went wrong: what a client did, or an error of ours. */
  fail(error: unknown): void {
    const known = error instanceof TransportError ? error : new TransportError(Code.INTERNAL, 'internal error');
    this.end.close(false, known.code, known.message, known.frame, 'local');
  }

  /** Ends the connection whatever it is doing: the process must go. */
  kill(code = 0): void {
    this.end.close(true, code, '', 0, 'killed');
  }

  /** Frees all at once, without a word: the process ends, or the client is not to hear anything. */
  abandon(): void {
    this.end.abandon();
  }
}
