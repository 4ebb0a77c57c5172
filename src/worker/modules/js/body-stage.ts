import { EMPTY } from '../../bytes/empty.js';
import type { BodyStage, Chunk } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';
import { type FilterOutput, requestObject } from '../../js/request-object.js';
import { functionMissing } from '../../js/script-place.js';
import type { ScriptFunction } from '../../js/scripts.js';
import { FAILED } from '../../task/codes.js';

/** Stands where the function of a filter is missing: as in nginx, nothing passes it. */
export class MissingBodyStage implements BodyStage {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  send(r: Request): void {
    functionMissing(r, this.#name);
    r.terminate(FAILED);
  }
}

/** Gives each piece of a body to a function, which passes on what it will. nginx: ngx_http_js_body_filter. */
export class JsBodyStage implements BodyStage {
  readonly apart = true;
  readonly #run: ScriptFunction;
  readonly #asText: boolean;
  readonly #next: BodyStage;
  #done = false;
  #ended = false;

  constructor(run: ScriptFunction, asText: boolean, next: BodyStage) {
    this.#run = run;
    this.#asText = asText;
    this.#next = next;
  }

  send(r: Request, chunk: Chunk | null, last: boolean): void {
    if (this.#done || (chunk === null && !last)) {
      this.#next.send(r, chunk, last);
      return;
    }
    const output: FilterOutput = { pieces: [], last: false, done: false };
    // As in nginx, the end of a backend's response comes by itself.
    const apart = last && chunk !== null && chunk.length > 0 && r.upstream !== null;
    const done =
      this.#call(r, chunk ?? EMPTY, last && !apart, output) && (!apart || output.done || output.last || this.#call(r, EMPTY, true, output));
    if (!done) {
      r.terminate(FAILED);
      return;
    }
    this.#done = output.done;
    this.#ended = last || output.last;
    if (output.pieces.length === 0 && !this.#ended) {
      r.more();
      return;
    }
    this.#next.send(r, output.pieces.length === 0 ? null : Buffer.concat(output.pieces), this.#ended);
  }

  #call(r: Request, bytes: Buffer, last: boolean, output: FilterOutput): boolean {
    const data = this.#asText ? bytes.toString('utf8') : Buffer.from(bytes);
    return requestObject(r).filterBody((object) => this.#run(object, data, { last }), output);
  }

  abort(r: Request): void {
    this.#next.abort?.(r);
  }
}
