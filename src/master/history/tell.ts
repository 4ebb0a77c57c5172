import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { redactLine } from '../../shared/config/redact.js';
import { meant, shownTexts } from '../../shared/config/shown-texts.js';
import { openPastLinks } from '../../shared/files/others-link.js';
import type { OperatorQuestion } from '../../shared/ipc/messages.js';
import type { ErrorLogSpec } from '../../shared/log/error-log-spec.js';
import type { History } from './history.js';

/** How many bytes from the end of the log are told. */
const MOST_LOG = 128 * 1024;
/** How many times of serving are told of each configuration: the latest ones. */
const MOST_PERIODS = 5;

/** Answers what operators ask for by way of a worker: as JSON text, without the configurations' secrets; `null` where there is nothing. */
export function tellOperator(question: OperatorQuestion, history: History, logs: readonly ErrorLogSpec[]): string {
  try {
    return JSON.stringify(question === 'history' ? overview(history) : question === 'log' ? lastLines(logs) : kept(history, question));
  } catch {
    return 'null';
  }
}

function overview(history: History): object | null {
  const { record } = history;
  if (record === undefined) {
    return null;
  }
  const { serving, rolledBack, since, by, reload } = record;
  return {
    serving,
    rolledBack,
    since,
    by: meant(by),
    reload: reload === null ? null : { at: reload.at, by: meant(reload.by), outcome: reload.outcome, text: meant(redactLine(reload.text)) },
    kept: history.manifests().map(({ id, entry, periods }) => ({
      id,
      entry: meant(entry),
      periods: periods.slice(-MOST_PERIODS).map(({ from, by: who, until, why }) => ({ from, by: meant(who), until, why: meant(why) })),
    })),
  };
}

function kept(history: History, id: number): object | null {
  const found = history.read(id);
  return found === undefined ? null : { id, ...shownTexts({ globals: found.manifest.globals, files: found.texts }) };
}

/** The end of the first log that is a file, as its lines. Only whole lines are told. */
function lastLines(logs: readonly ErrorLogSpec[]): object | null {
  const path = logs.map(({ to }) => (to.kind === 'file' ? to.path : undefined)).find((found) => found !== undefined);
  if (path === undefined) {
    return null;
  }
  const fd = openPastLinks(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) {
      return null;
    }
    const from = Math.max(0, stat.size - MOST_LOG);
    const bytes = Buffer.alloc(Math.min(stat.size, MOST_LOG));
    const read = readSync(fd, bytes, 0, bytes.length, from);
    const lines = bytes.toString('utf8', 0, read).split('\n');
    return { path: meant(path), lines: lines.slice(from === 0 ? 0 : 1, -1).map(redactLine) };
  } finally {
    closeSync(fd);
  }
}
