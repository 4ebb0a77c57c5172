import { readdirSync, readFileSync } from 'node:fs';
import { waitFor } from './wait.js';

/** True while a process (not a zombie) has this id. */
export function isAlive(pid: number): boolean {
  const stat = processStat(pid);
  return stat !== undefined && stat.state !== 'Z';
}

/** Kills workers, and waits until their master has seen them end: before that, their sockets may still take connections. */
export async function killWorkers(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    process.kill(pid, 'SIGKILL');
  }
  await waitFor(() => pids.every((pid) => processStat(pid) === undefined), { what: 'the end of killed workers' });
}

/** True when a process has received SIGSTOP and has stopped: `kill` returns before that. */
export function isStopped(pid: number): boolean {
  return processStat(pid)?.state === 'T';
}

/** True while a process runs or waits for a processor, or for a disk. */
export function isBusy(pid: number): boolean {
  const state = processStat(pid)?.state;
  return state === 'R' || state === 'D';
}

/** The ids of the living children of a process, ascending. */
export function childrenOf(pid: number): number[] {
  return (listed(pid) ?? readdirSync('/proc').map(Number))
    .filter((candidate) => {
      const stat = candidate > 0 ? processStat(candidate) : undefined;
      return stat !== undefined && stat.parent === pid && stat.state !== 'Z';
    })
    .sort((a, b) => a - b);
}

/** What the kernel lists as children of a process's threads, so that not every process has to be looked at; undefined where it does not. */
function listed(pid: number): number[] | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim().split(' ').map(Number));
  } catch {
    return undefined;
  }
}

/** The title or command line of a process, as ps shows it; empty when it is gone. */
export function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function processStat(pid: number): { state: string; parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: state!, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
