/** What reading a response head comes to: more bytes are needed; go on at `next`. */
export const HEAD_AGAIN = 0;
/** The head is complete; the body begins at `next`. */
export const HEAD_OK = 1;
/** The head breaks the rules; why was logged. */
export const HEAD_INVALID = 2;
/** There is no head: everything is body. */
export const HEAD_NONE = 3;
/** An interim head is complete; another head follows at `next`. */
export const HEAD_INTERIM = 4;
/** The request must end with 500. */
export const HEAD_ERROR = 5;

/** Whether another head follows one with this status (RFC 9110, 15.2): all of 1xx but 101, which is the last of HTTP. */
export const isInterim = (status: number): boolean => status >= 100 && status < 200 && status !== 101;

/** Interim heads before one response: whoever waits for an answer is not kept waiting by them for ever. */
export const INTERIM_HEADS = 1000;
