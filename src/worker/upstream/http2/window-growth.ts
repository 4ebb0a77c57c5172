/** What a backend may send ahead on a stream at first, and what this grows to while the client's side keeps up. */
export const FIRST_WINDOW: number = 256 * 1024;
const LARGEST_WINDOW = 4 * 1024 * 1024;
/** By so many bytes the windows of all streams of a worker may be larger than at first. */
const MOST_GROWN = 64 * 1024 * 1024;

/**
 * How far the windows of all streams have grown. An exception to the rule that modules keep no state: the memory that it bounds is the
 * process's, whichever connections and groups use it.
 */
let grown = 0;

/** The window of a stream that had `size` bytes, when the client's side has used up all that came. */
export function wider(size: number): number {
  const next = Math.min(size * 2, LARGEST_WINDOW, size + MOST_GROWN - grown);
  grown += next - size;
  return next;
}

/** The window of a stream that had `size` bytes, when the client's side has fallen behind, or the stream is over. */
export function narrow(size: number): number {
  grown -= size - FIRST_WINDOW;
  return FIRST_WINDOW;
}
