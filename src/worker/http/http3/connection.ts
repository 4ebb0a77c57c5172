// Longer than most: a connection's whole life, whose steps only make sense together.

import { INFO } from '../../../shared/log/level.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import { setTimer } from '../../../shared/time/timer.js';
import type { DebugClients } from '../../connections/debug-clients.js';
import { type HeldConnection, HeldList } from '../../connections/held-list.js';
import type { Idle } from '../../connections/idle-queue.js';
import type { QuicConnection, QuicConnectionHandler, QuicEnd, QuicStream, QuicStreamHandler } from '../../net/quic/contract.js';
import { endFailedWork } from '../../task/at-work.js';
import { FAILED } from '../../task/codes.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import type { ConnectionHost } from '../connection/connection-host.js';
import { KnownClient, type KnownOpening } from '../connection/known-client.js';
import type { FieldLimits } from '../fields/field-sink.js';
import { H3_ERROR } from '../http3-frames/protocol.js';
import { DecoderInstructions } from '../http3-frames/qpack/decoder-stream.js';
import { QpackTable } from '../http3-frames/qpack/table.js';
import { FloodGuard } from '../multiplexed/flood.js';
import { beginStreams, countBegun, countOver, endStreams } from '../multiplexed/stream-counts.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import { clientSlot, headSlot } from '../request/client-settings.js';
import { CLIENT_CLOSED_REQUEST } from '../request/codes.js';
import { type CertificateCheck, certificateCheck, checkLater } from './certificate-check.js';
import { RequestStream } from './channel.js';
import { ClientStream, type ClientStreams } from './client-stream.js';
import { HqChannel } from './hq-channel.js';
import { http3Slot } from './http3-settings.js';
import { OwnStreams, TABLE_CAPACITY } from './own-streams.js';
import { RejectedStream } from './rejected-stream.js';
import { RequestChannel } from './request-channel.js';
import type { Http3Stream } from './stream.js';

/** Bytes of bodies that are given to the transport before other connections have their turn. */
const MUCH = 512 * 1024;
/** How long a client that has been told to leave has to hear of it. */
const FAREWELL_MS = 250;

const State = { OPEN: 0, LOST: 1, CLOSED: 2 } as const;

/**
 * One HTTP/3 client connection: its life, from the handshake to the close. What comes on a request's stream is read by
 * {@link RequestChannel}, what comes on the client's other streams by {@link ClientStream}. nginx: ngx_http_v3_session_t.
 */
export class Http3Connection extends KnownClient implements QuicConnectionHandler, Expiring, HeldConnection, Idle, TickTask {
  idleBefore: Idle | null = null;
  idleAfter: Idle | null = null;
  heldAt = -1;
  readonly udp = true;
  readonly action = 'processing HTTP/3 connection';
  readonly descriptor = -1;
  readonly host: ConnectionHost;
  /** The client speaks HTTP/0.9, by the name of `hq-interop`, in place of HTTP/3. */
  readonly hq: boolean;
  /** The name that the handshake was for, when a server answers to it. */
  readonly serverName: string | undefined;
  readonly flood: FloodGuard;
  readonly fieldLimits: FieldLimits;
  readonly #deadline: Deadline;
  readonly #quic: QuicConnection;
  readonly #own: OwnStreams;

  // --- fields
  readonly table: QpackTable = new QpackTable(TABLE_CAPACITY);
  readonly #instructions = new DecoderInstructions(this.table);
  /** Streams whose sections wait for the client's encoder. */
  #blocked: Set<RequestChannel> | undefined = undefined;

  // --- streams
  readonly clientStreams: ClientStreams = { control: false, encoder: false, decoder: false };
  /** How many streams for requests are open; the transport knows them by their identifiers. */
  #channels = 0;
  readonly #requests = new HeldList<Http3Stream>();
  /** The identifier of the first request that no stream has been opened for. */
  #nextId = 0;
  /** The identifier that was named to the client as that of the first request that is not served; -1 before. */
  #goaway = -1;
  #idleSince: number;

  /** The first of the streams whose heads are awaited from the end of the tick on, if they have not come by then. */
  #fresh: RequestStream | null = null;
  /** The first and the last of the streams whose turn is to come. */
  #ready: Http3Stream | null = null;
  #lastReady: Http3Stream | null = null;
  #asked = false;
  #state: number = State.OPEN;
  /** The question for the status of the client's certificate, or what stands for it before the handshake is over; null: none is open. */
  #check: CertificateCheck | null = null;

  constructor(
    host: ConnectionHost,
    quic: QuicConnection,
    address: AddressRuntime,
    id: number,
    debugClients: DebugClients | undefined,
    opened: KnownOpening,
  ) {
    super(endsOf(quic), address, id, debugClients, opened);
    this.host = host;
    this.#quic = quic;
    this.hq = quic.protocol === 'hq-interop';
    this.serverName = opened.tls?.serverName;
    this.#idleSince = this.acceptedAt;
    this.#deadline = new Deadline(this);
    const { headLimits } = this.server.conf(headSlot);
    this.fieldLimits = { field: headLimits.largeBufferSize, total: headLimits.largeBufferSize * headLimits.largeBufferCount };
    this.flood = new FloodGuard(this.server.conf(http3Slot).http3MaxConcurrentStreams);
    this.#own = new OwnStreams(this, quic);
    this.#check = checkLater(this.tls);
    host.counters.waiting++;
    host.counters.changed();
    host.idle.add(this);
  }

  /** Begins, after it has said what it takes. */
  start(): void {
    this.noteAccept();
    this.#openOwn();
    if (this.host.draining) {
      this.drain();
    }
    this.#settle();
  }

  /** When the datagrams came that are read. */
  get now(): number {
    return this.#quic.now;
  }

  /** Streams are read and written. */
  get open(): boolean {
    return this.#state === State.OPEN;
  }

  established(): void {
    this.#openOwn();
    this.#check = certificateCheck(this.tls, this.server, () => this.#checked());
  }

  streamsAllowed(): void {
    this.#openOwn();
  }

  /** The client's certificate may be good for requests. */
  #checked(): void {
    this.#check = null;
    for (const handler of this.#quic.handlers()) {
      if (handler instanceof RequestStream) {
        handler.resume();
      }
    }
  }

  /** Requests wait until something is known of the client's certificate. */
  get holding(): boolean {
    return this.#check !== null;
  }

  #openOwn(): void {
    if (this.open && !this.hq) {
      this.#own.open(this.server.conf(http3Slot).http3MaxConcurrentStreams);
    }
  }

  /** The requests under way in the order of their streams, for callers that may end some of them. */
  requestsOpen(): Http3Stream[] {
    return this.#requests.all().sort((a, b) => a.streamId - b.streamId);
  }

  // ---------------------------------------------------------------- streams

  // nginx: ngx_http_v3_init_stream, ngx_http_v3_init_request_stream.
  opened(quic: QuicStream): QuicStreamHandler {
    if (quic.unidirectional) {
      return new ClientStream(this, quic);
    }
    if (this.#goaway !== -1 && quic.id >= this.#goaway) {
      return new RejectedStream(this, quic);
    }
    const channel = this.hq ? new HqChannel(this, quic) : new RequestChannel(this, quic);
    this.#channels++;
    channel.nextFresh = this.#fresh;
    this.#fresh = channel;
    this.soon();
    this.#nextId = Math.max(this.#nextId, quic.id + 4);
    const { keepaliveTimeout, keepaliveRequests, keepaliveTime } = this.server.root.conf(clientSlot);
    const count = this.#nextId / 4;
    if (keepaliveTimeout === 0 || count >= keepaliveRequests || this.now - this.acceptedAt > keepaliveTime) {
      this.#sendGoaway();
    }
    this.#deadline.clear();
    return channel;
  }

  /** A stream for a request is over in both directions. */
  channelClosed(): void {
    this.#channels--;
    this.#settle();
  }

  /** Bytes came. */
  arrived(bytes: number): void {
    this.flood.moved(bytes);
    if (this.flood.wasteful) {
      this.#floodDetected();
    }
  }

  /** Counts a frame that brings nothing by itself. */
  idleFrame(): void {
    if (!this.flood.idleFrame()) {
      this.#floodDetected();
    }
  }

  // nginx: ngx_http_v3_check_flood.
  #floodDetected(): void {
    this.fail(H3_ERROR.NO_ERROR, 'http3 flood detected');
  }

  tooManyBroken(): void {
    this.fail(H3_ERROR.EXCESSIVE_LOAD, 'client broke off too many streams');
  }

  /** The client changes the urgency of a request; one that has not begun says it itself. */
  prioritize(streamId: number, text: string): void {
    const handler = this.#quic.handlerOf(streamId);
    if (handler instanceof RequestStream) {
      handler.stream?.prioritize(text);
    }
  }

  // ---------------------------------------------------------------- fields

  /** A section has to wait for the client's encoder; false if there are too many of those. */
  block(channel: RequestChannel): boolean {
    this.#blocked ??= new Set();
    if (!this.#blocked.has(channel) && this.#blocked.size >= this.server.conf(http3Slot).http3MaxConcurrentStreams) {
      this.fail(H3_ERROR.QPACK_DECOMPRESSION_FAILED, 'client exceeded http3_max_blocked_streams limit');
      return false;
    }
    this.#blocked.add(channel);
    return true;
  }

  /** A stream waits no longer. */
  unblocked(channel: RequestChannel): void {
    this.#blocked?.delete(channel);
  }

  /** The client's encoder has put something into the table. */
  encoderSpoke(): void {
    for (const channel of [...(this.#blocked ?? [])]) {
      if (channel.required <= this.table.inserted) {
        this.unblocked(channel);
        channel.unblock();
      }
    }
    this.soon();
  }

  /** A section was decoded that refers to some of the first `required` insertions. */
  sectionRead(streamId: number, required: number): void {
    if (required > 0) {
      this.#instructions.acknowledge(streamId, required);
      this.soon();
    }
  }

  /** What sections a stream may still have are not read. */
  willNotRead(channel: RequestStream): void {
    if (channel.reads && this.open && !this.hq) {
      channel.reads = false;
      this.#instructions.cancel(channel.quic.id);
      this.soon();
    }
  }

  // ---------------------------------------------------------------- requests

  requestBegins(stream: Http3Stream): void {
    const { host, flood, server } = this;
    // It may have moved.
    const { address = '', port = 0 } = this.#quic.remote();
    stream.remoteAddress = this.remoteAddress = address;
    stream.remotePort = this.remotePort = port;
    if (this.#requests.size === 0) {
      beginStreams(host, this);
    }
    this.#requests.add(stream);
    countBegun(host);
    flood.opened(server.conf(http3Slot).http3MaxConcurrentStreams);
  }

  /** A request is over; `well`: nobody broke it off. */
  requestOver(stream: Http3Stream, well: boolean): void {
    const { host } = this;
    if (!this.#requests.delete(stream)) {
      return;
    }
    if (well) {
      this.flood.finished();
    }
    countOver(host, stream.request);
    if (this.#requests.size > 0) {
      return;
    }
    endStreams(host);
    this.#idleSince = performance.now();
    if (this.#state === State.LOST) {
      this.#close();
    } else {
      host.idle.add(this);
      this.#settle();
    }
  }

  // ---------------------------------------------------------------- the way out

  /** A stream has something to send. */
  ready(stream: Http3Stream): void {
    if (this.#ready === null) {
      this.#ready = stream;
    } else {
      this.#lastReady!.nextReady = stream;
    }
    this.#lastReady = stream;
    this.soon();
  }

  /** Gives the transport at the end of the tick what came together in it, before that sends. */
  soon(): void {
    if (!this.#asked && this.open) {
      this.#asked = true;
      endOfTick.ask(AtTickEnd.JOINED, this);
    }
  }

  tickEnded(): void {
    this.#asked = false;
    this.flush();
  }

  /** Gives the transport what streams have, by turns. */
  flush(): void {
    let much = MUCH;
    while (this.#fresh !== null) {
      const channel: RequestStream = this.#fresh;
      this.#fresh = channel.nextFresh;
      channel.nextFresh = null;
      channel.awaitHead();
    }
    while (this.open && this.#ready !== null && much > 0) {
      let stream: Http3Stream | null = this.#ready;
      this.#ready = this.#lastReady = null;
      while (stream !== null) {
        const { nextReady }: Http3Stream = stream;
        stream.nextReady = null;
        try {
          much -= stream.takeTurn();
        } catch (error) {
          if (!endFailedWork(error)) {
            throw error;
          }
        }
        stream = nextReady;
      }
    }
    if (!this.open) {
      return;
    }
    if (this.#instructions.waiting > 0) {
      this.#own.instruct(this.#instructions.take());
    }
    if (this.#ready !== null) {
      this.soon();
    }
  }

  /** Breaks a stream off once what it was given has left. */
  resetSoon(quic: QuicStream, code: number): void {
    setTimer(resetLater, 1, this, quic, code, 0);
  }

  // ---------------------------------------------------------------- the end

  /** What is to be done now that everything that could be was. */
  #settle(): void {
    if (!this.open || this.#requests.size > 0) {
      return;
    }
    const settings = this.server.root.conf(clientSlot);
    const now = performance.now();
    if (this.#goaway !== -1) {
      // Answers may still be on their way.
      this.#deadline.set(now, this.#channels > 0 ? settings.sendTimeout : FAREWELL_MS);
    } else if (this.#channels > 0) {
      // A client that acknowledges nothing does not stay for that.
      this.#deadline.set(now, Math.max(settings.sendTimeout, settings.keepaliveTimeout));
    } else {
      this.#deadline.set(
        this.#idleSince,
        settings.keepaliveTimeout === 0 ? this.server.conf(headSlot).clientHeaderTimeout : settings.keepaliveTimeout,
      );
    }
  }

  expired(): void {
    if (this.open && this.#requests.size === 0) {
      this.#quic.close(H3_ERROR.NO_ERROR, this.#goaway === -1 ? 'keepalive timeout' : 'connection shutdown');
    }
  }

  /** Says, once, that no further requests are served. nginx: ngx_http_v3_shutdown. */
  #sendGoaway(): void {
    if (this.#goaway !== -1) {
      return;
    }
    this.#goaway = this.#nextId;
    this.#own.goaway(this.#goaway);
    this.#quic.stopCredit();
  }

  /** Gives the connection up, with all of its streams, for what the client did. nginx: ngx_http_v3_finalize_connection. */
  fail(code: number, message: string): void {
    if (!this.open) {
      return;
    }
    this.note(INFO, message);
    this.#quic.close(code, message);
  }

  // Streams were closed before, which told their requests.
  ended(why: QuicEnd): void {
    if (why.by === 'peer' && why.code !== H3_ERROR.NO_ERROR && why.code !== 0) {
      this.note(INFO, `client closed connection with error ${why.code}`);
    }
    this.closed = true;
    for (const stream of this.requestsOpen()) {
      stream.gone();
    }
    this.#close();
  }

  /** The worker is about to leave: no further requests are taken. */
  drain(): void {
    if (this.open) {
      this.#sendGoaway();
      this.#settle();
    }
  }

  /** Closes a connection without requests for a new one. */
  closeIdle(): void {
    if (this.open) {
      this.#quic.close(H3_ERROR.NO_ERROR, 'connection shutdown');
    }
  }

  /** Ends the connection whatever it is doing: the worker must go. */
  kill(): void {
    if (this.#state === State.CLOSED) {
      return;
    }
    for (const stream of this.requestsOpen()) {
      const r = stream.request;
      stream.closed = true;
      r.kill(r.headerSent ? FAILED : CLIENT_CLOSED_REQUEST);
    }
    if (this.open) {
      this.#quic.close(H3_ERROR.NO_ERROR, 'connection shutdown');
    }
    this.#close();
  }

  /** The connection is no more; as long as requests go on, it counts as one. */
  #close(): void {
    if (this.#state === State.CLOSED) {
      return;
    }
    if (this.#state === State.OPEN) {
      this.#state = State.LOST;
      this.host.idle.remove(this);
      this.#deadline.close();
      this.#check?.cancel();
      this.#ready = this.#lastReady = null;
    }
    if (this.#requests.size > 0) {
      return;
    }
    this.#state = State.CLOSED;
    this.host.counters.waiting--;
    this.host.env.logFiles.flushTick();
    this.host.uncount(this);
    this.host.connectionClosed(this);
  }
}

/** As often, and every so many milliseconds, is an answer looked after that has not left. */
const LOOKS = 200;
const LOOK_MS = 5;

/** Breaks a stream off behind its answer. */
function resetLater(c: Http3Connection, quic: QuicStream, code: number, looks: number): void {
  if (!c.open) {
    return;
  }
  if (quic.pending && looks < LOOKS) {
    setTimer(resetLater, LOOK_MS, c, quic, code, looks + 1);
  } else {
    quic.reset(code);
  }
}

const endsOf = (quic: QuicConnection) => ({
  remote: () => ({ address: quic.remoteAddress, port: quic.remotePort }),
  local: () => ({ address: quic.localAddress, port: quic.localPort }),
});
