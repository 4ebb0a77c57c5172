import { INFO } from '../../shared/log/level.js';
import { EMPTY } from '../bytes/empty.js';
import type { SessionReader, StreamSession } from '../stream/session/session.js';
import type { SessionFilter, SessionOutput } from '../stream/session/session-filter.js';
import { INTERNAL_SERVER_ERROR, STATUS_OK } from '../stream/session/status.js';
import { lastingSlot } from '../task/client-task.js';
import { DONE, type Result } from '../task/codes.js';
import { type ContentActions, ContentObject } from './content-object.js';
import { ReceivedBytes, withoutEnd } from './received-bytes.js';
import { isPromise } from './script-promise.js';
import type { ScriptFunction } from './scripts.js';
import { SessionOwner } from './session-owner.js';
import { Task } from './task.js';
import { bufferOf, integer } from './text.js';

/** Bytes that a function may have waiting for a client that does not take them. */
const MOST_WAITING = 16 * 1024 * 1024;
/** Bytes that a function may ask for at once. */
const MOST_WANTED = 16 * 1024 * 1024;
const USUAL_LINE = 65_536;
/** Datagrams that wait for a function; more are lost. */
const MOST_DATAGRAMS = 64;

/** What a function waits for: bytes of the client, or room for its own. */
interface Waiting {
  done(): void;
  failed(error: Error): void;
}

/** How much of what came a function wants: all that is there, so many bytes, or a line of at most so many. */
type Wanted = 'any' | 'bytes' | 'line';

class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'ETIMEDOUT';
}

class GoneError extends Error {
  override readonly name = 'ConnectionError';
  readonly code = 'ECONNRESET';
}

/**
 * A session that a function of `js_content` is the other side of: reads what the client sends when the function asks for it, and sends what
 * the function writes. While nothing is asked for, the client waits.
 */
export class SessionContent extends SessionOwner implements SessionOutput, ContentActions {
  readonly filterFailure = INTERNAL_SERVER_ERROR;
  readonly #timeout: number;
  readonly #task: Task;
  readonly #object: ContentObject;
  readonly #filter: SessionFilter | undefined;
  readonly #received = new ReceivedBytes();
  readonly #datagrams: Buffer[] = [];
  #reading: Waiting | undefined = undefined;
  #wanted: Wanted = 'any';
  #size = 0;
  #writing: Waiting[] = [];
  /** Bytes that the socket still has to send. */
  #unsent = 0;
  /** The function has said that it writes no more. */
  #ended = false;
  /** The function is over, and what it wrote is on its way. */
  #over = false;

  constructor(s: StreamSession, timeout: number) {
    super(s);
    this.#timeout = timeout;
    this.#object = new ContentObject(this);
    this.#task = new Task(this, { settled: () => this.#finish(), failed: () => s.finalize(INTERNAL_SERVER_ERROR) });
    this.#filter = s.server.makeFilter?.(s, this);
    s.onFinish(() => this.#gone());
  }

  run(code: ScriptFunction): Result {
    const s = this.subject;
    s.action = 'running a js_content function';
    CONTENT.set(s, this);
    const { held } = s;
    s.readTo(reader);
    s.stopReading();
    if (held !== null) {
      const bytes = Buffer.from(held);
      s.take();
      this.received(bytes, bytes.length, false);
    }
    this.#task.run(() => {
      const result = code(this.#object);
      if (!isPromise(result)) {
        return result;
      }
      // What it has not waited for does not keep the connection.
      return result.then(
        () => this.#finish(),
        (error: unknown) => this.#endedBy(error),
      );
    });
    return DONE;
  }

  /** A client that is gone or says nothing is no mistake of a function's that does not look after that. */
  #endedBy(error: unknown): void {
    if (error instanceof TimeoutError) {
      this.subject.log(INFO, 'client timed out (110: Connection timed out)');
    } else if (!(error instanceof GoneError)) {
      throw error;
    }
  }

  /** The function is over: the connection is closed once the client has all that was written. */
  #finish(): void {
    const s = this.subject;
    if (s.finished || this.#over) {
      return;
    }
    this.#over = true;
    this.#reading = undefined;
    s.stopReading();
    if (this.#unsent === 0 && !s.socket.pending) {
      s.finalize(STATUS_OK);
    } else {
      this.#arm();
    }
  }

  #gone(): void {
    const error = new GoneError('the connection is closed');
    this.#reading?.failed(error);
    this.#reading = undefined;
    for (const one of this.#writing.splice(0)) {
      one.failed(error);
    }
    this.#task.cancel();
  }

  // ---------------------------------------------------------------- what the client sends

  /** Bytes came, whose memory is used again after the call. `counted`: they are not what was there before. */
  received(bytes: Buffer, length: number, counted = true): void {
    if (counted) {
      this.subject.bytesReceived += length;
    }
    if (this.#filter === undefined) {
      this.#keep(bytes, length);
    } else if (!this.#filter.take(bytes.length === length ? bytes : bytes.subarray(0, length), false, false)) {
      return;
    }
    this.#serve();
  }

  /** What a filter makes of bytes, of the client's or of the function's. */
  pass(bytes: Buffer, fromUpstream: boolean): void {
    if (fromUpstream) {
      this.#send(bytes);
    } else {
      this.#keep(bytes, bytes.length);
      this.#serve();
    }
  }

  #keep(bytes: Buffer, length: number): void {
    if (!this.subject.udp) {
      this.#received.add(bytes, length);
    } else if (this.#datagrams.length < MOST_DATAGRAMS) {
      this.#datagrams.push(Buffer.from(bytes.subarray(0, length)));
    }
  }

  /** The client sends no more. */
  clientEnded(): void {
    if (this.#filter === undefined || this.#filter.take(EMPTY, true, false)) {
      this.#serve();
    }
  }

  #serve(): void {
    if (this.#reading !== undefined && this.#ready) {
      const { done } = this.#reading;
      this.#reading = undefined;
      this.subject.stopReading();
      this.#arm();
      done();
    }
  }

  /** What the function waits for is there, or will not come any more. */
  get #ready(): boolean {
    if (this.subject.ended || this.#datagrams.length > 0) {
      return true;
    }
    const { length } = this.#received;
    if (this.#wanted === 'any') {
      return length > 0;
    }
    return length >= this.#size || (this.#wanted === 'line' && this.#received.lineLength() > 0);
  }

  async read(given: unknown): Promise<Buffer | null> {
    const wanted = given === undefined ? undefined : integer(given);
    if (wanted !== undefined && (wanted < 0 || wanted > MOST_WANTED)) {
      throw new RangeError(`a length is ${MOST_WANTED} at most`);
    }
    if (wanted === 0) {
      return EMPTY;
    }
    await this.#wait(wanted === undefined ? 'any' : 'bytes', wanted ?? 0);
    const datagram = this.#datagrams.shift();
    if (datagram !== undefined) {
      return datagram;
    }
    const { length } = this.#received;
    return length === 0 ? null : this.#received.take(Math.min(wanted ?? length, length));
  }

  async readLine(given: unknown): Promise<string | null> {
    const most = given === undefined ? USUAL_LINE : integer(given);
    if (most < 1 || most > MOST_WANTED) {
      throw new RangeError(`a length is between 1 and ${MOST_WANTED}`);
    }
    if (this.subject.udp) {
      throw new TypeError('datagrams are no lines');
    }
    await this.#wait('line', most);
    const { length } = this.#received;
    if (length === 0) {
      return null;
    }
    const line = this.#received.lineLength();
    if (line > most || (line === 0 && length >= most)) {
      throw new RangeError(`a line is longer than ${most} bytes`);
    }
    return withoutEnd(this.#received.take(line === 0 ? length : line)).toString('utf8');
  }

  #wait(wanted: Wanted, size: number): Promise<void> | undefined {
    const s = this.subject;
    if (this.#reading !== undefined) {
      throw new TypeError('another read is under way');
    }
    if (s.finished) {
      throw new GoneError('the connection is closed');
    }
    this.#wanted = wanted;
    this.#size = size;
    if (this.#ready) {
      return undefined;
    }
    return this.#held((waiting) => {
      this.#reading = waiting;
      this.#arm();
      s.readTo(reader);
    });
  }

  /** A promise that the task waits for. */
  #held(begin: (waiting: Waiting) => void): Promise<void> {
    this.#task.hold();
    const release = (): void => {
      if (!this.#task.over) {
        this.#task.release();
      }
    };
    return new Promise((done, fail) => {
      begin({
        done() {
          done();
          setImmediate(release);
        },
        failed(error) {
          fail(error);
          setImmediate(release);
        },
      });
    });
  }

  // ---------------------------------------------------------------- what the function sends

  async write(data: unknown): Promise<void> {
    const s = this.subject;
    if (this.#ended || this.#over) {
      throw new TypeError('the function has ended what it sends');
    }
    if (s.finished) {
      throw new GoneError('the connection is closed');
    }
    // What a script has given may be changed by it.
    const bytes = Buffer.from(bufferOf(data));
    if (this.#unsent + bytes.length > MOST_WAITING && this.#unsent > 0) {
      throw new RangeError(`more than ${MOST_WAITING} bytes wait for the client`);
    }
    if (this.#filter === undefined) {
      this.#send(bytes);
    } else {
      this.#filter.take(bytes, false, true);
    }
    if (this.#unsent > 0) {
      await this.#held((waiting) => {
        this.#writing.push(waiting);
        this.#arm();
      });
    }
  }

  #send(bytes: Buffer): void {
    const s = this.subject;
    if (s.finished || bytes.length === 0) {
      return;
    }
    if (s.socket.write(bytes)) {
      s.bytesSent += bytes.length;
    } else {
      this.#unsent += bytes.length;
      s.bytesWaiting = this.#unsent;
    }
  }

  /** The kernel took everything. */
  flushed(): void {
    const s = this.subject;
    s.bytesSent += this.#unsent;
    this.#unsent = 0;
    s.bytesWaiting = 0;
    if (this.#over) {
      s.finalize(STATUS_OK);
      return;
    }
    this.#arm();
    for (const one of this.#writing.splice(0)) {
      one.done();
    }
  }

  async end(data: unknown): Promise<void> {
    const s = this.subject;
    if (data !== undefined) {
      await this.write(data);
    }
    if (!this.#ended && !s.finished) {
      this.#ended = true;
      if (this.#filter?.take(EMPTY, true, true) !== false) {
        s.socket.end();
      }
    }
  }

  // ---------------------------------------------------------------- the time

  /** Bounds the time in which nothing moves, while the function waits for the client. */
  #arm(): void {
    const { deadline } = this.subject;
    if (this.#timeout > 0 && (this.#reading !== undefined || this.#writing.length > 0 || this.#over)) {
      deadline.set(performance.now(), this.#timeout);
    } else {
      deadline.clear();
    }
  }

  expired(): void {
    const s = this.subject;
    if (this.#over) {
      s.log(INFO, 'client timed out (110: Connection timed out)');
      s.finalize(STATUS_OK);
      return;
    }
    const error = new TimeoutError('the client has timed out');
    const reading = this.#reading;
    this.#reading = undefined;
    s.stopReading();
    reading?.failed(error);
    for (const one of this.#writing.splice(0)) {
      one.failed(error);
    }
  }
}

const CONTENT = lastingSlot<SessionContent>();
const contentOf = (s: StreamSession): SessionContent => CONTENT.get(s)!;

/** Tells each session's function of its client. */
const reader: SessionReader = {
  received: (s, bytes, length) => contentOf(s).received(bytes, length),
  ended: (s) => contentOf(s).clientEnded(),
  flushed: (s) => contentOf(s).flushed(),
  expired: (s) => contentOf(s).expired(),
  broken: (s) => s.finalize(STATUS_OK),
};
