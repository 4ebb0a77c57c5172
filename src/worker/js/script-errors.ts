/** njs's errors that the language does not have. Programs ask for them with `instanceof`. */
export class InternalError extends Error {
  override readonly name: string = 'InternalError';
}

/** What njs throws when there is no memory. */
export class MemoryError extends InternalError {
  override readonly name = 'MemoryError';
}
