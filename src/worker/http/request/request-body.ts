import { closeSync, unlinkSync, writeSync } from 'node:fs';
import { errnoText } from '../../../shared/lib/errno.js';
import { fsPath } from '../../../shared/lib/fs-path.js';
import { CRIT, ERROR as ERR, INFO, WARN } from '../../../shared/log/level.js';
import type { Chunk } from './body-stage.js';
import type { BodySink } from './client-stream.js';
import type { Request } from './request.js';
import { openTempFile, type TempFile } from './temp-file.js';

/** A request body that was read: in memory, or past `client_body_buffer_size` in a temporary file. */
export class RequestBody {
  /** What is in memory, in order. Empty when the body went to a file. */
  readonly chunks: Buffer[] = [];
  length = 0;
  file: TempFile | undefined = undefined;

  /** The body as one piece of memory; undefined when it is in a file. */
  inMemory(): Buffer | undefined {
    if (this.file !== undefined) return undefined;
    if (this.chunks.length > 1) this.chunks.splice(0, this.chunks.length, Buffer.concat(this.chunks));
    return this.chunks[0] ?? EMPTY;
  }
}

const EMPTY = Buffer.alloc(0);

/**
 * Reads the whole request body, then calls `then` once. When the body cannot be read, the request is ended with the
 * right status instead and `then` is never called. nginx: ngx_http_read_client_request_body.
 */
export function readBody(r: Request, then: (r: Request) => void): void {
  const main = r.main;
  if (r !== main || main.body !== null || main.discardingBody) {
    // It was read before; subrequests share their parent's.
    r.body = main.body;
    then(r);
    return;
  }
  testExpect(main);
  const body = new RequestBody();
  main.body = body;
  if (main.stream.bodyDone(main)) {
    then(r);
    return;
  }
  main.stream.readBody(main, new BodyCollector(main, body, then));
}

/** Invites the body of a client that waits to be asked. nginx: ngx_http_test_expect. */
export function testExpect(r: Request): void {
  if (!r.expectTested) r.stream.sendContinue(r);
  r.expectTested = true;
}

class BodyCollector implements BodySink {
  readonly #r: Request;
  readonly #body: RequestBody;
  readonly #then: (r: Request) => void;
  #buffered = 0;

  constructor(r: Request, body: RequestBody, then: (r: Request) => void) {
    this.#r = r;
    this.#body = body;
    this.#then = then;
    const settings = r.location.settings;
    if (settings.clientBodyInFileOnly !== 'off') r.requestBodyInFileOnly = true;
  }

  data(chunk: Chunk, announced: number): boolean {
    const body = this.#body;
    body.length += chunk.length;
    const settings = this.#r.location.settings;
    if (this.#r.chunkedIn && settings.clientMaxBodySize !== 0 && body.length + announced > settings.clientMaxBodySize) {
      this.#r.log(ERR, `client intended to send too large chunked body: ${body.length}+${announced} bytes`);
      this.fail(413);
      return false;
    }
    if (body.file === undefined) {
      body.chunks.push(chunk);
      this.#buffered += chunk.length;
      if (this.#buffered > settings.clientBodyBufferSize || this.#r.requestBodyInFileOnly) return this.#spool();
      return true;
    }
    return this.#write(chunk);
  }

  #spool(): boolean {
    const r = this.#r;
    const settings = r.location.settings;
    let file: TempFile;
    try {
      file = openTempFile(settings.clientBodyTempPath);
    } catch (error) {
      r.log(CRIT, (error as Error).message);
      this.fail(500);
      return false;
    }
    this.#body.file = file;
    if (!r.requestBodyInFileOnly) r.log(WARN, `a client request body is buffered to a temporary file ${file.path}`);
    const keep = settings.clientBodyInFileOnly === 'on';
    r.onFinish(() => {
      closeSync(file.fd);
      if (!keep) {
        try {
          unlinkSync(fsPath(file.path));
        } catch {
          // A handler such as dav's PUT may have renamed it.
        }
      }
    });
    for (const chunk of this.#body.chunks) if (!this.#write(chunk)) return false;
    this.#body.chunks.length = 0;
    return true;
  }

  #write(chunk: Buffer): boolean {
    const file = this.#body.file as TempFile;
    try {
      let offset = 0;
      while (offset < chunk.length) offset += writeSync(file.fd, chunk, offset);
      return true;
    } catch (error) {
      this.#r.log(CRIT, `write() "${file.path}" failed (${errnoText(error)})`);
      this.fail(500);
      return false;
    }
  }

  end(): void {
    // An empty body still gets its file when files are wanted.
    if (this.#r.requestBodyInFileOnly && this.#body.file === undefined && !this.#spool()) return;
    if (this.#r.chunkedIn) this.#r.contentLength = this.#body.length;
    this.#then(this.#r);
  }

  fail(status: number): void {
    if (status === 408 || status === 499)
      this.#r.log(INFO, status === 408 ? 'client timed out (110: Connection timed out)' : 'client prematurely closed connection');
    this.#r.finalize(status);
  }
}

/**
 * Reads and drops the body, what has come of it now and the rest after the response. Returns OK, or the status for a
 * body that turned out malformed. nginx: ngx_http_discard_request_body.
 */
export function discardBody(r: Request): number {
  const main = r.main;
  if (r !== main || main.discardingBody || main.body !== null) return 0;
  testExpect(main);
  main.discardingBody = true;
  return main.stream.discardBody(main);
}
