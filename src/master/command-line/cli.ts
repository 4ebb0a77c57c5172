import { basename } from 'node:path';
import { byteText } from '../../shared/text/native-text.js';

/** The signals of `-s`. */
const signalNames = ['stop', 'quit', 'reopen', 'reload'] as const;
export type SignalName = (typeof signalNames)[number];

/** What the command line asks for. Texts have a character per byte. */
export interface CommandLine {
  help: boolean;
  version: boolean;
  configure: boolean;
  test: boolean;
  dump: boolean;
  quiet: boolean;
  prefix: string | undefined;
  /** The empty string stands for standard error. */
  errorLog: string | undefined;
  conf: string | undefined;
  globals: string | undefined;
  signal: SignalName | undefined;
  /** Ours: files or a folder of cases, of which none may fail before `-s reload` (`--check`). */
  check: string | undefined;
  /** Ours: `-s reload` ends once it is known what became of it (`--wait`). */
  wait: boolean;
}

/** The name that the program was called by: `nginx` when installed so, else `sluice`. Messages begin with it. */
export function programName(path: string | undefined): 'nginx' | 'sluice' {
  return basename(path ?? '') === 'nginx' ? 'nginx' : 'sluice';
}

/** The command line cannot be understood; the message is for standard error. */
export class UsageError extends Error {}

/**
 * Reads nginx's command line: options of one letter, in groups, whose values are attached or follow (`-tqc FILE`, `-sreload`). The last of
 * several counts. `own`: knows our option, too. Throws {@link UsageError}. nginx: ngx_get_options.
 */
export function parseCommandLine(args: readonly string[], own = true): CommandLine {
  const line: CommandLine = {
    help: false,
    version: false,
    configure: false,
    test: false,
    dump: false,
    quiet: false,
    prefix: undefined,
    errorLog: undefined,
    conf: undefined,
    globals: undefined,
    signal: undefined,
    check: undefined,
    wait: false,
  };
  for (let i = 0; i < args.length; i++) {
    const group = byteText(args[i] as string);
    if (!group.startsWith('-')) {
      throw new UsageError(`invalid option: "${group}"`);
    }
    if (own && group === '--check') {
      line.check = byteText(args[++i] ?? missing('--check', 'the file or folder of the cases'));
      continue;
    }
    if (own && group === '--wait') {
      line.wait = true;
      continue;
    }
    for (let at = 1; at < group.length; at++) {
      const option = group.charAt(at);
      if (setFlag(line, option)) {
        continue;
      }
      const what = VALUES[option];
      if (what === undefined) {
        throw new UsageError(`invalid option: "${option}"`);
      }
      const attached = group.slice(at + 1);
      const following = attached === '' ? args[++i] : undefined;
      if (attached === '' && following === undefined) {
        missing(`-${option}`, what);
      }
      setValue(line, option, attached === '' ? byteText(following as string) : attached);
      break;
    }
  }
  if (line.check !== undefined && line.signal !== 'reload') {
    throw new UsageError('option "--check" goes with "-s reload"');
  }
  if (line.wait && line.signal !== 'reload') {
    throw new UsageError('option "--wait" goes with "-s reload"');
  }
  return line;
}

function missing(option: string, what: string): never {
  throw new UsageError(`option "${option}" requires ${what}`);
}

/** Options with a value, and what nginx calls the value. */
const VALUES: Readonly<Record<string, string>> = {
  p: 'directory name',
  e: 'file name',
  c: 'file name',
  g: 'parameter',
  s: 'parameter',
};

function setFlag(line: CommandLine, option: string): boolean {
  switch (option) {
    case '?':
    case 'h':
      line.version = line.help = true;
      return true;
    case 'v':
      line.version = true;
      return true;
    case 'V':
      line.version = line.configure = true;
      return true;
    case 't':
      line.test = true;
      return true;
    case 'T':
      line.test = line.dump = true;
      return true;
    case 'q':
      line.quiet = true;
      return true;
    default:
      return false;
  }
}

function setValue(line: CommandLine, option: string, value: string): void {
  switch (option) {
    case 'p':
      line.prefix = value;
      break;
    case 'e':
      line.errorLog = value === 'stderr' ? '' : value;
      break;
    case 'c':
      line.conf = value;
      break;
    case 'g':
      line.globals = value;
      break;
    default: {
      const signal = signalNames.find((name) => name === value);
      if (signal === undefined) {
        throw new UsageError(`invalid option: "-s ${value}"`);
      }
      line.signal = signal;
    }
  }
}
