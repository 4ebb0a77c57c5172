import type { QuicStream, QuicStreamHandler } from './contract.js';
import { Control } from './control-queue.js';
import { Code, TransportError } from './errors.js';
import { ReceiveBuffer } from './receive-buffer.js';
import { SendBuffer } from './send-buffer.js';
import type { StreamTable } from './stream-table.js';

const URGENCY = 3;

/** A stream with its halves: those of the peer's unidirectional ones send nothing, and of one's own receive nothing. */
export class Stream implements QuicStream {
  readonly id: number;
  readonly #table: StreamTable;
  /** Undefined before anything came on a stream that a later one has opened. */
  handler: QuicStreamHandler | undefined = undefined;
  readonly send: SendBuffer | undefined;
  /** What came ahead of what was missing; undefined as long as all came in order. */
  #ahead: ReceiveBuffer | undefined = undefined;
  /** How many bytes were given to the handler. */
  #given = 0;
  /** How far the peer lets us send, and we let it. */
  sendLimit: number;
  receiveLimit: number;
  /** What came ends there; its final size, or -1. */
  highest = 0;
  size = -1;
  /** How many bytes the reader has used, and how many of them the connection's window knows of. */
  used = 0;
  credited = 0;
  /** Nothing more is given to the handler. */
  received = false;
  stopped = false;
  /** The code that RESET_STREAM has, or STOP_SENDING; and that the peer has the former. */
  resetCode = -1;
  stopCode = 0;
  resetAcked = false;
  /** The peer knows everything; told once. */
  told = false;
  over = false;
  queued = false;
  /** The stream's neighbours in the queue of those that send. */
  queuedBefore: Stream | undefined = undefined;
  queuedAfter: Stream | undefined = undefined;
  /** Waits for the connection's window. */
  blocked = false;
  urgency = URGENCY;
  incremental = false;
  /** Which control frames of it wait, a bit each. */
  controls = 0;
  #full = false;

  constructor(table: StreamTable, id: number, sendLimit: number, receiveLimit: number) {
    this.#table = table;
    this.id = id;
    this.sendLimit = sendLimit;
    this.receiveLimit = receiveLimit;
    const own = (id & 1) === 1;
    const one = (id & 2) !== 0;
    this.send = one && !own ? undefined : new SendBuffer();
    this.received = one && own;
  }

  get unidirectional(): boolean {
    return (this.id & 2) !== 0;
  }

  get room(): number {
    const { send } = this;
    const room = send === undefined || this.resetCode >= 0 ? 0 : this.#table.keepMost(send.kept) - send.kept;
    if (room <= 0) {
      this.#full = true;
    }
    return room;
  }

  get pending(): boolean {
    return !this.over && this.resetCode < 0 && this.send?.pending === true;
  }

  write(bytes: Uint8Array, end: boolean): void {
    const { send } = this;
    if (send === undefined || this.resetCode >= 0 || send.fin || this.over) {
      return;
    }
    send.write(bytes);
    this.#table.keeps(bytes.length);
    send.fin = end;
    this.#table.queue(this);
  }

  consumed(bytes: number): void {
    if (this.over) {
      return;
    }
    this.used += bytes;
    this.#table.consumed(this);
  }

  reset(code: number): void {
    const { send } = this;
    if (send === undefined || this.resetCode >= 0 || this.over || send.settled) {
      return;
    }
    this.resetCode = code;
    this.#table.keeps(-send.kept);
    // The final size counts what was sent.
    send.end = send.next;
    send.clear();
    this.#table.unqueue(this);
    this.control(Control.RESET);
  }

  stopReceiving(code: number): void {
    if (this.received || this.stopped || this.over) {
      return;
    }
    this.stopped = true;
    this.stopCode = code;
    this.#ahead = undefined;
    this.#table.creditAll(this);
    if (this.size < 0) {
      this.control(Control.STOP_SENDING);
    }
  }

  prioritize(urgency: number, incremental: boolean): void {
    const { queued } = this;
    this.#table.unqueue(this);
    this.urgency = Math.min(7, Math.max(0, Math.floor(urgency) || 0));
    this.incremental = incremental;
    if (queued) {
      this.#table.queue(this);
    }
  }

  /** Has a control frame of the stream leave, once. */
  control(kind: number): void {
    if ((this.controls & (1 << kind)) === 0) {
      this.controls |= 1 << kind;
      this.#table.control(kind, this.id);
    }
  }

  /** Checks the place of bytes that came, or of the end, against what was said before; throws {@link TransportError}. */
  check(last: number, fin: boolean): void {
    if (this.size >= 0 && (last > this.size || (fin && last !== this.size))) {
      throw new TransportError(Code.FINAL_SIZE, 'data behind the final size');
    }
    if (fin && last < this.highest) {
      throw new TransportError(Code.FINAL_SIZE, 'final size below what came');
    }
    if (last > this.highest) {
      if (last > this.receiveLimit) {
        throw new TransportError(Code.FLOW_CONTROL, 'too much on a stream');
      }
      this.#table.came(last - this.highest);
      this.highest = last;
    }
    if (fin) {
      this.size = last;
    }
  }

  /** The bytes `start..end` came at a place that was checked. */
  came(at: number, bytes: Buffer, start: number, end: number): void {
    if (this.stopped) {
      this.#table.creditAll(this);
      if (this.size >= 0) {
        this.#endReceiving();
      }
      return;
    }
    if (this.received) {
      return;
    }
    const last = at + end - start;
    const given = this.#given;
    if (last > given && (at > given || this.#ahead !== undefined)) {
      this.#cameAhead(at, bytes.subarray(start, end));
    } else if (last > given || given === this.size) {
      this.#give(bytes, end - Math.max(0, last - given), end);
    }
  }

  #cameAhead(at: number, bytes: Buffer): void {
    const ahead = (this.#ahead ??= new ReceiveBuffer(this.#given));
    if (!ahead.put(at, bytes)) {
      throw new TransportError(Code.INTERNAL, 'too many gaps in a stream');
    }
    while (!this.received && !this.stopped && !this.over) {
      const ready = ahead.ready();
      if (ready === undefined) {
        return;
      }
      this.#give(ready, 0, ready.length);
    }
  }

  #give(bytes: Buffer, start: number, end: number): void {
    this.#given += end - start;
    const last = this.#given === this.size;
    if (last) {
      this.received = true;
    }
    this.handler!.received(bytes, start, end, last);
    if (last) {
      this.#endReceiving();
    }
  }

  #endReceiving(): void {
    this.received = true;
    this.#table.maybeOver(this);
  }

  /** RESET_STREAM came. */
  wasReset(code: number, size: number): void {
    this.check(size, true);
    if (this.received) {
      return;
    }
    this.#ahead = undefined;
    this.received = true;
    this.#table.creditAll(this);
    if (!this.stopped) {
      this.handler!.wasReset(code);
    }
    this.#table.maybeOver(this);
  }

  /** STOP_SENDING came. */
  wasRefused(code: number): void {
    if (this.resetCode >= 0 || this.send!.settled) {
      return;
    }
    this.reset(code);
    this.handler!.refused(code);
  }

  /** The peer has a range of what was sent. */
  acked(from: number, to: number, fin: boolean): void {
    const { send } = this;
    if (this.over || this.resetCode >= 0) {
      return;
    }
    const before = send!.kept;
    const less = send!.acked(from, to, fin);
    this.#table.keeps(send!.kept - before);
    if (send!.settled) {
      if (!this.told) {
        this.told = true;
        this.handler?.finished();
        this.#table.maybeOver(this);
      }
    } else if (less && this.#full && send!.kept * 2 <= this.#table.keepMost(send!.kept)) {
      this.#full = false;
      this.handler?.drained();
    }
  }

  /** A range that was sent is lost. */
  lost(from: number, to: number, fin: boolean): void {
    if (!this.over && this.resetCode < 0) {
      this.send!.lost(from, to, fin);
      this.#table.queueAgain(this);
    }
  }

  /** Both directions have ended. */
  get ended(): boolean {
    return this.received && (this.send === undefined || this.resetAcked || (this.resetCode < 0 && this.send.settled));
  }
}
