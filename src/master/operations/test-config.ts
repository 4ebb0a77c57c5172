import { dumpConfig } from '../../shared/config/dump.js';
import { EMERG } from '../../shared/log/level.js';
import { type Context, loadReported } from '../cycle/context.js';
import { closeLogs, openCycle } from '../cycle/cycle.js';
import { touchPidFile } from '../processes/pid-file.js';

/**
 * Tests the configuration as `-t` and `-T` do, opening what a start would open; returns the exit code. No process is started, and a busy
 * address is no error. nginx: ngx_test_config.
 */
export async function runConfigTest(context: Context): Promise<number> {
  const { commandLine, options, log } = context;
  const testing: Context = { ...context, options: { ...options, testing: true } };
  const configuration = await loadReported(testing, undefined, () => {
    if (!commandLine.quiet) {
      log.say(`the configuration file ${options.entry} syntax is ok`);
    }
  });
  if (configuration === undefined || !touched(configuration.process.pid, context)) {
    log.say(`configuration file ${options.entry} test failed`);
    return 1;
  }
  const cycle = await openCycle(configuration, context, { held: new Map(), testing: true });
  if (cycle === undefined) {
    log.say(`configuration file ${options.entry} test failed`);
    return 1;
  }
  closeLogs(cycle);
  if (!commandLine.quiet) {
    if (configuration.advice !== undefined) {
      log.say(`[notice] ${configuration.advice}`);
    }
    log.say(`configuration file ${options.entry} test is successful`);
  }
  if (commandLine.dump) {
    const { files } = configuration.snapshot;
    process.stdout.write(dumpConfig({ order: Object.keys(files), text: (path) => files[path] }), 'latin1');
  }
  return 0;
}

function touched(path: string, { log }: Context): boolean {
  try {
    touchPidFile(path);
    return true;
  } catch (error) {
    log.log(EMERG, (error as Error).message);
    return false;
  }
}
