import { readFileSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { replaceStateFile } from '../../shared/files/state-file.js';
import { processStat } from '../../shared/system/process-stat.js';

/** How a reload went. */
export interface ReloadReport {
  /** ISO 8601. */
  readonly at: string;
  readonly by: string | null;
  /** The requests that this reload answers. */
  readonly tokens: readonly string[];
  readonly outcome: 'running' | 'done' | 'refused';
  /** What is to be known: why it was refused, or what the canary found. Latin1. */
  readonly text: string;
}

/** What the master of a folder says about itself. */
export interface ServiceRecord {
  readonly master: number;
  /** When that process began, as the system counts: numbers of processes are used again. */
  readonly began: string;
  /** Paths are latin1. */
  readonly pidFile: string;
  readonly entry: string;
  /** The number of the kept configuration that serves; null when it could not be kept. */
  readonly serving: number | null;
  /** This configuration serves by a rollback: the files may say something else. */
  readonly rolledBack: boolean;
  /** Since when (ISO 8601), and who asked for it. */
  readonly since: string;
  readonly by: string | null;
  readonly reload: ReloadReport | null;
}

/** When a process began, in a form that is only compared; undefined when there is none. */
export const beginningOf = (pid: number): string | undefined => processStat(pid)?.began.toString();

/** Whether the master that wrote this runs. */
export const isRunning = ({ master, began }: ServiceRecord): boolean => beginningOf(master) === began;

const NAME = 'service.json';

/** Writes the record of a server. Throws node:fs's errors. */
export function writeRecord(folder: string, record: ServiceRecord): void {
  replaceStateFile(`${folder}/${NAME}`, Buffer.from(`${JSON.stringify(record, undefined, 1)}\n`, 'latin1'));
}

/** Reads the record of a server; undefined when there is none. */
export function readRecord(folder: string): ServiceRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(fsPath(`${folder}/${NAME}`), 'latin1')) as ServiceRecord;
    return typeof record.master === 'number' ? record : undefined;
  } catch {
    return undefined;
  }
}
