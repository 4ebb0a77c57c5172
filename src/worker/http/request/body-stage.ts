import type { Result } from '../../task/codes.js';
import type { Request } from './request.js';

/** A piece of a response body. It may be shared with other responses: nobody changes it in place. */
export type Chunk = Buffer;

/**
 * Where a response body comes from. The engine calls `pull` when it can take more; the source then calls `send`
 * of the first stage (`r.first`) exactly once, at once or later. One piece is on its way at any time, which is all the back-pressure there
 * needs to be.
 */
export interface Source {
  pull(r: Request): void;
  /** What comes is still being made, and that does not end with the client; absent where it is there already. */
  readonly works?: boolean;
  /** The client or the server gave the response up: free what is held. Not called after the last piece was sent. */
  abort(r: Request): void;
  /**
   * Chooses the bytes that come next, as offsets into the whole body; the piece that ends with `end` is marked as the
   * last. Only before the first pull, and after each such last piece. Absent where the body can only be had in order.
   */
  seek?(start: number, end: number): void;
}

/** A source whose bytes can be had in any order. */
export interface SeekableSource extends Source {
  seek(start: number, end: number): void;
}

/**
 * One step of the body chain. A stage that has nothing to pass on for a piece calls `r.more()` to get the next one;
 * otherwise it calls `next.send` exactly once. `last` marks the end of the body; `chunk` may be null then, or when
 * a stage passes on a flush.
 */
export interface BodyStage {
  send(r: Request, chunk: Chunk | null, last: boolean): void;
  /**
   * Sends the bytes `start..end`, some at least, whose memory is the caller's again when this returns. Absent where a stage keeps
   * what it is given.
   */
  sendLent?(r: Request, bytes: Buffer, start: number, end: number, last: boolean): void;
  /** What came apart is wanted apart: chunks of a backend's response, though they came together. */
  readonly apart?: boolean;
  /** Frees what the stage holds when the response ends early. */
  abort?(r: Request): void;
}

/** Joins the bodies of a request and its subrequests; asked for pieces in place of the request's own source. */
export interface Postponed {
  pull(): void;
  /** The subrequest that holds all others back, by not having begun; undefined when what they wait for is under way. */
  awaited(): Request | undefined;
}

/**
 * Changes the response head before it is sent. Returns OK, or a status or FAILED that ends the request, or what holdHead returns: then
 * the filters behind it have their turn once its stage knows the body.
 */
export type HeaderFilter = (r: Request) => Result;

/** Puts a stage before `next` when the response at hand needs it; otherwise returns `next` itself. */
export type BodyFilter = (r: Request, next: BodyStage) => BodyStage;
