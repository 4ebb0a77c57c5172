/** The text that Node shows and takes (paths of sockets, arguments of processes) for one of ours, which has a character per byte. */
export function nativeText(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}

/** The reverse: a text from outside (an argument, an environment variable) as one character per byte. */
export function byteText(native: string): string {
  return Buffer.from(native, 'utf8').toString('latin1');
}
