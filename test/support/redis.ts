import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ReservedPort, reservePort } from './ports.js';
import type { Scene } from './prefix.js';
import { isStopped } from './processes.js';
import { waitFor } from './wait.js';

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** The engine that tests of a shared store run with; undefined where there is none. */
export const engine: string | undefined = ['valkey-server', 'redis-server'].find(has);
const client = engine === 'valkey-server' ? 'valkey-cli' : 'redis-cli';

/** Why a test is skipped that needs an engine; false where there is one. */
export const withoutEngine: string | false = engine === undefined ? 'neither valkey-server nor redis-server is installed' : false;

/** A store that runs in a folder of its own. It ends with the test. */
export interface Redis {
  readonly port: number;
  /** Where others of its cluster reach it; 0 where it is in none. */
  readonly bus: number;
  readonly dir: string;
  /** Asks by the engine's own client, and gives what that prints. */
  ask(...command: string[]): Promise<string>;
  /** Kills it, and waits for its end. */
  kill(): Promise<void>;
  /** Starts it again, with nothing in it, and waits until it answers. */
  start(): Promise<void>;
  /** Stops the process where it is: connections stay, and nobody answers. */
  freeze(): Promise<void>;
  thaw(): void;
}

/** What the engine is told beside its port. */
export interface RedisOptions {
  readonly args?: readonly string[];
  /** Arguments of the client, such as for TLS or a password. */
  readonly clientArgs?: readonly string[];
  /** It listens for TLS alone. */
  readonly tls?: boolean;
  /** It is one of a cluster, and has a second port for the others. */
  readonly cluster?: boolean;
  /** It is a Sentinel with this file, in which its port stands. */
  readonly sentinel?: { readonly file: string; readonly port: number };
}

/** Starts an engine on a free port of 127.0.0.1. */
export async function startRedis(t: Scene, options: RedisOptions = {}): Promise<Redis> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  // Workers of a server that root started belong to nobody.
  chmodSync(dir, 0o755);
  const reserved: ReservedPort | undefined = options.sentinel === undefined ? await reservePort() : undefined;
  // Unless told, it would be the port 10000 above, which may be somebody else's.
  const bus = options.cluster ? await reservePort() : undefined;
  const args = [...(options.args ?? []), ...(bus === undefined ? [] : ['--cluster-enabled', 'yes', '--cluster-port', String(bus.port)])];
  const redis = new RunningRedis(dir, reserved?.port ?? options.sentinel!.port, bus?.port ?? 0, { ...options, args });
  t.teardown(async () => {
    await redis.kill();
    reserved?.release();
    bus?.release();
    rmSync(dir, { recursive: true, force: true });
  });
  await redis.start();
  return redis;
}

class RunningRedis implements Redis {
  readonly dir: string;
  readonly port: number;
  readonly bus: number;
  readonly #options: RedisOptions;
  #child: ChildProcess | undefined;

  constructor(dir: string, port: number, bus: number, options: RedisOptions) {
    this.dir = dir;
    this.port = port;
    this.bus = bus;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { args = [], tls, sentinel } = this.#options;
    const ports = tls ? ['--port', '0', '--tls-port', String(this.port)] : ['--port', String(this.port)];
    const fixed = ['--bind', '127.0.0.1', '--dir', this.dir, '--save', '', '--appendonly', 'no', '--daemonize', 'no'];
    const all = sentinel === undefined ? [...ports, ...fixed, ...args] : [sentinel.file, '--sentinel'];
    this.#child = spawn(engine!, all, { stdio: 'ignore' });
    await waitFor(async () => /PONG|NOAUTH/.test(await this.ask('PING').catch(() => '')), { what: 'the store' });
  }

  ask(...command: string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const args = ['-h', '127.0.0.1', '-p', String(this.port), ...(this.#options.clientArgs ?? []), ...command];
      execFile(client, args, { timeout: 20_000 }, (error, stdout) => (error === null ? resolve(stdout.trim()) : reject(error)));
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  async freeze(): Promise<void> {
    const pid = this.#child!.pid!;
    process.kill(pid, 'SIGSTOP');
    await waitFor(() => isStopped(pid));
  }

  thaw(): void {
    process.kill(this.#child!.pid!, 'SIGCONT');
  }
}
