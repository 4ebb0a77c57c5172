import type { BodySink } from '../../http/request/client-exchange.js';
import { clientSlot } from '../../http/request/client-settings.js';
import type { Request } from '../../http/request/request.js';
import { discardBody, exceedsLimit, giveBodyAway, loseBody, type RequestBody, testExpect } from '../../http/request/request-body.js';
import type { Result, Status } from '../../task/codes.js';

/** Whoever takes a request's body as it comes. */
export interface BodyTaker {
  /** A piece, which is the taker's own. Returns false to be given no more until {@link HandlerInput.more}. */
  piece(bytes: Buffer): boolean;
  end(): void;
  /** The client left, or sent what is no body: nothing follows. */
  broke(error: Error): void;
}

/** The body of a request for a handler that reads it when it likes: the client sends no more ahead than `client_body_buffer_size`. */
export class HandlerInput implements BodySink {
  readonly #r: Request;
  readonly room: number;
  #taker: BodyTaker | null = null;
  #received = 0;
  #chunked = false;
  #state: 'unread' | 'claimed' | 'reading' | 'over' = 'unread';

  constructor(r: Request) {
    this.#r = r;
    this.room = r.location.conf(clientSlot).clientBodyBufferSize;
  }

  /** There is no body. */
  get none(): boolean {
    const r = this.#r;
    return r.body === null ? !r.chunkedIn && r.contentLength <= 0 : r.body.length === 0;
  }

  /** Somebody will read it, perhaps while the answer goes out. */
  claim(): void {
    if (this.#state === 'unread') {
      this.#state = 'claimed';
    }
  }

  /** Gives the body to a taker, which there is one of. */
  read(taker: BodyTaker): void {
    const r = this.#r;
    this.#taker = taker;
    if (this.#state === 'over') {
      taker.broke(new Error('the request is over'));
      return;
    }
    this.#state = 'reading';
    if (r !== r.main || r.body?.complete) {
      this.#giveRead(r.body);
      return;
    }
    if (r.body !== null) {
      // Somebody else had begun to read it.
      loseBody(r);
      this.end();
      return;
    }
    testExpect(r);
    this.#chunked = r.chunkedIn;
    giveBodyAway(r);
    r.clientExchange.readBody(r, this);
  }

  /** A body that was read before. */
  #giveRead(body: RequestBody | null): void {
    if (body !== null && body.length > 0) {
      const whole = body.whole();
      this.#taker!.piece(ownCopy(whole, 0, whole.length));
    }
    this.end();
  }

  /** The taker has room again. */
  more(): void {
    if (this.#state === 'reading') {
      this.#r.clientExchange.resumeBody(this.#r);
    }
  }

  data(bytes: Buffer, start: number, end: number, announced: number): boolean {
    const r = this.#r;
    if (this.#chunked && exceedsLimit(r, this.#received + end - start, announced)) {
      this.#fail(413, 'the request body is too large');
      return false;
    }
    this.#received += end - start;
    return this.#taker!.piece(ownCopy(bytes, start, end));
  }

  end(): void {
    this.#state = 'over';
    this.#taker!.end();
  }

  fail(status: Status): void {
    this.#fail(status, status === 408 ? 'the client timed out' : 'the client broke the request off');
  }

  #fail(status: Status, why: string): void {
    this.#state = 'over';
    loseBody(this.#r);
    this.#taker!.broke(new Error(why));
    if (!this.#r.finished) {
      this.#r.finalize(status);
    }
  }

  /** The answer begins: a body that nobody has asked for is dropped. Returns 0, or the status for a malformed one. */
  drop(): Result {
    if (this.#state !== 'unread') {
      return 0;
    }
    this.#state = 'over';
    return discardBody(this.#r);
  }

  /** The request is over. */
  close(): void {
    if (this.#state === 'reading') {
      this.#taker!.broke(new Error('the request is over'));
    }
    this.#state = 'over';
  }
}

/** A copy in memory of its own: a byte stream takes the memory of what it is given away, and Node's small buffers share theirs. */
function ownCopy(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

/** Collects a body whole. */
export function wholeInput(input: HandlerInput): Promise<Buffer> {
  return new Promise((done, failed) => {
    const pieces: Buffer[] = [];
    input.read({
      piece(bytes) {
        pieces.push(bytes);
        return true;
      },
      end: () => done(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)),
      broke: failed,
    });
  });
}

/** A body as a stream, which asks for more once what came was read. */
export function inputStream(input: HandlerInput): ReadableStream<Uint8Array> {
  input.claim();
  let started = false;
  let cancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      type: 'bytes' as never,
      pull(controller) {
        if (started) {
          input.more();
          return;
        }
        started = true;
        input.read({
          piece(bytes) {
            if (cancelled) {
              return true;
            }
            controller.enqueue(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
            return (controller.desiredSize ?? 0) > 0;
          },
          end() {
            if (!cancelled) {
              controller.close();
              // A reader that brings its own memory waits for one more answer.
              (controller as unknown as ReadableByteStreamController).byobRequest?.respond(0);
            }
          },
          broke(error) {
            if (!cancelled) {
              controller.error(error);
            }
          },
        });
      },
      cancel() {
        cancelled = true;
        input.more();
      },
    },
    { highWaterMark: 0 },
  );
}
