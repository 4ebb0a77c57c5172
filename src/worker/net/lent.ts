/** What sends bytes in memory that others use again. */
interface Lender {
  write(data: string | Buffer): boolean;
  /** Keeps nothing of what it does not take. */
  offer(bytes: Buffer): number;
}

/** Sends text, much that is lent, and text: only what the kernel does not take at once is copied. Returns as `write` does. */
export function writeMuchLent(socket: Lender, before: string, bytes: Buffer, after: string): boolean {
  let flowing = before === '' || socket.write(before);
  const taken = flowing ? socket.offer(bytes) : 0;
  if (taken < bytes.length) {
    flowing = socket.write(Buffer.from(bytes.subarray(taken)));
  }
  return after === '' ? flowing : socket.write(after);
}
