/** What a handler says, in nginx's numbers. A value of 200 or more is an HTTP status to answer with. */
export type Result = number;

export const OK = 0;
/** nginx: NGX_ERROR. The request cannot go on; its connection is closed. */
export const ERROR = -1;
/** The handler will call `resume` on the request later, with the code it would have returned. */
export const AGAIN = -2;
/** The response is under way or the request was handed on; the engine leaves it alone. */
export const DONE = -4;
/** Not mine: the next handler decides. */
export const DECLINED = -5;

/** Internal statuses that are logged but never sent. */
export const CLOSE = 444;
export const CERT_ERROR = 495;
export const NO_CERT = 496;
export const TO_HTTPS = 497;
export const CLIENT_CLOSED_REQUEST = 499;
