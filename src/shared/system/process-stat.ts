import { readFileSync } from 'node:fs';

/** What the system says about a process. */
export interface ProcessStat {
  /** The number of the process that started it, or of the one that took it over. */
  readonly parent: number;
  /** When it began, in hundredths of a second since the system's start. Numbers of processes are used again: with this, one is named. */
  readonly began: number;
  /** The process runs no more: its parent has not asked for its end yet, or the kernel is still closing what it had open. */
  readonly ended: boolean;
  /** Seconds of processor time that it has used, to a hundredth of a second. */
  readonly cpu: number;
}

/** PF_EXITING of the kernel's sched.h. */
const EXITING = 0x4;

/** Reads `/proc/PID/stat`; undefined when there is no such process, or it may not be seen. */
export function processStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name of the program, in brackets, may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0]!;
  return {
    parent: Number(fields[1]),
    began: Number(fields[19]),
    ended: state === 'Z' || state === 'X' || (Number(fields[6]) & EXITING) !== 0,
    cpu: (Number(fields[11]) + Number(fields[12])) / 100,
  };
}

/** When a process began: milliseconds of `Date.now`, to a hundredth of a second. Throws where `/proc` is not to be had. */
export function beganAt(stat: ProcessStat): number {
  const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
  return Date.now() - (uptime - stat.began / 100) * 1000;
}

/** Bytes of memory that a process holds, shared ones included; undefined when there is no such process, or it may not be seen. */
export function memoryOf(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
