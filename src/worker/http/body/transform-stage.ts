import { EMPTY } from '../../../shared/lib/empty.js';
import { ALERT } from '../../../shared/log/level.js';
import { ERROR } from '../../client/codes.js';
import type { BodyStage, Chunk } from '../request/body-stage.js';
import type { Request } from '../request/request.js';
import type { Transform } from './compressor.js';

/** Runs a body through a compressor or decompressor. Calls `whole` with all that came out when it fits in `keep` bytes. */
export class TransformStage implements BodyStage {
  readonly #transform: Transform;
  readonly #next: BodyStage;
  readonly #whole: ((body: Buffer) => void) | undefined;
  #kept: Buffer[] | undefined;
  #room: number;
  /** Bytes that went in and came out, for `$gzip_ratio`. */
  bytesIn = 0;
  bytesOut = 0;

  constructor(r: Request, transform: Transform, next: BodyStage, keep = 0, whole?: (body: Buffer) => void) {
    this.#transform = transform;
    this.#next = next;
    this.#whole = whole;
    this.#kept = whole === undefined ? undefined : [];
    this.#room = keep;
    r.onFinish(() => transform.close());
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    let out: Buffer;
    try {
      out = this.#transform.write(chunk ?? EMPTY, last ? 'end' : r.flushBody ? 'flush' : 'more');
    } catch (error) {
      r.log(ALERT, `transforming the response body failed: ${(error as Error).message}`);
      r.terminate(ERROR);
      return;
    }
    this.bytesIn += chunk?.length ?? 0;
    this.bytesOut += out.length;
    this.#keep(out, last);
    if (out.length === 0 && !last) {
      r.more();
    } else {
      this.#next.send(r, out, last);
    }
  }

  // Of what goes in, nothing is kept.
  sendLent(r: Request, bytes: Buffer, start: number, end: number, last: boolean): void {
    this.send(r, bytes.subarray(start, end), last);
  }

  #keep(out: Buffer, last: boolean): void {
    if (this.#kept === undefined) {
      return;
    }
    this.#room -= out.length;
    if (this.#room < 0) {
      this.#kept = undefined;
    } else {
      this.#kept.push(out);
      if (last) {
        this.#whole?.(Buffer.concat(this.#kept));
      }
    }
  }

  abort(r: Request): void {
    this.#next.abort?.(r);
  }
}
