/** What a check of a response is doing. */
export const P = { IDLE: 0, CONNECTING: 1, HEAD: 2, BODY: 3 } as const;

/** A phase in nginx's words. */
export function doing(phase: number): string {
  if (phase === P.CONNECTING) {
    return 'connecting to upstream';
  }
  return phase === P.HEAD ? 'reading response header from upstream' : 'reading upstream';
}
