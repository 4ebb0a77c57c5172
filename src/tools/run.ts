import { mkdirSync, statSync } from 'node:fs';
import { type CommandLine, parseCommandLine, programName, UsageError } from '../master/command-line/cli.js';
import { loadOptions } from '../master/command-line/places.js';
import { configureText, helpText, product, versionLine } from '../master/command-line/version.js';
import { type Context, loadReported } from '../master/cycle/context.js';
import { MasterLog, writeTerminal } from '../master/cycle/master-log.js';
import { MasterZones } from '../master/cycle/zones.js';
import { sendSignal } from '../master/operations/send-signal.js';
import { startMaster } from '../master/operations/start-master.js';
import { runConfigTest } from '../master/operations/test-config.js';
import { type DaemonStart, daemonize, daemonStart, releaseStarter, tellStarter } from '../master/processes/daemonize.js';
import type { EarlySignals } from '../master/processes/early-signals.js';
import { INHERITED } from '../master/processes/inherited-mark.js';
import type { SpareWorker } from '../master/processes/spare-worker.js';
import { onlyTriesRing, ringTried, tryRingApart } from '../master/processes/try-ring.js';
import type { Configuration, LoadConfiguration } from '../shared/config/configuration.js';
import { fsPath } from '../shared/files/fs-path.js';
import { byteText, nativeText } from '../shared/text/native-text.js';
import type { ServerStart } from './subcommands/command.js';
import { serveOptions } from './subcommands/serve-command.js';
import { subcommands } from './subcommands/subcommand.js';
import { wrongWordHint } from './subcommands/wrong-word.js';

/** The parts of the program beside the master itself. */
export interface Parts {
  readonly load: LoadConfiguration;
  /** Serves in this process (`master_process off`). */
  readonly serveAlone: (context: Context, configuration: Configuration, ready: () => void) => Promise<number | undefined>;
}

/** Runs what the command line asks for; resolves to the exit code, or to undefined while the server runs. nginx: main. */
export async function run(args: readonly string[], early: EarlySignals, parts: Parts, spare?: SpareWorker): Promise<number | undefined> {
  if (onlyTriesRing()) {
    process.stdout.write(ringTried());
    return 0;
  }
  const name = programName(process.argv[1]);
  const command = name === 'nginx' ? undefined : commandOf(args);
  if (command === undefined) {
    return runNginx(name, args, early, parts, undefined, spare);
  }
  const { runSubcommand } = await import('./subcommands/yargs-cli.js');
  const outcome = await runSubcommand(command, subcommands, product);
  return typeof outcome === 'number' ? outcome : runNginx(name, outcome.args, early, parts, outcome.ready);
}

/** Does what nginx's options ask for. `ready` hears where clients are answered once they are. */
async function runNginx(
  name: 'nginx' | 'sluice',
  args: readonly string[],
  early: EarlySignals,
  parts: Parts,
  ready?: ServerStart['ready'],
  spare?: SpareWorker,
): Promise<number | undefined> {
  const daemon = daemonStart();
  const write = daemon !== undefined ? tellStarter : writeTerminal;
  let commandLine: CommandLine;
  try {
    commandLine = parseCommandLine(args, name === 'sluice');
  } catch (error) {
    if (!(error instanceof UsageError)) {
      throw error;
    }
    write(
      `${name}: ${error.message}\n${
        name === 'nginx'
          ? ''
          : wrongWordHint(
              byteText(args[0] ?? ''),
              subcommands.map((each) => each.name),
            )
      }`,
    );
    return 1;
  }
  if (commandLine.version) {
    const configured = commandLine.configure ? configureText((await tryRingApart()).why) : '';
    write(versionLine() + (commandLine.help ? helpText(name) : '') + configured);
    if (!commandLine.test) {
      return 0;
    }
  }
  const { load, serveAlone } = parts;
  const options = loadOptions(commandLine, name);
  if (options.project === true && commandLine.signal === undefined) {
    makeLogFolder(options.prefix);
  }
  const log = new MasterLog(name, write);
  log.openFile(
    options.errorLog === '' || options.errorLog.startsWith('/') ? options.errorLog : options.prefix + options.errorLog,
    commandLine.test,
  );
  const context: Context = { name, commandLine, options, log, load, zones: new MasterZones(log), early, spare };
  if (commandLine.test) {
    return runConfigTest(context);
  }
  return start(context, daemon, write, serveAlone, ready);
}

/** A project has no folder for logs before its first start. Where none can be made, the logs that cannot be opened are told. */
function makeLogFolder(prefix: string): void {
  try {
    mkdirSync(fsPath(`${prefix}logs`));
  } catch {
    // It is there, or the folder may not be written.
  }
}

async function start(
  context: Context,
  daemon: DaemonStart | undefined,
  write: (text: string) => void,
  serveAlone: Parts['serveAlone'],
  announce: ServerStart['ready'] = () => {},
): Promise<number | undefined> {
  const { commandLine, log } = context;
  const daemonized = daemon !== undefined;
  const piped = await daemon?.piped();
  const first = piped === undefined ? context : { ...context, options: { ...context.options, piped } };
  const configuration = await loadReported(first, undefined, undefined, daemonized);
  if (configuration === undefined) {
    return tellNevertheless(context);
  }
  if (commandLine.signal !== undefined) {
    if (commandLine.check !== undefined && !(await casesPass(context, commandLine.check))) {
      return 1;
    }
    const { pid, history, canary } = configuration.process;
    const wait = commandLine.wait ? (canary?.time ?? 0) : undefined;
    return sendSignal(commandLine.signal, { pid, history, entry: configuration.snapshot.entry, wait }, log);
  }
  const conf = configuration.process;
  if (conf.daemon && !daemonized && process.env[INHERITED] === undefined) {
    context.spare?.drop();
    return daemonize(configuration, write);
  }
  if (daemonized) {
    process.umask(0);
  }
  const ready = (): void => {
    releaseStarter();
    announce(configuration.urls);
  };
  if (!conf.masterProcess) {
    context.spare?.drop();
    return serveAlone(context, configuration, ready);
  }
  return startMaster(context, configuration, { daemonized, ready });
}

/**
 * Tells a server to end or to open its logs anew though its files are broken now: what can be read of them says where it is. To load them
 * makes no sense, and nginx tells nobody anything then. Returns the exit code.
 */
async function tellNevertheless({ name, commandLine: { signal }, options, log }: Context): Promise<number> {
  if (signal === undefined || signal === 'reload' || name === 'nginx') {
    return 1;
  }
  const { findServer } = await import('./subcommands/found-server.js');
  const { pid, history } = await findServer(options);
  log.say(`[warn] the configuration is broken; by what can be read of it the pid file is "${pid}"`);
  return sendSignal(signal, { pid, history, entry: options.entry, wait: undefined }, log);
}

/** Runs the cases of `--check` on the configuration that a reload would load. False when one fails: then there is to be no reload. */
async function casesPass({ commandLine: { prefix, conf, globals }, log }: Context, cases: string): Promise<boolean> {
  const { runTestCommand } = await import('./subcommands/test-command.js');
  const code = await runTestCommand({
    ...(prefix === undefined ? {} : { directory: nativeText(prefix) }),
    ...(conf === undefined ? {} : { conf: nativeText(conf) }),
    ...(globals === undefined ? {} : { globals: nativeText(globals) }),
    cases: [nativeText(cases)],
  });
  if (code !== 0) {
    log.say('the server is not told to reload: its configuration does not pass the cases');
  }
  return code === 0;
}

/**
 * The command line of a subcommand, if it is one: everything that nginx does not know. A folder
 * stands for the command that serves it.
 */
function commandOf(args: readonly string[]): readonly string[] | undefined {
  const [word] = args;
  if (word === undefined) {
    return undefined;
  }
  if (word === 'help') {
    return [...args.slice(1), '--help'];
  }
  if (OWN_WORDS.includes(word) || subcommands.some(({ name }) => name === word)) {
    return args;
  }
  const option = /^--([a-z-]+)/.exec(word)?.[1];
  const serves =
    option === undefined
      ? !word.startsWith('-') && (word.includes('/') || isFolder(word))
      : serveOptions.some(({ name }) => name === option);
  return serves ? ['serve', ...args] : undefined;
}

const OWN_WORDS = ['--help', '--version'];

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
