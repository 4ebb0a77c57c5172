import type { Socket } from '../../../shared/net/socket.js';
import { AtTickEnd, endOfTick, type TickTask } from '../../../shared/time/end-of-tick.js';
import { endFailedWork } from '../../task/at-work.js';
import { SendWindow } from '../http2-frames/flow-window.js';
import { ENOUGH, Output } from '../http2-frames/output.js';
import { DEFAULT_FRAME, DEFAULT_WINDOW, FRAME } from '../http2-frames/protocol.js';
import { clientSlot } from '../request/client-settings.js';
import type { Request } from '../request/request.js';
import type { Http2Connection } from './connection.js';
import { HeadWriter } from './response-head.js';
import { Scheduler } from './scheduler.js';
import type { Http2Stream } from './stream.js';

/** Bytes that are sent before other connections have their turn. */
const MUCH = 512 * 1024;
/** Bytes that may wait for a client that does not read; then nothing more is read from it. */
const HIGH = 256 * 1024;

/**
 * The way out of a connection: streams make frames of what they have by turns, and what came together in a tick leaves together. nginx:
 * ngx_http_v2_send_output_queue.
 */
export class Sending implements TickTask {
  readonly output: Output;
  readonly head: HeadWriter;
  readonly scheduler: Scheduler<Http2Stream> = new Scheduler<Http2Stream>();
  /** How much the client takes of all streams together. */
  readonly window: SendWindow = new SendWindow(DEFAULT_WINDOW);
  readonly #c: Http2Connection;
  readonly #socket: Socket;
  /** Streams that wait for room in the connection's window. */
  readonly #starved: Http2Stream[] = [];
  /** Bytes are being read, or frames made: what there is to send leaves afterwards. */
  #busy = false;
  #asked = false;
  #paused = false;
  /** How much of what was lost with the connection streams have taken as theirs. */
  #claimed = 0;

  constructor(connection: Http2Connection, socket: Socket) {
    this.#c = connection;
    this.#socket = socket;
    this.output = new Output(socket);
    this.head = new HeadWriter(this.output, DEFAULT_FRAME);
  }

  /**
   * How many of a stream's `most` bytes were lost with the connection, or are behind what its client does not take. Frames lie between
   * those of other streams: what was lost is shared out among the streams as they end.
   */
  claimLost(most: number): number {
    if (this.#c.open && !this.output.blocked) {
      return 0;
    }
    const { length, dropped } = this.output;
    const lost = length + dropped + this.#socket.unsent - this.#claimed;
    const share = Math.min(most, Math.max(0, lost));
    this.#claimed += share;
    return share;
  }

  /** The client takes what is sent again. */
  unblock(): void {
    this.output.blocked = false;
    this.#claimed = 0;
  }

  /** Nothing waits to be sent. */
  get idle(): boolean {
    return this.output.length === 0 && this.scheduler.empty;
  }

  /** What is to be sent waits until {@link flush}: more is about to come. */
  hold(): void {
    this.#busy = true;
  }

  /** What was read has been dealt with. */
  release(): void {
    this.#busy = false;
  }

  /** A stream has something to send. */
  ready(stream: Http2Stream): void {
    this.scheduler.add(stream);
    this.soon();
  }

  /** Sends at the end of the tick what came together in it. */
  soon(): void {
    if (this.#busy || this.#asked || !this.#c.open) {
      return;
    }
    this.#asked = true;
    endOfTick.ask(AtTickEnd.SENDS, this);
  }

  tickEnded(): void {
    this.#asked = false;
    if (!this.#c.open) {
      return;
    }
    this.flush();
    this.#c.settle();
  }

  /** Writes the head of a response; returns how many bytes that took. */
  writeHead(r: Request, status: number, flags: number, streamId: number): number {
    this.#c.host.env.logFiles.flushErrors();
    return this.head.response(r, status, flags, streamId);
  }

  /** Lets the client send more, on a stream or, with 0, on all together. */
  giveRoom(streamId: number, bytes: number): void {
    this.output.numbers(FRAME.WINDOW_UPDATE, streamId, bytes);
    this.soon();
  }

  /** The client made room for all streams together; false if that is more than a window can be. */
  grow(room: number): boolean {
    if (!this.window.grow(room)) {
      return false;
    }
    for (const starved of this.#starved) {
      this.scheduler.add(starved);
    }
    this.#starved.length = 0;
    return true;
  }

  /** A stream that had something to send is over. */
  forget(stream: Http2Stream): void {
    this.scheduler.remove(stream);
    const i = this.#starved.indexOf(stream);
    if (i !== -1) {
      this.#starved.splice(i, 1);
    }
  }

  /** Makes frames of what streams have, by turns, and sends them together. */
  flush(): void {
    if (this.#busy) {
      return;
    }
    const { output } = this;
    const c = this.#c;
    let much = MUCH;
    this.#busy = true;
    const blocked = output.blocked;
    while (!output.blocked && c.open) {
      this.#fill();
      if (output.length === 0) {
        break;
      }
      c.flood.moved(output.length);
      much -= output.length;
      output.send();
      if (much <= 0 && !this.scheduler.empty) {
        break;
      }
    }
    this.#busy = false;
    if (!c.open) {
      return;
    }
    if (output.blocked) {
      if (!blocked) {
        c.deadline.set(performance.now(), c.server.root.conf(clientSlot).sendTimeout);
      }
      if (output.length > HIGH) {
        this.#pause();
      }
    } else if (!this.scheduler.empty) {
      this.soon();
    }
  }

  /** Makes frames until there are enough to send. */
  #fill(): void {
    const { output } = this;
    while (output.length < ENOUGH) {
      const stream = this.scheduler.next();
      if (stream === undefined) {
        return;
      }
      try {
        const size = stream.takeTurn(Math.min(this.window.left, this.head.longest));
        if (size < 0) {
          this.#starved.push(stream);
        } else if (size > 0) {
          this.window.left -= size;
          this.#c.flood.useful(size);
        }
      } catch (error) {
        if (!endFailedWork(error)) {
          throw error;
        }
      }
    }
  }

  /** The socket took all that was sent. */
  flushed(): void {
    this.resume();
    this.flush();
  }

  #pause(): void {
    if (this.#paused) {
      return;
    }
    this.#paused = true;
    this.#socket.pause();
  }

  /** Reads on, if reading was stopped. */
  resume(): void {
    if (!this.#paused) {
      return;
    }
    this.#paused = false;
    this.#socket.resume();
  }
}
