import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../../master/command-line/exit-codes.js';
import { KeptConfigurations, type Manifest } from '../../master/history/kept.js';
import { isRunning, readRecord, type ServiceRecord } from '../../master/history/record.js';
import { askedBy, leaveRequest, newToken } from '../../master/history/requests.js';
import { fsPath } from '../../shared/files/fs-path.js';
import { errnoText } from '../../shared/system/errno.js';
import type { SubcommandValues } from './command.js';
import { findServer } from './found-server.js';
import { serverOptions, textValue } from './server-options.js';

/** How long the master may take to answer (milliseconds), and how often its answer is looked for. */
const PATIENCE = 60_000;
const LOOK = 50;

/** Runs `sluice rollback`; resolves to the exit code. */
export async function runRollbackCommand(values: SubcommandValues): Promise<number> {
  const folder = textValue(values, 'history') ?? (await findServer(serverOptions(values, 'quit'))).history;
  if (folder === undefined) {
    return fail('this configuration keeps none of those that served ("configuration_history off")', EXIT.CONFIGURATION);
  }
  try {
    statSync(fsPath(`${folder}/.`));
    const kept = new KeptConfigurations(folder);
    const record = readRecord(folder);
    const all = kept.all();
    if (values.list === true) {
      process.stdout.write(values.json === true ? jsonList(all, record) : plainList(all, record, folder), 'latin1');
      return EXIT.OK;
    }
    return await goBack(folder, record, all, textValue(values, 'number'));
  } catch (error) {
    return fail(`"${folder}": ${errnoText(error)}`, EXIT.NO);
  }
}

async function goBack(
  folder: string,
  record: ServiceRecord | undefined,
  all: readonly Manifest[],
  number: string | undefined,
): Promise<number> {
  if (record === undefined || !isRunning(record)) {
    return fail(`no server runs that keeps its configurations in "${folder}"`, EXIT.NOT_RUNNING);
  }
  const { master } = record;
  const ids = all.map(({ id }) => id);
  const target = number === undefined ? ids.filter((id) => id < (record.serving ?? 0)).at(-1) : Number(number);
  if (target === undefined) {
    return fail('no earlier configuration is kept (`sluice rollback --list` shows what is)', EXIT.NO);
  }
  if (!ids.includes(target)) {
    return fail(`no configuration ${number} is kept (\`sluice rollback --list\` shows what is)`, EXIT.NO);
  }
  if (target === record.serving) {
    return fail(`configuration ${target} is the one that serves`, EXIT.NO);
  }
  const token = newToken();
  const takeBack = leaveRequest(folder, { token, at: Date.now(), by: askedBy(), rollback: target });
  try {
    process.kill(master, 'SIGHUP');
  } catch (error) {
    takeBack();
    return fail(`process ${master} cannot be told (${errnoText(error)})`, EXIT.NO);
  }
  for (let waited = 0; waited < PATIENCE; waited += LOOK) {
    const reload = readRecord(folder)?.reload;
    if (reload?.tokens.includes(token) && reload.outcome === 'done') {
      const { entry } = record;
      process.stdout.write(
        `configuration ${target} serves again\n${entry} is as it was: the next reload loads it, and so does a start\n`,
        'latin1',
      );
      return EXIT.OK;
    }
    if (reload?.tokens.includes(token) && reload.outcome === 'refused') {
      return fail(`configuration ${target} cannot be used any more: ${reload.text}`, EXIT.NO);
    }
    await sleep(LOOK);
  }
  takeBack();
  return fail(`process ${master} has not answered for ${PATIENCE / 1000} seconds; its error log says more`, EXIT.NO);
}

function plainList(all: readonly Manifest[], record: ServiceRecord | undefined, folder: string): string {
  if (all.length === 0) {
    return `no configuration is kept in ${folder}\n`;
  }
  const lines = all.flatMap(({ id, entry, files, periods }) => {
    const count = Object.keys(files).length;
    const serves = id === record?.serving && periods.at(-1)?.until === null;
    const head = `${serves ? '*' : ' '} ${id}  ${entry}${count > 1 ? ` and ${count - 1} included file${count > 2 ? 's' : ''}` : ''}`;
    const times = periods.map(({ from, until, by, why }) => {
      const end = until === null ? 'serves now' : `until ${shown(until)}: ${why}`;
      return `       ${shown(from)}${by === null ? '' : `, asked for by ${by}`}; ${end}`;
    });
    return [head, ...times];
  });
  return `${lines.join('\n')}\n`;
}

function jsonList(all: readonly Manifest[], record: ServiceRecord | undefined): string {
  const configurations = all.map(({ id, entry, files, periods }) => ({
    number: id,
    serves: id === record?.serving && periods.at(-1)?.until === null,
    entry,
    files: Object.keys(files),
    periods,
  }));
  return `${JSON.stringify({ configurations }, undefined, 2)}\n`;
}

const shown = (time: string): string => time.replace('T', ' ').replace(/\..*/, ' UTC');

function fail(message: string, code: number): number {
  process.stderr.write(`sluice: rollback: ${message}\n`, 'latin1');
  return code;
}
