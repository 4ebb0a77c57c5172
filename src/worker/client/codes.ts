/**
 * What a handler of a request or session says, in nginx's numbers. A value of 200 or more is a status to end with, which a client of HTTP
 * is also answered with.
 */
export type Result = number;

export const OK = 0;
/** nginx: NGX_ERROR. It cannot go on; its connection is closed. */
export const ERROR = -1;
/** The handler will call `resume` on the request or session later, with the code it would have returned. */
export const AGAIN = -2;
/** The response is under way or the client was handed on; the engine leaves it alone. */
export const DONE = -4;
/** Not mine: the next handler decides. */
export const DECLINED = -5;
