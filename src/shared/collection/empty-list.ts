/**
 * Empties a list that is soon filled again. A length that is set to 0 takes a call into V8, which lets go of the list's memory: 110 ns with
 * what the next one takes for it, in place of 5.
 */
export function emptyList(list: unknown[]): void {
  while (list.length > 0) {
    list.pop();
  }
}
