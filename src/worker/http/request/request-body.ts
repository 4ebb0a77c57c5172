import { unlinkSync, writeSync } from 'node:fs';
import { fsPath } from '../../../shared/files/fs-path.js';
import { readFull } from '../../../shared/files/read-full.js';
import { CRIT, ERROR, type Level, NOTICE, WARN } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import { Gathered } from '../../bytes/gathered.js';
import type { Result, Status } from '../../task/codes.js';
import type { BodySink } from './client-exchange.js';
import { clientSlot } from './client-settings.js';
import type { Request } from './request.js';
import { openTempFile, type TempFile } from './temp-file.js';

/** A request body that is read or was read: in memory, or past `client_body_buffer_size` in a temporary file. */
export class RequestBody {
  /** What is in memory. Empty when the body went to a file. */
  bytes = new Gathered();
  file: TempFile | undefined = undefined;
  /** Nothing more comes: handlers may use it. */
  complete = false;
  /** The client sent a body that no handler gets any more, because it failed or because somebody has used it up. This one is empty. */
  lost = false;
  /** How much had come of a body that was lost, or that was passed on as it came and is over; -1 where nobody counted. */
  came = -1;
  /** Bytes in the file. */
  #stored = 0;

  /** Bytes in memory and in the file: what was counted is what there is. */
  get length(): number {
    return this.#stored + this.bytes.length;
  }

  /** `size` bytes more are in the file. */
  stored(size: number): void {
    this.#stored += size;
  }

  /** The body as one piece of memory; undefined when it is in a file. */
  inMemory(): Buffer | undefined {
    if (this.file !== undefined) {
      return undefined;
    }
    return this.bytes.joined();
  }

  /** The whole of it, from memory or from its file. */
  whole(): Buffer {
    const { file } = this;
    if (file === undefined) {
      return this.bytes.joined();
    }
    const bytes = Buffer.alloc(this.length);
    readFull(file.fd, bytes);
    return bytes;
  }
}

/** Bytes written to the temporary file at once, unless `client_body_buffer_size` is less. */
const WRITE_SIZE = 64 * 1024;
const [HTTP_2, HTTP_3] = [2000, 3000];
/** As much as HTTP/2's windows can be. */
const MAX_ROOM = 2 ** 31 - 1;

/**
 * Reads the whole request body, then calls `then` once. When the body cannot be read, the request is ended with the
 * right status instead and `then` is never called. nginx: ngx_http_read_client_request_body.
 */
export function readBody(r: Request, then: (r: Request) => void): void {
  const main = r.main;
  if (r !== main || main.body !== null || main.discardingBody) {
    // It was read before; subrequests have what their parent had when they began, unless they were given one.
    if (r === main && main.body !== null && !main.body.complete) {
      loseBody(main);
    }
    then(r);
    return;
  }
  testExpect(main);
  const body = new RequestBody();
  main.body = body;
  if (main.clientExchange.bodyDone(main)) {
    body.complete = true;
    then(r);
    return;
  }
  main.clientExchange.readBody(main, new BodyCollector(main, body, then));
}

/**
 * The one place that says what a request is whose body failed, or whose body another handler had begun to read: a request without a body,
 * of content length 0, for every handler that comes next. What came of the body is not used, and nobody is given the rest.
 */
export function loseBody(r: Request, came = -1): void {
  giveBodyAway(r, came);
  r.main.clientExchange.leaveBody(r.main);
}

/** Gives the body to somebody who takes it as it comes: there is nothing of it for anybody else. */
export function giveBodyAway(r: Request, came = -1): void {
  const main = r.main;
  const body = new RequestBody();
  body.came = came >= 0 ? came : (main.body?.came ?? -1);
  body.complete = true;
  body.lost = true;
  main.body = body;
  main.contentLength = 0;
  main.chunkedIn = false;
  main.requestBodyNoBuffering = false;
}

/**
 * Whether a body of unknown length is longer than `client_max_body_size` with the `announced` bytes behind the `had` that came; the log is
 * told. Over HTTP/1, `announced` is the chunk at hand, since the reader stops before one that is too long.
 */
export function exceedsLimit(r: Request, had: number, announced: number): boolean {
  const { clientMaxBodySize } = r.location.conf(clientSlot);
  if (clientMaxBodySize === 0 || had + announced <= clientMaxBodySize) {
    return false;
  }
  const { httpVersion } = r;
  const chunked = httpVersion < HTTP_3 ? 'chunked ' : '';
  r.log(
    ERROR,
    `client intended to send too large ${chunked}body: ${httpVersion === HTTP_2 ? had + announced : `${had}+${announced}`} bytes`,
  );
  return true;
}

/** The body that a subrequest of this request shares; null while it has not been read. */
export function sharedBody(r: Request): RequestBody | null {
  return r.body === null || !r.body.complete ? null : r.body;
}

/** Invites the body of a client that waits to be asked. nginx: ngx_http_test_expect. */
export function testExpect(r: Request): void {
  if (!r.expectTested) {
    r.clientExchange.sendContinue(r);
  }
  r.expectTested = true;
}

class BodyCollector implements BodySink {
  /** What memory has no room for goes to a file. */
  readonly room = MAX_ROOM;
  readonly #r: Request;
  readonly #body: RequestBody;
  readonly #then: (r: Request) => void;
  /** So much is kept in memory, beside what the buffer of the head has room for. */
  readonly #memory: number;
  /** Bytes that the buffer of the head keeps: nginx leaves what came with the head where it is. */
  readonly #withHead: number;
  /** At what level the log is told of a file; undefined: not at all. */
  readonly #told: Level | undefined;

  constructor(r: Request, body: RequestBody, then: (r: Request) => void) {
    this.#r = r;
    this.#body = body;
    this.#then = then;
    const { clientBodyInFileOnly, clientBodyBufferSize } = r.location.conf(clientSlot);
    this.#told = r.requestBodyInFileOnly ? undefined : clientBodyInFileOnly === 'off' ? WARN : NOTICE;
    if (clientBodyInFileOnly !== 'off') {
      r.requestBodyInFileOnly = true;
    }
    // nginx: a body of announced length that is a quarter longer than the buffer gets a longer buffer, but not over HTTP/2.
    this.#memory = r.chunkedIn || r.httpVersion >= HTTP_2 ? clientBodyBufferSize : clientBodyBufferSize + (clientBodyBufferSize >> 2);
    const { room } = r.head;
    const ahead = r.clientExchange.bodyAhead(r);
    // One of announced length that has begun is read into the same buffer where all of it fits there.
    this.#withHead = ahead > 0 && !r.chunkedIn && r.contentLength <= room ? room : Math.min(room, ahead);
  }

  data(bytes: Buffer, start: number, end: number, announced: number): boolean {
    const body = this.#body;
    if (this.#r.chunkedIn && exceedsLimit(this.#r, body.length + end - start, announced)) {
      this.fail(413, end - start);
      return false;
    }
    const settings = this.#r.location.conf(clientSlot);
    const held = body.bytes.length + end - start;
    if (body.file === undefined) {
      if (held <= this.#memory + this.#withHead && !this.#r.requestBodyInFileOnly) {
        body.bytes.add(bytes, start, end);
        return true;
      }
      if (!this.#openFile()) {
        return false;
      }
    }
    if (held < WRITE_SIZE && held <= settings.clientBodyBufferSize) {
      body.bytes.add(bytes, start, end);
      return true;
    }
    return this.#writeHeld() && this.#write(bytes, start, end);
  }

  #openFile(): boolean {
    const r = this.#r;
    const settings = r.location.conf(clientSlot);
    let file: TempFile;
    try {
      file = openTempFile(settings.clientBodyTempPath);
    } catch (error) {
      r.log(CRIT, (error as Error).message);
      this.fail(500);
      return false;
    }
    this.#body.file = file;
    if (this.#told !== undefined) {
      r.log(this.#told, `a client request body is buffered to a temporary file ${file.path}`);
    }
    const keep = settings.clientBodyInFileOnly === 'on';
    r.onFinish(() => {
      file.close();
      if (!keep) {
        try {
          unlinkSync(fsPath(file.path));
        } catch {
          // A handler such as dav's PUT may have renamed it.
        }
      }
    });
    return true;
  }

  /** Writes what waited for more. */
  #writeHeld(): boolean {
    const { bytes } = this.#body;
    if (bytes.length === 0) {
      return true;
    }
    for (const piece of bytes.takeForFile()) {
      if (!this.#write(piece, 0, piece.length)) {
        return false;
      }
    }
    return true;
  }

  #write(bytes: Buffer, start: number, end: number): boolean {
    const file = this.#body.file as TempFile;
    try {
      for (let at = start; at < end; ) {
        const size = writeSync(file.fd, bytes, at, end - at);
        this.#body.stored(size);
        at += size;
      }
      return true;
    } catch (error) {
      this.#r.log(CRIT, `write() "${file.path}" failed (${errnoText(error)})`);
      this.fail(500);
      return false;
    }
  }

  end(): void {
    // An empty body still gets its file when files are wanted.
    if (this.#r.requestBodyInFileOnly && this.#body.file === undefined && !this.#openFile()) {
      return;
    }
    if (this.#body.file !== undefined && !this.#writeHeld()) {
      return;
    }
    if (this.#r.chunkedIn) {
      this.#r.contentLength = this.#body.length;
    }
    this.#body.complete = true;
    this.#then(this.#r);
  }

  /** `refused`: so much came that was not taken. */
  fail(status: Status, refused = 0): void {
    loseBody(this.#r, this.#r.httpVersion >= HTTP_2 ? -1 : this.#body.length + refused);
    this.#r.finalize(status);
  }
}

/**
 * Reads and drops the body, what has come of it now and the rest after the response. Returns OK, or the status for a
 * body that turned out malformed. nginx: ngx_http_discard_request_body.
 */
export function discardBody(r: Request): Result {
  const main = r.main;
  if (r !== main || main.discardingBody || main.body !== null) {
    return 0;
  }
  testExpect(main);
  main.discardingBody = true;
  const status = main.clientExchange.discardBody(main);
  if (status !== 0) {
    // Where the body ends is not known, so that what follows cannot be taken for a request.
    main.keepalive = false;
  }
  if (main.contentLength > 0 || main.chunkedIn) {
    // Nothing is left of one that was there as a whole.
    giveBodyAway(main, status === 0 && main.clientExchange.bodyDone(main) ? 0 : -1);
  }
  return status;
}
