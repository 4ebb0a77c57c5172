declare const GIVEN: unique symbol;

/** A status that was computed, or is the configuration's or a backend's: {@link asStatus} makes one of a number. */
export type GivenStatus = number & { readonly [GIVEN]: true };

/** A status to end a request or session with, which a client of HTTP is also answered with. */
export type Status =
  | GivenStatus
  | (200 | 201 | 204 | 206)
  | (301 | 302 | 303 | 304 | 307 | 308)
  | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415 | 416 | 421 | 422 | 429)
  | (444 | 494 | 495 | 496 | 497 | 499)
  | (500 | 501 | 502 | 503 | 504 | 505 | 507);

/** What a handler of a request or session says, in nginx's numbers. No length, bit or errno is one. */
export type Result = typeof OK | typeof FAILED | typeof AGAIN | typeof DONE | typeof DECLINED | Status;

/** Says that a number is a status. */
export const asStatus = (status: number): Status => status as GivenStatus;

export const OK = 0;
/** nginx: NGX_ERROR. It cannot go on; its connection is closed. */
export const FAILED = -1;
/** The handler will call `resume` on the request or session later, with the code it would have returned. */
export const AGAIN = -2;
/** The response is under way or the client was handed on; the engine leaves it alone. */
export const DONE = -4;
/** Not mine: the next handler decides. */
export const DECLINED = -5;
