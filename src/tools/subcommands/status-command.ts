import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { EXIT } from '../../master/command-line/exit-codes.js';
import { readRecord, type ServiceRecord } from '../../master/history/record.js';
import { runningMaster } from '../../master/processes/pid-file.js';
import { ConfigErrors, type Configuration } from '../../shared/config/configuration.js';
import { beganAt, processStat } from '../../shared/system/process-stat.js';
import { counted } from '../../shared/text/counted.js';
import { byteText, nativeText } from '../../shared/text/native-text.js';
import { setTimer } from '../../shared/time/timer.js';
import { counterZone, type WorkerTotals } from '../../shared/zone/counters.js';
import { acmeZone, type OrderReport } from '../../worker/acme/acme-zone.js';
import { reportObject } from '../../worker/acme/report-object.js';
import type { AcmeZoneRef } from '../../worker/acme/settings.js';
import { MACHINES_BYTES, MACHINES_ZONE, type MachinesZoneRef, machineObject, machinesZone } from '../../worker/fleet/machines-zone.js';
import type { SubcommandValues } from './command.js';
import { tellConfigErrors } from './config-errors.js';
import { fleetTable } from './fleet-table.js';
import { type FoundServer, findServer } from './found-server.js';
import { inZones } from './in-zones.js';
import { readCounters, readZone } from './read-counters.js';
import { serverOptions } from './server-options.js';
import { shownText } from './shown-text.js';
import { countTables, type NamedCounts, namedCounts } from './status-tables.js';

const machinesRef: MachinesZoneRef = { name: MACHINES_ZONE, kind: machinesZone, bytes: MACHINES_BYTES, data: undefined };

/** How often `--watch` shows it anew (milliseconds), and what clears a terminal. */
const WATCH_MS = 2000;
const CLEAR = '\x1b[H\x1b[2J';

/** A process of the server. */
interface Process {
  readonly pid: number;
  /** `worker process`, `cache manager process` ...; without the name of the program. */
  readonly role: string;
  readonly since: Date;
  /** What serves a worker's plain connections; undefined where the system does not tell. */
  readonly engine: 'uring' | 'libuv' | undefined;
}

/** What is shown of one worker's counters, or of all. */
type Numbers = Pick<WorkerTotals, 'active' | 'reading' | 'writing' | 'waiting' | 'requests'>;

/** `sluice status`: what runs with the pid file of this configuration; resolves to the exit code. */
export async function runStatusCommand(values: SubcommandValues): Promise<number> {
  const found = await findServer(serverOptions(values, 'quit'));
  const pidFile = found.pid;
  const pid = runningMaster(pidFile);
  const master = pid === undefined ? undefined : describe(pid);
  if (master === undefined) {
    if (found.files instanceof ConfigErrors) {
      // Perhaps they say where a server is that runs.
      return tellConfigErrors(found.files);
    }
    process.stdout.write(
      values.json === true ? '{ "running": false }\n' : `sluice: nothing runs: the pid file "${pidFile}" names no running server\n`,
      'latin1',
    );
    return EXIT.NOT_RUNNING;
  }
  if (values.fleet === true && !isInFleet(found)) {
    process.stderr.write('sluice: this configuration has no "shared_store"\n');
    return EXIT.NO;
  }
  const show: Show =
    values.fleet === true
      ? () => showFleet(master.pid, values.json === true)
      : (before) => showStatus(master, found, values.json === true, before);
  const first = show(undefined);
  return values.watch === true ? watch(show, first) : EXIT.OK;
}

const isInFleet = ({ files }: FoundServer): boolean =>
  files instanceof ConfigErrors || zonesOf(files).some(({ kind }) => kind === machinesZone);

/** Shows the machines of the fleet, as this one has heard of them. */
function showFleet(master: number, json: boolean): undefined {
  const machines = inZones(master, (folder, uid) => readZone(folder, uid, machinesRef, (zone) => zone.all())) ?? [];
  process.stdout.write(
    json ? byteText(`${JSON.stringify({ machines: machines.map(machineObject) }, undefined, 2)}\n`) : fleetTable(machines),
    'latin1',
  );
}

/** Shows the status again and again, until the command is ended or nobody looks any more. */
function watch(show: Show, first: Counted | undefined): Promise<number> {
  let before = first;
  return new Promise((done) => {
    const again = (): void => {
      process.stdout.write(CLEAR);
      before = show(before);
      setTimer(again, WATCH_MS);
    };
    process.stdout.once('error', () => done(EXIT.OK));
    setTimer(again, WATCH_MS);
  });
}

/** What was counted by name at a moment (milliseconds). */
interface Counted {
  readonly at: number;
  readonly counts: NamedCounts;
}

/** Shows the status, with rates since the moment that is given; returns what it showed. */
type Show = (before: Counted | undefined) => Counted | undefined;

function showStatus(
  master: Process,
  { pid: pidFile, history, files }: FoundServer,
  json: boolean,
  before: Counted | undefined,
): Counted | undefined {
  const children = childrenOf(master.pid);
  const named = inZones(master.pid, (folder, uid) => readZone(folder, uid, counterZone, ({ meters }) => namedCounts(meters)));
  const counters = inZones(master.pid, readCounters);
  const ref = zonesOf(files).find(({ kind }) => kind === acmeZone) as AcmeZoneRef | undefined;
  const certificates = ref && inZones(master.pid, (folder, uid) => readZone(folder, uid, ref, (zone) => zone.reports()));
  const write = json ? jsonText : plainText;
  const service = serviceOf(master.pid, history);
  const broken = files instanceof ConfigErrors ? files.message : undefined;
  const status = { master, pidFile, children, counters, certificates: certificates ?? [], service, broken };
  const now = Date.now();
  const tables = json || named === undefined ? '' : countTables(named, before?.counts, before === undefined ? 1 : (now - before.at) / 1000);
  process.stdout.write(`${write(status)}${tables === '' ? '' : `${tables}\n`}`, 'latin1');
  return named && { at: now, counts: named };
}

/** All that is shown. */
interface Status {
  readonly master: Process;
  readonly pidFile: string;
  readonly children: readonly Process[];
  /** undefined: they cannot be read. */
  readonly counters: readonly WorkerTotals[] | undefined;
  readonly certificates: readonly OrderReport[];
  /** What the master says of the configuration that it serves; undefined where it says nothing, or nobody may read it. */
  readonly service: ServiceRecord | undefined;
  /** Why the files could not be loaded now. */
  readonly broken: string | undefined;
}

const zonesOf = (files: FoundServer['files']): Configuration['zones'] => (files instanceof ConfigErrors ? [] : files.zones);

function serviceOf(master: number, history: string | undefined): ServiceRecord | undefined {
  const record = history === undefined ? undefined : readRecord(history);
  return record?.master === master ? record : undefined;
}

/** Which configuration serves, where that is not what the files say, and how the last reload went. */
function serviceLines({ serving, rolledBack, since, by, entry, reload }: ServiceRecord): string[] {
  const who = by === null ? '' : `, asked for by ${by}`;
  const lines = rolledBack
    ? [`it serves the kept configuration ${serving} by a rollback since ${shown(new Date(since))}${who}, not ${entry}`]
    : [];
  if (reload !== null && (reload.outcome !== 'done' || reload.text !== '')) {
    const outcomes = { running: 'is under way', refused: 'was refused', done: 'went through' } as const;
    lines.push(`the reload of ${shown(new Date(reload.at))} ${outcomes[reload.outcome]}: ${reload.text}`);
  }
  return lines;
}

function plainText({ master, pidFile, children, counters, certificates, service, broken }: Status): string {
  const lines = [`sluice runs as process ${master.pid} since ${shown(master.since)} (pid file ${pidFile})`];
  for (const { pid, role, since, engine } of children) {
    const own = counters?.find(({ worker }) => worker === pid);
    lines.push(
      `  ${pid}  ${role} since ${shown(since)}${engine === undefined ? '' : ` on ${engine}`}${own === undefined ? '' : `: ${counted(own.active, 'connection')}, ${counted(own.requests, 'request')}`}`,
    );
  }
  if (counters === undefined) {
    lines.push('its counters cannot be read: ask as its own user, or as root');
  } else {
    const { active, reading, writing, waiting } = sum(counters);
    lines.push(
      `${counted(active, 'connection')}: ${reading} reading, ${writing} writing, ${waiting} waiting; ${counted(sum(counters).requests, 'request')} in all`,
    );
  }
  if (broken !== undefined) {
    lines.push(`the files cannot be loaded now, so a reload would be refused: ${broken}`);
  }
  return `${[...lines, ...(service === undefined ? [] : serviceLines(service)), ...certificates.map(certificateLine)].map(shownText).join('\n')}\n`;
}

function certificateLine({ issuer, identifiers, notAfter, next, error }: OrderReport): string {
  const valid = notAfter === 0 ? 'none yet' : `valid until ${shown(new Date(notAfter))}`;
  const then = error === '' ? `renewal at ${shown(new Date(next))}` : `next attempt at ${shown(new Date(next))} (${error})`;
  return `certificate for ${identifiers} from ${issuer}: ${valid}${next === 0 ? '' : `, ${then}`}`;
}

function jsonText({ master, pidFile, children, counters, certificates, service, broken }: Status): string {
  const numbers = (row: Numbers | undefined): object =>
    row === undefined
      ? {}
      : { connections: { active: row.active, reading: row.reading, writing: row.writing, waiting: row.waiting }, requests: row.requests };
  const document = {
    running: true,
    pid: master.pid,
    since: master.since.toISOString(),
    pid_file: nativeText(pidFile),
    processes: children.map(({ pid, role, since, engine }) => ({
      pid,
      role,
      since: since.toISOString(),
      net_engine: engine,
      ...numbers(counters?.find(({ worker }) => worker === pid)),
    })),
    ...numbers(counters === undefined ? undefined : sum(counters)),
    certificates: certificates.map(reportObject),
    ...(service === undefined ? {} : { configuration: configurationObject(service) }),
    ...(broken === undefined ? {} : { configuration_error: nativeText(broken) }),
  };
  return byteText(`${JSON.stringify(document, undefined, 2)}\n`);
}

function configurationObject({ serving, rolledBack, since, by, entry, reload }: ServiceRecord): object {
  const last = reload && { at: reload.at, by: reload.by, outcome: reload.outcome, text: reload.text };
  return { entry, number: serving, rolled_back: rolledBack, since, by, last_reload: last };
}

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
  const stat = processStat(pid);
  if (stat === undefined) {
    return undefined;
  }
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replace(/\0[\s\S]*/, '');
    const role = title.replace(/^\w+: /, '').trimEnd();
    return { pid, role, since: new Date(beganAt(stat)), engine: role.startsWith('worker process') ? engineOf(pid) : undefined };
  } catch {
    return undefined;
  }
}

/** A worker that has a ring among its descriptors serves with it. */
function engineOf(pid: number): Process['engine'] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((fd) => linkOf(`${folder}/${fd}`) === 'anon_inode:[io_uring]') ? 'uring' : 'libuv';
  } catch {
    return undefined;
  }
}

/** Where a link leads; empty for one that has gone. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function childrenOf(master: number): Process[] {
  const found: Process[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) {
      continue;
    }
    const pid = Number(name);
    const child = processStat(pid)?.parent === master ? describe(pid) : undefined;
    if (child !== undefined) {
      found.push(child);
    }
  }
  return found.sort((a, b) => a.pid - b.pid);
}
