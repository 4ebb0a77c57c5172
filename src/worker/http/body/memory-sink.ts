import { ERROR } from '../../../shared/log/level.js';
import { FAILED, OK } from '../../task/codes.js';
import type { BodyStage, Chunk } from '../request/body-stage.js';
import { fileSlot } from '../request/file-settings.js';
import type { Request } from '../request/request.js';

/**
 * Keeps a subrequest's body in memory, up to `subrequest_output_buffer_size`; a longer one breaks the request off.
 * nginx: ngx_http_postpone_filter_in_memory.
 */
export class MemorySink implements BodyStage {
  readonly #chunks: Chunk[] = [];
  readonly #limit: number | undefined;
  #begun = false;
  #length = 0;

  /** `limit`: bytes, in place of the setting. */
  constructor(limit?: number) {
    this.#limit = limit;
  }

  /**
   * What has come, as text of one character for a byte; undefined when nothing was sent at all. Of a response that broke off
   * the beginning, as in nginx.
   */
  get text(): string | undefined {
    return this.#begun ? Buffer.concat(this.#chunks).toString('latin1') : undefined;
  }

  send(sr: Request, chunk: Chunk | null, last: boolean): void {
    if (last) {
      sr.source = null;
    }
    const limit = this.#limit ?? sr.location.conf(fileSlot).subrequestOutputBufferSize;
    const announced = sr.out.contentLength;
    if (!this.#begun && announced > limit) {
      sr.log(ERROR, `too big subrequest response: ${announced}`);
      sr.finalize(FAILED);
      return;
    }
    this.#begun = true;
    if (chunk !== null) {
      this.#length += chunk.length;
      if (this.#length > limit) {
        sr.log(ERROR, 'too big subrequest response');
        sr.finalize(FAILED);
        return;
      }
      this.#chunks.push(chunk);
    }
    if (!last) {
      sr.more();
      return;
    }
    sr.finalize(OK);
  }
}

/** Whether a request's response is kept in memory: it has no subrequests of its own. nginx: subrequest_in_memory. */
export const isInMemory = (r: Request): boolean => r.child?.sink instanceof MemorySink;
