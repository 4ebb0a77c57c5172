import { IdTable } from '../../../shared/collection/id-table.js';
import type { QuicConnectionHandler, QuicStream, QuicStreamHandler } from './contract.js';
import { Control, type ControlQueue } from './control-queue.js';
import { Code, TransportError } from './errors.js';
import { SendQueue } from './send-queue.js';
import { Stream } from './stream.js';
import type { PeerParameters } from './transport-parameters.js';

/** What a server lets its clients have. */
export interface StreamLimits {
  /** How many request streams at a time, and how many of the other kind. */
  readonly bidi: number;
  readonly uni: number;
  /** Bytes of a stream that nobody has used, and of all together. */
  readonly window: number;
  readonly connectionWindow: number;
}

/** Who has the streams. */
export interface StreamTableOwner {
  /** Something is to be sent. */
  touch(): void;
  readonly handler: QuicConnectionHandler | undefined;
  /** The congestion window, in bytes. */
  readonly window: number;
}

/** The most that is kept for one stream, in bytes, and for all together beyond what each may have in any case. */
const KEEP_MOST = 2 * 1024 * 1024;
const KEEP_ALL = 4 * KEEP_MOST;

/** The streams of a connection, and their flow control (RFC 9000, 2 to 4). */
export class StreamTable {
  readonly #owner: StreamTableOwner;
  readonly #limits: StreamLimits;
  readonly #controls: ControlQueue;
  #streams = new IdTable<Stream>();
  readonly queueOfSenders = new SendQueue();
  #blocked: Stream[] | undefined = undefined;

  // What the peer allows.
  maxData = 0;
  #sent = 0;
  /** Bytes that wait in all streams to be sent, or to be acknowledged. */
  #kept = 0;
  #maxUni = 0;
  #bidiLocal = 0;
  #uni = 0;
  #nextUni = 0;

  // What we allow.
  receiveMax: number;
  #received = 0;
  #used = 0;
  maxBidi: number;
  maxUni: number;
  #openedBidi = 0;
  #openedUni = 0;
  #closedBidi = 0;
  #closedUni = 0;
  #creditStopped = false;
  /** Stands while the connection ends: its streams are told only that. */
  #ending = false;

  constructor(owner: StreamTableOwner, limits: StreamLimits, controls: ControlQueue) {
    this.#owner = owner;
    this.#limits = limits;
    this.#controls = controls;
    this.receiveMax = limits.connectionWindow;
    this.maxBidi = limits.bidi;
    this.maxUni = limits.uni;
  }

  /** Takes what the client's transport parameters allow. */
  allow(peer: PeerParameters): void {
    this.maxData = peer.maxData;
    this.#bidiLocal = peer.streamDataBidiLocal;
    this.#uni = peer.streamDataUni;
    this.#maxUni = peer.streamsUni;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** How many bytes may be kept for a stream, sent or not, that has so many: what its peer does not take must not fill the memory. */
  keepMost(kept: number): number {
    const wanted = Math.min(KEEP_MOST, 2 * this.#owner.window, kept + KEEP_ALL - this.#kept);
    return Math.max(this.#limits.window, wanted);
  }

  /** Counts bytes that are kept for a stream; a negative number of them were let go. */
  keeps(bytes: number): void {
    this.#kept += bytes;
  }

  get(id: number): Stream | undefined {
    return this.#streams.get(id);
  }

  /** The handlers of all streams that something came on, in the order of the streams. */
  handlers(): QuicStreamHandler[] {
    return this.#streams.all().flatMap(({ handler }) => (handler === undefined ? [] : [handler]));
  }

  /**
   * The stream of a frame that came; undefined for one that is over. `theirs`: the frame is about what the peer sends. Throws
   * {@link TransportError} for a stream that cannot be.
   */
  find(id: number, theirs: boolean): Stream | undefined {
    if ((id & 1) === 1) {
      if ((id & 2) === 0 || theirs || Math.floor(id / 4) >= this.#nextUni) {
        throw new TransportError(Code.STREAM_STATE, 'a frame of a stream that is not there');
      }
      return this.#streams.get(id);
    }
    const uni = (id & 2) !== 0;
    if (uni && !theirs) {
      throw new TransportError(Code.STREAM_STATE, 'a frame of a stream that nobody sends on');
    }
    const index = Math.floor(id / 4);
    if (index >= (uni ? this.maxUni : this.maxBidi)) {
      throw new TransportError(Code.STREAM_LIMIT, 'too many streams');
    }
    const stream = index < (uni ? this.#openedUni : this.#openedBidi) ? this.#streams.get(id) : this.#open(index, uni);
    if (stream !== undefined && stream.handler === undefined) {
      stream.handler = this.#owner.handler!.opened(stream);
    }
    return stream?.over ? undefined : stream;
  }

  /** Opens the stream with this number, and all before it (RFC 9000, 3.2). */
  #open(index: number, uni: boolean): Stream {
    const { window } = this.#limits;
    for (;;) {
      const next = uni ? this.#openedUni++ : this.#openedBidi++;
      const stream = uni ? new Stream(this, next * 4 + 2, 0, window) : new Stream(this, next * 4, this.#bidiLocal, window);
      this.#streams.set(stream.id, stream);
      if (next === index) {
        return stream;
      }
    }
  }

  /** Opens a stream of one's own in one direction. */
  openUnidirectional(handler: QuicStreamHandler): QuicStream | undefined {
    if (this.#nextUni >= this.#maxUni || this.#ending) {
      return undefined;
    }
    const stream = new Stream(this, this.#nextUni++ * 4 + 3, this.#uni, 0);
    stream.handler = handler;
    this.#streams.set(stream.id, stream);
    return stream;
  }

  // ---------------------------------------------------------------- sending

  queue(stream: Stream): void {
    if (!stream.over && !stream.blocked && stream.send!.pending) {
      this.queueOfSenders.add(stream);
      this.#owner.touch();
    }
  }

  /** Has sent again what was lost: the connection's window has let that out once, and does not hold it back. */
  queueAgain(stream: Stream): void {
    this.#unblock(stream);
    this.queue(stream);
  }

  unqueue(stream: Stream): void {
    this.queueOfSenders.remove(stream);
    this.#unblock(stream);
  }

  #unblock(stream: Stream): void {
    if (stream.blocked) {
      stream.blocked = false;
      this.#blocked = this.#blocked?.filter((each) => each !== stream);
    }
  }

  /** How many fresh bytes the connection's window takes. */
  get room(): number {
    return this.maxData - this.#sent;
  }

  /** `bytes` were sent for the first time. */
  sent(bytes: number): void {
    this.#sent += bytes;
  }

  /** A stream waits for the connection's window. */
  block(stream: Stream): void {
    this.queueOfSenders.remove(stream);
    if (!stream.blocked) {
      stream.blocked = true;
      this.#blocked ??= [];
      this.#blocked.push(stream);
    }
  }

  /** MAX_DATA came. */
  raise(maxData: number): void {
    if (maxData <= this.maxData) {
      return;
    }
    this.maxData = maxData;
    const blocked = this.#blocked ?? [];
    this.#blocked = undefined;
    for (const stream of blocked) {
      stream.blocked = false;
      this.queue(stream);
    }
  }

  /** MAX_STREAM_DATA came. */
  raiseStream(stream: Stream, limit: number): void {
    if (limit > stream.sendLimit) {
      stream.sendLimit = limit;
      if (stream.resetCode < 0) {
        this.queue(stream);
      }
    }
  }

  /** MAX_STREAMS came. */
  raiseUni(most: number): void {
    if (most > this.#maxUni) {
      this.#maxUni = most;
      this.#owner.handler?.streamsAllowed();
    }
  }

  control(kind: number, id: number): void {
    this.#controls.add(kind, id);
    this.#owner.touch();
  }

  // ---------------------------------------------------------------- receiving

  /** `bytes` came that had not come before. */
  came(bytes: number): void {
    this.#received += bytes;
    if (this.#received > this.receiveMax) {
      throw new TransportError(Code.FLOW_CONTROL, 'too much on the connection');
    }
  }

  /** The reader of a stream has used something. */
  consumed(stream: Stream): void {
    const { window } = this.#limits;
    stream.used = Math.min(stream.used, stream.highest);
    this.#credit(stream, stream.used);
    if (stream.size < 0 && !stream.stopped && stream.receiveLimit - stream.used <= window / 2) {
      stream.receiveLimit = stream.used + window;
      stream.control(Control.MAX_STREAM_DATA);
    }
  }

  /** Nobody will use what came on a stream. */
  creditAll(stream: Stream): void {
    this.#credit(stream, stream.highest);
  }

  #credit(stream: Stream, upTo: number): void {
    if (upTo <= stream.credited) {
      return;
    }
    this.#used += upTo - stream.credited;
    stream.credited = upTo;
    const { connectionWindow } = this.#limits;
    if (this.receiveMax - this.#used <= connectionWindow / 2) {
      this.receiveMax = this.#used + connectionWindow;
      this.control(Control.MAX_DATA, 0);
    }
  }

  // ---------------------------------------------------------------- the end

  /** Lets go of a stream that is over in both directions. */
  maybeOver(stream: Stream): void {
    if (!stream.ended || stream.over || this.#ending) {
      return;
    }
    stream.over = true;
    this.creditAll(stream);
    this.unqueue(stream);
    this.#streams.delete(stream.id);
    if ((stream.id & 1) === 0) {
      this.#replace((stream.id & 2) !== 0);
    }
    stream.handler?.closed();
  }

  /** Allows another stream in place of one that is over; told when half of them are used up. */
  #replace(uni: boolean): void {
    if (uni) {
      this.#closedUni++;
    } else {
      this.#closedBidi++;
    }
    if (this.#creditStopped) {
      return;
    }
    const { bidi, uni: most } = this.#limits;
    if (!uni && this.maxBidi - this.#closedBidi <= bidi / 2) {
      this.maxBidi = this.#closedBidi + bidi;
      this.control(Control.MAX_BIDI, 0);
    } else if (uni && this.maxUni - this.#closedUni <= most / 2) {
      this.maxUni = this.#closedUni + most;
      this.control(Control.MAX_UNI, 0);
    }
  }

  stopCredit(): void {
    this.#creditStopped = true;
  }

  /** The connection has ended. */
  end(): void {
    if (this.#ending) {
      return;
    }
    this.#ending = true;
    this.queueOfSenders.clear();
    this.#blocked = undefined;
    for (const stream of this.#streams.all()) {
      stream.over = true;
      stream.handler?.closed();
    }
    this.#streams = new IdTable();
  }
}
