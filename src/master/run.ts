import type { Configuration, LoadConfiguration } from '../shared/config/configuration.js';
import { type CommandLine, parseCommandLine, programName, UsageError } from './cli.js';
import { type Context, loadReported } from './context.js';
import { daemonize, isDaemon, releaseStarter, tellStarter } from './daemonize.js';
import type { EarlySignals } from './early-signals.js';
import { INHERITED } from './inherited.js';
import { MasterLog, writeTerminal } from './master-log.js';
import { loadOptions } from './places.js';
import { sendSignal } from './send-signal.js';
import { startMaster } from './start-master.js';
import { subcommands } from './subcommand.js';
import { testConfig } from './test-config.js';
import { configureText, helpText, product, versionLine } from './version.js';
import { MasterZones } from './zones.js';

/** What the program is made of beside the master itself. */
export interface Parts {
  readonly load: LoadConfiguration;
  /** Serves in this process (`master_process off`). */
  readonly serveAlone: (context: Context, configuration: Configuration, ready: () => void) => Promise<number | undefined>;
}

/** Runs what the command line asks for; resolves to the exit code, or to undefined while the server runs. nginx: main. */
export async function run(args: readonly string[], early: EarlySignals, parts: Parts): Promise<number | undefined> {
  const name = programName(process.argv[1]);
  if (name !== 'nginx' && isSubcommand(args[0])) {
    const { runSubcommand } = await import('./yargs-cli.js');
    return runSubcommand(args, subcommands, product);
  }
  const daemon = isDaemon();
  const write = daemon ? tellStarter : writeTerminal;
  let commandLine: CommandLine;
  try {
    commandLine = parseCommandLine(args);
  } catch (error) {
    if (!(error instanceof UsageError)) {
      throw error;
    }
    write(`${name}: ${error.message}\n`);
    return 1;
  }
  if (commandLine.version) {
    write(versionLine() + (commandLine.help ? helpText(name) : '') + (commandLine.configure ? configureText() : ''));
    if (!commandLine.test) {
      return 0;
    }
  }
  const { load, serveAlone } = parts;
  const options = loadOptions(commandLine);
  const log = new MasterLog(name, write);
  log.openFile(
    options.errorLog === '' || options.errorLog.startsWith('/') ? options.errorLog : options.prefix + options.errorLog,
    commandLine.test,
  );
  const context: Context = { name, commandLine, options, log, load, zones: new MasterZones(log), early };
  if (commandLine.test) {
    return testConfig(context);
  }
  return start(context, daemon, write, serveAlone);
}

async function start(
  context: Context,
  daemon: boolean,
  write: (text: string) => void,
  serveAlone: Parts['serveAlone'],
): Promise<number | undefined> {
  const { commandLine, log } = context;
  const configuration = await loadReported(context, undefined, daemon);
  if (configuration === undefined) {
    return 1;
  }
  if (commandLine.signal !== undefined) {
    return sendSignal(commandLine.signal, configuration, log);
  }
  const conf = configuration.process;
  if (conf.daemon && !daemon && process.env[INHERITED] === undefined) {
    return daemonize(configuration, write);
  }
  if (daemon) {
    process.umask(0);
  }
  if (!conf.masterProcess) {
    return serveAlone(context, configuration, releaseStarter);
  }
  return startMaster(context, configuration, { daemonized: daemon, ready: releaseStarter });
}

/** Everything that nginx does not know, and whatever the shell's completion asks. */
function isSubcommand(word: string | undefined): boolean {
  return word !== undefined && (OWN_WORDS.includes(word) || subcommands.some(({ name }) => name === word));
}

const OWN_WORDS = ['completion', '--help', '--version', '--get-yargs-completions'];
