import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigErrors } from '../../shared/config/configuration.js';
import { fsPath } from '../../shared/lib/fs-path.js';
import { byteText } from '../../shared/lib/native-text.js';
import type { WorkerTotals } from '../../shared/zone/counters.js';
import { readCounters } from '../../shared/zone/read-counters.js';
import { loadConfiguration } from '../../worker/configuration.js';
import { EXIT } from '../command-line/exit-codes.js';
import { runningMaster } from '../processes/pid-file.js';
import { serverOptions } from './server-options.js';
import type { SubcommandValues } from './subcommand.js';

/** A process of the server. */
interface Process {
  readonly pid: number;
  /** `worker process`, `cache manager process` ...; without the name of the program. */
  readonly role: string;
  readonly since: Date;
}

/** What is shown of one worker's counters, or of all. */
type Numbers = Pick<WorkerTotals, 'active' | 'reading' | 'writing' | 'waiting' | 'requests'>;

/** `sluice status`: what runs with the pid file of this configuration; resolves to the exit code. */
export async function runStatusCommand(values: SubcommandValues): Promise<number> {
  let pidFile: string;
  try {
    const options = serverOptions(values, 'quit');
    pidFile = (await loadConfiguration(options)).process.pid;
  } catch (error) {
    if (!(error instanceof ConfigErrors)) {
      throw error;
    }
    for (const { message, detail } of error.findings) {
      process.stderr.write(`sluice: ${message}\n${detail}`, 'latin1');
    }
    return EXIT.CONFIGURATION;
  }
  const pid = runningMaster(pidFile);
  const master = pid === undefined ? undefined : describe(pid);
  if (master === undefined) {
    process.stdout.write(
      values.json === true ? '{ "running": false }\n' : `sluice: nothing runs: the pid file "${pidFile}" names no running server\n`,
      'latin1',
    );
    return EXIT.NOT_RUNNING;
  }
  const children = childrenOf(master.pid);
  const counters = countersOf(master.pid);
  const write = values.json === true ? jsonText : plainText;
  process.stdout.write(write(master, pidFile, children, counters), 'latin1');
  return EXIT.OK;
}

function plainText(master: Process, pidFile: string, children: readonly Process[], counters: readonly WorkerTotals[] | undefined): string {
  const lines = [`sluice runs as process ${master.pid} since ${shown(master.since)} (pid file ${pidFile})`];
  for (const { pid, role, since } of children) {
    const own = counters?.find(({ worker }) => worker === pid);
    lines.push(
      `  ${pid}  ${role} since ${shown(since)}${own === undefined ? '' : `: ${connections(own.active)}, ${requests(own.requests)}`}`,
    );
  }
  if (counters === undefined) {
    lines.push('its counters cannot be read: ask as its own user, or as root');
  } else {
    const { active, reading, writing, waiting } = sum(counters);
    lines.push(
      `${connections(active)}: ${reading} reading, ${writing} writing, ${waiting} waiting; ${requests(sum(counters).requests)} in all`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function jsonText(master: Process, pidFile: string, children: readonly Process[], counters: readonly WorkerTotals[] | undefined): string {
  const numbers = (row: Numbers | undefined): object =>
    row === undefined
      ? {}
      : { connections: { active: row.active, reading: row.reading, writing: row.writing, waiting: row.waiting }, requests: row.requests };
  const document = {
    running: true,
    pid: master.pid,
    since: master.since.toISOString(),
    pid_file: Buffer.from(pidFile, 'latin1').toString(),
    processes: children.map(({ pid, role, since }) => ({
      pid,
      role,
      since: since.toISOString(),
      ...numbers(counters?.find(({ worker }) => worker === pid)),
    })),
    ...numbers(counters === undefined ? undefined : sum(counters)),
  };
  return `${Buffer.from(JSON.stringify(document, undefined, 2)).toString('latin1')}\n`;
}

const connections = (n: number): string => `${n} connection${n === 1 ? '' : 's'}`;
const requests = (n: number): string => `${n} request${n === 1 ? '' : 's'}`;
const shown = (date: Date): string => date.toISOString().replace('T', ' ').replace(/\..*/, ' UTC');

/** What all workers together are doing. A worker has no row before its first client. */
function sum(counters: readonly WorkerTotals[]): Numbers {
  const total = { active: 0, reading: 0, writing: 0, waiting: 0, requests: 0 };
  for (const row of counters) {
    for (const name of Object.keys(total) as (keyof Numbers)[]) {
      total[name] += row[name];
    }
  }
  return total;
}

/** What the system knows of a process; undefined when there is none. */
function describe(pid: number): Process | undefined {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replace(/\0[\s\S]*/, '');
    const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
    const ticks = Number(statOf(pid)[19]);
    // The kernel counts in hundredths of a second on every architecture.
    return { pid, role: title.replace(/^\w+: /, '').trimEnd(), since: new Date(Date.now() - (uptime - ticks / 100) * 1000) };
  } catch {
    return undefined;
  }
}

/** The fields of /proc/PID/stat after the name of the program. */
const statOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^[\s\S]*\) /, '')
    .split(' ');

function childrenOf(master: number): Process[] {
  const found: Process[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) {
      continue;
    }
    try {
      if (Number(statOf(Number(name))[1]) !== master) {
        continue;
      }
    } catch {
      continue;
    }
    const child = describe(Number(name));
    if (child !== undefined) {
      found.push(child);
    }
  }
  return found.sort((a, b) => a.pid - b.pid);
}

/** The counters of a master's workers: it keeps a file in their folder open. Undefined where others may not look. */
function countersOf(master: number): readonly WorkerTotals[] | undefined {
  try {
    for (const descriptor of readdirSync(`/proc/${master}/fd`)) {
      const path = byteText(readlinkSync(`/proc/${master}/fd/${descriptor}`));
      if (!/\/sluice-[A-Za-z0-9]{6}\/owner$/.test(path)) {
        continue;
      }
      const folder = dirname(path);
      return readCounters(folder, statSync(fsPath(folder)).uid);
    }
  } catch {
    // A process of another user.
  }
  return undefined;
}
