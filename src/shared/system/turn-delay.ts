import { readFileSync, readlinkSync } from 'node:fs';

/** The number that the system has given to the thread that asks; 0 where the system does not tell. proc(5), /proc/thread-self. */
export function ownThreadId(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Milliseconds for which a thread of this process has waited for a processor since it began: it could have run, but others had their turn.
 * 0 where the system does not count that. The kernel's Documentation/scheduler/sched-stats, second number.
 */
export function turnDelay(thread: number): number {
  try {
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ')[1]) / 1e6 || 0;
  } catch {
    return 0;
  }
}
