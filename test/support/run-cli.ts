import { spawn } from 'node:child_process';
import type { Test } from 'tap';
import { againstNginx, builtProgram, serverCommand } from './binary.js';
import { Checker } from './checker.js';
import { type Files, makePrefix, type Prefix } from './prefix.js';

/** What a finished command left. Output is text, a character for a byte. */
export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  /** Added to the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds after which the command is killed; 60000 unless told. */
  readonly timeout?: number;
}

/** Runs the server under test with these arguments to its end. Never rejects for an exit code. */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const [command, ...first] = serverCommand();
  return new Promise((done, fail) => {
    const child = spawn(command, [...first, ...args], {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeout ?? 60_000,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('latin1').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('latin1').on('data', (text: string) => (stderr += text));
    child.once('error', fail);
    child.once('close', (code, signal) => done({ code, signal, stdout, stderr }));
  });
}

/** The result of `-t` (or what `args` ask for) on a configuration, and where the configuration lay. */
export interface ConfigTest extends CliResult {
  readonly prefix: Prefix;
  /** The path of the main configuration file, as messages show it. */
  readonly file: string;
}

/** Runs what only reads a configuration. */
const checker = new Checker();

/** As {@link runCli}, for arguments that ask for `-t` or `-T` and nothing that is the process's own. All of a file's run in one process. */
export function runCheck(args: readonly string[]): Promise<CliResult> {
  return againstNginx ? runCli(args) : checker.run(builtProgram(), args);
}

/**
 * Writes `conf` and `files` under a temporary prefix (with %%DIR%% and %%PORT_n%% replaced) and runs
 * `-p PREFIX/ -c sluice.conf -e error.log -t`. `args` stand in the place of `-t`.
 */
export async function testConfig(t: Test, conf: string, files: Files = {}, args: readonly string[] = ['-t']): Promise<ConfigTest> {
  const prefix = await makePrefix(t, { ...files, 'sluice.conf': conf });
  const all = ['-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', ...args];
  const result = await (/^-q?[tT]q?$/.test(args.join(' ')) ? runCheck(all) : runCli(all));
  return { ...result, prefix, file: `${prefix.dir}/sluice.conf` };
}
