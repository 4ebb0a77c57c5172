import { readFileSync } from 'node:fs';

/** The state of a socket that listens, whose queue has connections. */
const LISTENS = '0A';

/** How many bytes of a port's connections over IPv4 the kernel still has: written and not sent, or come and not read, on both sides. */
export function bytesOnTheWay(port: number): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let sum = 0;
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n').slice(1)) {
    const [, local = '', remote = '', state, queues = ''] = line.trim().split(/\s+/);
    if (state !== LISTENS && (local.endsWith(wanted) || remote.endsWith(wanted))) {
      sum += queues.split(':').reduce((bytes, queue) => bytes + Number.parseInt(queue || '0', 16), 0);
    }
  }
  return sum;
}
