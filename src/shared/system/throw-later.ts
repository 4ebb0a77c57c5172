/** Throws an error where nothing catches it, once what goes on now is over: one thing's failure does not keep others from going on. */
export const throwLater = (error: unknown): void => void setImmediate(rethrow, error);

function rethrow(error: unknown): void {
  throw error;
}
