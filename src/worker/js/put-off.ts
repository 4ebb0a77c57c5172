// What promises have put off to the end of the current callback, run earlier, and what Node says meanwhile of rejected ones.

/** Told whether somebody came to a rejected promise. */
type Decision = (handled: boolean) => void;

/** Whose promises run now, and whether V8 has come to the end of them. */
let flushing: object | undefined;
let drained = false;
const drain = (): void => {
  drained = true;
};

/** Promises that were rejected meanwhile, of which nobody can say yet that nobody looks after them. */
const undecided = new Map<Promise<unknown>, Decision>();

const { queueMicrotask } = globalThis;

/**
 * Runs what promises have put off to the end of the current callback, as nginx does after each call of a script's function. Within such a
 * callback itself V8 does nothing. `by`: whose code has put it off.
 */
export function runPutOff(by: object): void {
  const { _tickCallback: endCallback } = process as { readonly _tickCallback?: () => void };
  const before = flushing;
  flushing = by;
  drained = false;
  queueMicrotask(drain);
  try {
    endCallback?.();
  } finally {
    flushing = before;
  }
}

/**
 * Whether it is too early to say that nobody looks after a rejected promise: code that is in the middle of something may still come to it.
 * `decided` is called once that is known. `by`: whose promise it is.
 */
export function isTooEarly(promise: Promise<unknown>, by: object, decided: Decision): boolean {
  if (flushing === undefined || (flushing === by && drained)) {
    return false;
  }
  if (undecided.size === 0) {
    setImmediate(decide);
  }
  undecided.set(promise, decided);
  return true;
}

/** Somebody has come to a promise. */
export function lookedAfter(promise: Promise<unknown>): void {
  const decided = undecided.get(promise);
  undecided.delete(promise);
  decided?.(true);
}

function decide(): void {
  const left = [...undecided.values()];
  undecided.clear();
  for (const decided of left) {
    decided(false);
  }
}
