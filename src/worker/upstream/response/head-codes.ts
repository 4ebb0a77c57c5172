/** What reading a response head comes to: more bytes are needed; go on at `next`. */
export const HEAD_AGAIN = 0;
/** The head is complete; the body begins at `next`. */
export const HEAD_OK = 1;
/** The head breaks the rules; why was logged. */
export const HEAD_INVALID = 2;
/** There is no head: everything is body. */
export const HEAD_NONE = 3;
/** A 103 head is complete; another head follows at `next`. */
export const HEAD_EARLY_HINTS = 4;
/** The request must end with 500. */
export const HEAD_ERROR = 5;
