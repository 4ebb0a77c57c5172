/** The outcome of a command: it succeeded, it failed, or the rest of the page must wait. */
export const SUCCEEDED = 0;
export const UNSUCCESSFUL = 1;
export const WAIT = 2;

/** Where in a condition the page is. */
export const NO_CONDITION = 0;
export const AFTER_IF = 1;
export const AFTER_ELSE = 2;
