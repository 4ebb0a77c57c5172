import { EXIT } from '../../master/command-line/exit-codes.js';
import { runningMaster } from '../../master/processes/pid-file.js';
import { ConfigErrors } from '../../shared/config/configuration.js';
import { type RunningIndex, runCacheRequest } from '../../worker/cache/shell.js';
import { loadConfiguration } from '../configuration.js';
import type { SubcommandValues } from './command.js';
import { zonesFolder } from './in-zones.js';
import { readZone } from './read-counters.js';
import { serverOptions, textValue } from './server-options.js';
import { shownText } from './shown-text.js';

/** How the caches of the server are worked with that has this pid file; undefined where there is none, or not for this user. */
function runningIndex(pidFile: string): RunningIndex {
  const master = runningMaster(pidFile);
  const found = master === undefined ? undefined : zonesFolder(master);
  return (zone, work) => (found === undefined ? undefined : readZone(found.folder, found.uid, zone, work));
}

const ACTIONS = ['list', 'inspect', 'purge'] as const;

/** Runs `sluice cache ACTION`; resolves to the exit code. */
export async function runCacheCommand(values: SubcommandValues): Promise<number> {
  const action = ACTIONS.find((word) => word === values.action);
  if (action === undefined) {
    process.stderr.write(`sluice: cache: the action is one of ${ACTIONS.join(', ')}\n`);
    return EXIT.USAGE;
  }
  const print = (line: string): void => void process.stdout.write(`${shownText(line)}\n`, 'latin1');
  try {
    const options = serverOptions(values, undefined);
    const { zones, process: conf } = await loadConfiguration(options);
    return runCacheRequest(
      zones,
      {
        action,
        zone: textValue(values, 'zone'),
        key: textValue(values, 'key'),
        prefix: textValue(values, 'prefix'),
        tag: textValue(values, 'tag'),
        soft: values.soft === true,
      },
      runningIndex(conf.pid),
      print,
    );
  } catch (error) {
    if (!(error instanceof ConfigErrors)) {
      throw error;
    }
    for (const { message } of error.findings) {
      process.stderr.write(`sluice: ${message}\n`);
    }
    return EXIT.CONFIGURATION;
  }
}
