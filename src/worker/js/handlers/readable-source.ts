import type { Source } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import type { HandlerRun } from './handler-run.js';

/** Bytes that a stream may send before others have their turn: one that always has more never waits for anything. */
const SHARE = 256 * 1024;

/** A response body that a stream gives: the next piece is read once the one before has left. */
export class ReadableSource implements Source {
  readonly #run: HandlerRun;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #over = false;
  #sent = 0;

  constructor(run: HandlerRun, stream: ReadableStream<Uint8Array>) {
    this.#run = run;
    this.#reader = stream.getReader();
  }

  pull(): void {
    this.#run.touch();
    if (this.#sent >= SHARE) {
      this.#sent = 0;
      setImmediate(nextPiece, this);
    } else {
      this.read();
    }
  }

  read(): void {
    if (this.#over) {
      return;
    }
    // The stream may be the handler's own.
    this.#run.tell(readPiece, this);
  }

  readNow(): void {
    const { r } = this.#run;
    this.#reader.read().then(
      ({ done, value }) => {
        this.#run.rest();
        if (!this.#over && !r.finished) {
          this.#run.inside(() => this.#take(r, done, value));
        }
      },
      (error: unknown) => {
        if (!this.#over) {
          this.#run.failed(error);
        }
      },
    );
  }

  #take(r: Request, done: boolean, value: unknown): void {
    if (done) {
      this.#over = true;
      this.#run.done = true;
      if (r.source === this) {
        r.source = null;
      }
      r.flushBody = false;
      r.first!.send(r, null, true);
      return;
    }
    if (!(value instanceof Uint8Array)) {
      this.#run.failed(new TypeError('a body has to be a stream of bytes'));
      return;
    }
    if (value.length === 0) {
      r.more();
      return;
    }
    this.#sent += value.length;
    r.flushBody = true;
    r.first!.send(r, Buffer.from(value.buffer, value.byteOffset, value.length), false);
  }

  abort(): void {
    if (!this.#over) {
      this.#over = true;
      this.#run.rest();
      this.#run.tell(cancel, this.#reader);
    }
  }
}

function nextPiece(source: ReadableSource): void {
  source.read();
}

function readPiece(source: ReadableSource): void {
  source.readNow();
}

function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  reader.cancel(new DOMException('the client has left', 'AbortError')).catch(() => {});
}
