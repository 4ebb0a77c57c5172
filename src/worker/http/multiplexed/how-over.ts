/**
 * How a stream is over that is not to be broken off, in place of an error code: both sides had ended it, it was broken off before, or the
 * client may end its side when it likes.
 */
export const OVER = { BOTH_ENDED: -1, DONE: -2, CLIENT_GOES_ON: -3 } as const;
