import type { StreamSession } from './session.js';

/** Changes what goes from one side of a session to the other. nginx: a filter of stream. */
export interface SessionFilter {
  /**
   * Bytes came, whose memory is used again after the call; with `last`, that side sends no more. Whatever goes on is given to the
   * output, at once or later. False: the session has been ended.
   */
  take(bytes: Buffer, last: boolean, fromUpstream: boolean): boolean;
}

/** Where a filter's bytes go. */
export interface SessionOutput {
  /** Sends bytes, which must not change any more. Towards a side that is not there they are dropped. */
  pass(bytes: Buffer, fromUpstream: boolean): void;
  /** The status with which the session ends when its filter fails. */
  readonly filterFailure: number;
}

/** Makes the filter of a session when the first bytes come. */
export type MakeSessionFilter = (s: StreamSession, output: SessionOutput) => SessionFilter;
