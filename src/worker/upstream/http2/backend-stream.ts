// Longer than most: both directions of one exchange, which only make sense together.
import { EMPTY } from '../../bytes/empty.js';
import { Gathered } from '../../bytes/gathered.js';
import { ReceiveWindow, SendWindow } from '../../http/http2-frames/flow-window.js';
import { DEFAULT_FRAME, DEFAULT_WINDOW, FLAG, FRAME, FRAME_HEAD } from '../../http/http2-frames/protocol.js';
import { enter, leave } from '../../task/at-work.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import type { Channel, ChannelOwner } from '../connection/channel.js';
import type { UpstreamConnection } from '../connection/connection.js';
import { Http2Unsuited, type Http2User } from './http2-user.js';
import type { SharedConnection } from './shared-connection.js';
import { FIRST_WINDOW, narrow, wider } from './window-growth.js';

/** Bytes that may wait to be sent before whoever writes is told to wait. */
const ENOUGH_TO_SEND = 64 * 1024;
/** Pieces of the response smaller than this are passed on together, when they come together. */
const SMALL = 4 * 1024;

/** How a stream's input ends. */
const INPUT = { OPEN: 0, ENDED: 1, BROKEN: 2, CLOSED: 3, FAILED: 4, TOLD: 5 } as const;

/**
 * One request and its response on an HTTP/2 connection to a backend. What comes while the client's side is busy is held here: it is no
 * more than the stream's window.
 */
export class Http2BackendStream implements Channel, Expiring {
  owner: ChannelOwner;
  readonly user: Http2User;
  readonly deadline: Deadline = new Deadline(this);
  /** 0 until its head is sent. */
  id = 0;
  sent = 0;
  paused = false;
  closed = false;
  readonly #c: SharedConnection;
  readonly #openedAt: number;

  // --- the request
  readonly sendWindow: SendWindow = new SendWindow(DEFAULT_WINDOW);
  #pieces: Buffer[] = [];
  /** Bytes of the first piece that were sent. */
  #offset = 0;
  #pending = 0;
  /** All of the request was given. */
  #whole = false;
  /** The stream stands among those that have something to send. */
  queued = false;
  /** Whoever writes waits for room. */
  #owed = false;
  /** The frame that ends the request was made. */
  outClosed = false;

  // --- the response
  readonly #receive = new ReceiveWindow(FIRST_WINDOW);
  /** The backend sends no more on it. */
  inClosed = false;
  /** The backend has reset it. */
  wasReset = false;
  #held: Gathered | null = null;
  /** The client's side has fallen behind a window that had grown: it gets the first one again. */
  #behind = false;
  #end: number = INPUT.OPEN;
  #error: Error | null = null;
  #problem = '';
  #code = 0;
  #scheduled = false;
  /** The read of the connection in which it got data last. */
  #lastRead = 0;

  constructor(connection: SharedConnection, owner: ChannelOwner, user: Http2User, now: number) {
    this.#c = connection;
    this.#openedAt = now;
    this.owner = owner;
    this.user = user;
  }

  get carrier(): UpstreamConnection {
    return this.#c.carrier;
  }

  get tls(): boolean {
    return this.#c.carrier.tls;
  }

  get connected(): boolean {
    return this.#c.carrier.connected;
  }

  /** The request may be sent. */
  get ready(): boolean {
    return this.#c.usable;
  }

  // ---------------------------------------------------------------- the request that goes out

  writeText(text: string): boolean {
    return text === '' ? this.#flowing() : this.write(Buffer.from(text, 'latin1'));
  }

  write(given: Buffer): boolean {
    const bytes = this.user.encode === undefined ? given : this.user.encode(given);
    if (bytes.length > 0 && !this.outClosed) {
      this.#pieces.push(bytes);
      this.#pending += bytes.length;
    }
    return this.#flowing();
  }

  writeLent(bytes: Buffer, start: number, end: number): boolean {
    return this.write(Buffer.from(bytes.subarray(start, end)));
  }

  #flowing(): boolean {
    this.#c.sendSoon(this);
    const flowing = this.#pending < ENOUGH_TO_SEND && this.flushed;
    this.#owed ||= !flowing;
    return flowing;
  }

  cork(): void {}

  uncork(): void {}

  finishRequest(): void {
    this.#whole = true;
    this.#c.sendSoon(this);
  }

  end(): void {
    this.finishRequest();
  }

  /** All that was given leaves at the end of the tick, if it has not left. */
  get flushed(): boolean {
    return this.outClosed || (this.#pending <= this.#room && !this.#c.blocked);
  }

  /** How much may be sent. */
  get #room(): number {
    return this.id === 0 ? this.#c.firstRoom : Math.min(this.sendWindow.left, this.#c.sendWindow.left);
  }

  awaitFlush(): void {
    this.#owed = true;
    this.#c.sendSoon(this);
  }

  /** Something waits to be sent that the backend has room for, as far as this stream is concerned. */
  get mayUseRoom(): boolean {
    return !this.closed && !this.outClosed && this.#pending > 0 && this.sendWindow.left > 0;
  }

  /**
   * Makes the next frames of the request, with at most one of data. Returns false when the connection has no room left, so that others
   * need not be asked.
   */
  takeTurn(): boolean {
    this.queued = false;
    if (this.closed || this.outClosed) {
      return true;
    }
    if (this.id === 0) {
      if (this.user.connects && !this.#c.takesTunnels) {
        this.#awaitSettings();
        return true;
      }
      this.#sendHead();
    }
    if (this.#pending > 0) {
      const size = Math.min(this.#pending, this.sendWindow.left, this.#c.sendWindow.left, DEFAULT_FRAME);
      if (size <= 0) {
        return this.sendWindow.left <= 0;
      }
      this.#sendData(size);
      if (this.#pending > 0) {
        this.#c.sendSoon(this);
      }
    } else if (this.#whole && !this.outClosed) {
      this.#c.output.frame(FRAME.DATA, FLAG.END_STREAM, this.id, 0);
      this.sent += FRAME_HEAD;
      this.#outEnded();
    }
    return true;
  }

  /** A tunnel is not asked for before the backend has said that it takes such; once it has said otherwise, never. */
  #awaitSettings(): void {
    if (this.#c.settled) {
      const before = enter(this.owner.r);
      this.failed(new Http2Unsuited('upstream does not accept extended CONNECT'));
      leave(before);
    }
  }

  #sendHead(): void {
    const c = this.#c;
    c.opened(this);
    const ends = this.#whole && this.#pending === 0;
    c.section.begin();
    this.user.writeHead(c.section);
    this.sent += c.section.end(ends ? FLAG.END_STREAM : 0, this.id);
    if (ends) {
      this.#outEnded();
    }
  }

  #sendData(size: number): void {
    const { output, sendWindow } = this.#c;
    const ends = this.#whole && size === this.#pending;
    const bytes = output.frame(FRAME.DATA, ends ? FLAG.END_STREAM : 0, this.id, size);
    let left = size;
    while (left > 0) {
      const piece = this.#pieces[0]!;
      const part = Math.min(left, piece.length - this.#offset);
      piece.copy(bytes, output.length, this.#offset, this.#offset + part);
      output.length += part;
      left -= part;
      this.#offset += part;
      if (this.#offset === piece.length) {
        this.#pieces.shift();
        this.#offset = 0;
      }
    }
    this.#pending -= size;
    this.sendWindow.left -= size;
    sendWindow.left -= size;
    this.sent += size + FRAME_HEAD;
    if (ends) {
      this.#outEnded();
    }
  }

  #outEnded(): void {
    this.outClosed = true;
    this.#pieces = [];
    this.#pending = 0;
  }

  /** Everything that was given has left: whoever waits for that hears of it. */
  left(): void {
    if (this.#owed && !this.closed && this.#pending === 0) {
      this.#askForMore();
    }
  }

  #askForMore(): void {
    this.#owed = false;
    const before = enter(this.owner.r);
    this.owner.drained(this);
    leave(before);
  }

  // ---------------------------------------------------------------- the response that comes in

  /** A frame of `length` bytes begins; false if the backend had no room for it. */
  takeWindow(length: number): boolean {
    return this.#receive.take(length);
  }

  /** The head of the response, or of an early hint, was read: its fields are with the user. `last`: nothing comes behind it. */
  headRead(bytes: Buffer, last: boolean): void {
    if (last) {
      this.inClosed = true;
      this.user.inputEnded();
    }
    this.owner.received(this, bytes, bytes.length);
    if (last) {
      this.#endWith(INPUT.ENDED);
    }
  }

  /** Data came, in memory that is used again after the call. */
  data(bytes: Buffer, start: number, end: number): void {
    if (this.paused || this.#held !== null) {
      (this.#held ??= new Gathered()).add(bytes, start, end);
    } else if (this.#lastRead === this.#c.reads && end - start < SMALL) {
      this.#held = new Gathered();
      this.#held.add(bytes, start, end);
      this.#c.deliverAfterRead(this);
    } else {
      this.#lastRead = this.#c.reads;
      this.owner.received(this, bytes.subarray(start, end), end - start);
    }
    this.#refill();
  }

  /** Gives the backend room again for what was used; more of it if the client's side keeps up. */
  #refill(): void {
    if (this.closed || this.inClosed) {
      return;
    }
    const receive = this.#receive;
    const unused = this.#held === null ? 0 : this.#held.length;
    if (unused === 0 && receive.left < receive.size / 2) {
      receive.size = wider(receive.size);
    }
    this.#behind ||= unused > FIRST_WINDOW;
    if (this.#behind) {
      // What the backend may send on is within the window that it had: until that is used, it is not narrower.
      if (unused + receive.left > FIRST_WINDOW) {
        return;
      }
      this.#behind = false;
      receive.size = narrow(receive.size);
    }
    const room = receive.refill(unused, 0.5);
    if (room > 0) {
      this.#c.giveRoom(this.id, room);
    }
  }

  /** The backend ended its side. What else came with that may say that it did not end well, so it is told after the read. */
  inputEnded(): void {
    this.inClosed = true;
    if (this.#end !== INPUT.OPEN || this.closed) {
      return;
    }
    this.#end = INPUT.ENDED;
    if (this.#held === null) {
      this.#c.deliverAfterRead(this);
    }
  }

  /** The backend broke the rules of the stream, or the stream off with an error `code`. */
  inputBroken(problem: string, code = 0): void {
    if (this.#end === INPUT.ENDED) {
      this.#end = INPUT.OPEN;
    }
    this.connectionBroken(problem, code);
  }

  /** The backend broke the rules of the connection: a response that was complete before stays so. */
  connectionBroken(problem: string, code = 0): void {
    if (this.#end !== INPUT.OPEN) {
      return;
    }
    this.#problem = problem;
    this.#code = code;
    this.#endWith(INPUT.BROKEN);
  }

  /** The backend has closed it both ways: nothing can be sent on it, and nothing need be. */
  resetByPeer(): void {
    this.wasReset = true;
    this.inClosed = true;
    this.#outEnded();
  }

  /** The connection came to its end. */
  connectionEnded(): void {
    this.#endWith(INPUT.CLOSED);
  }

  /** The connection broke, or the backend refuses the request. */
  failed(error: Error): void {
    this.#error = error;
    this.#endWith(INPUT.FAILED);
  }

  #endWith(end: number): void {
    if (this.#end !== INPUT.OPEN || this.closed) {
      return;
    }
    this.#end = end;
    if (!this.paused && this.#held === null) {
      this.#tellEnd();
    }
  }

  #tellEnd(): void {
    const end = this.#end;
    this.#end = INPUT.TOLD;
    switch (end) {
      case INPUT.ENDED:
        this.user.inputEnded();
        this.owner.received(this, EMPTY, 0);
        break;
      case INPUT.BROKEN:
        this.user.inputBroken(this.#problem, this.#code);
        this.owner.received(this, EMPTY, 0);
        break;
      case INPUT.CLOSED:
        this.owner.ended(this);
        break;
      default:
        this.owner.failed(this, this.#error as Error);
        break;
    }
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    if (!this.paused) {
      return;
    }
    this.paused = false;
    if ((this.#held === null && (this.#end === INPUT.OPEN || this.#end === INPUT.TOLD)) || this.#scheduled || this.closed) {
      return;
    }
    // Whoever asks for more is still at work with what came before.
    this.#scheduled = true;
    process.nextTick(deliverHeld, this);
  }

  /** Gives the owner what was held. */
  deliver(): void {
    this.#scheduled = false;
    while (!this.paused && !this.closed && this.#held !== null) {
      const piece = this.#held.shift();
      if (this.#held.length === 0) {
        this.#held = null;
      }
      if (piece !== null) {
        this.owner.received(this, piece, piece.length);
      }
    }
    this.#refill();
    if (!this.paused && !this.closed && this.#end !== INPUT.OPEN && this.#end !== INPUT.TOLD) {
      this.#tellEnd();
    }
  }

  // ---------------------------------------------------------------- the end

  expired(): void {
    if (this.closed) {
      return;
    }
    this.#c.silentSince(this.#openedAt);
    const before = enter(this.owner.r);
    this.owner.timedOut(this);
    leave(before);
  }

  close(): void {
    if (this.closed) {
      return;
    }
    // What ends a request that was answered may leave still: only what does not is broken off.
    if (this.#whole && this.inClosed && !this.outClosed && this.id !== 0 && this.flushed && !this.#c.closed) {
      this.#owed = false;
      while (!this.outClosed) {
        this.takeTurn();
      }
    }
    this.closed = true;
    this.#receive.size = narrow(this.#receive.size);
    this.deadline.close();
    this.#held = null;
    this.#pieces = [];
    this.#pending = 0;
    this.#c.streamClosed(this);
  }
}

function deliverHeld(stream: Http2BackendStream): void {
  const before = enter(stream.owner.r);
  stream.deliver();
  leave(before);
}
