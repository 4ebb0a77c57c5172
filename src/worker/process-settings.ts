import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus, setPriority } from 'node:os';
import type { ProcessConf } from '../shared/config/configuration.js';
import { fsPath } from '../shared/files/fs-path.js';
import type { Logger } from '../shared/log/error-log.js';
import { ALERT, EMERG, type Level, WARN } from '../shared/log/level.js';
import { loadNative } from '../shared/native/native.js';
import { errnoText } from '../shared/system/errno.js';
import { groupId, idOfUser } from '../shared/system/user-ids.js';
import { nativeText } from '../shared/text/native-text.js';

const CAP_NET_RAW = 13;
const [RLIMIT_CORE, RLIMIT_NOFILE] = [4, 7];

interface InitGroups {
  /** Missing in Node's type declarations. */
  initgroups(user: string, group: string | number): void;
}

/**
 * The process cannot get the settings without which it must not run; the reason is in the log. nginx: exit(2) in
 * ngx_worker_process_init.
 */
export class FatalSettings extends Error {}

/** Leaves only the variables that `env` directives name, and TZ, in this process's environment. nginx: ngx_set_environment. */
export function filterEnvironment(names: readonly string[]): void {
  const kept: Record<string, string> = {};
  for (const entry of names.some((name) => /^TZ(=|$)/.test(name)) ? names : [...names, 'TZ']) {
    const equals = entry.indexOf('=');
    const name = nativeText(equals < 0 ? entry : entry.slice(0, equals));
    const value = equals < 0 ? process.env[name] : nativeText(entry.slice(equals + 1));
    if (value !== undefined) {
      kept[name] = value;
    }
  }
  for (const name of Object.keys(process.env)) {
    if (!(name in kept)) {
      delete process.env[name];
    }
  }
  Object.assign(process.env, kept);
}

/**
 * Applies `worker_priority`, `worker_rlimit_nofile` and `worker_rlimit_core`, which may need root's rights. `slot` is -1 in a helper
 * process.
 */
export function applyLimits(conf: ProcessConf, slot: number, log: Logger): void {
  if (slot >= 0 && conf.priority !== 0) {
    try {
      setPriority(process.pid, conf.priority);
    } catch (error) {
      log.log(ALERT, `setpriority(${conf.priority}) failed (${errnoText((error as { info?: unknown }).info ?? error)})`);
    }
  }
  if (conf.rlimitNofile !== undefined) {
    limit(RLIMIT_NOFILE, 'nofile', conf.rlimitNofile, log);
  }
  if (conf.rlimitCore !== undefined) {
    limit(RLIMIT_CORE, 'core', conf.rlimitCore, log);
  }
}

function limit(resource: number, name: 'nofile' | 'core', value: number, log: Logger): void {
  const failed = (reason: string): void => log.log(ALERT, `setrlimit(RLIMIT_${name.toUpperCase()}, ${value}) failed (${reason})`);
  const native = loadNative();
  if (typeof native === 'string') {
    run('prlimit', ['--pid', `${process.pid}`, `--${name}=${value}:${value}`], `worker_rlimit_${name}`, log, failed);
    return;
  }
  const code = native.setLimit(resource, value);
  if (code < 0) {
    failed(errnoText({ errno: code }));
  }
}

/**
 * Becomes the configured user and group when this process runs as root. Throws {@link FatalSettings} when that fails: a worker never keeps
 * root's rights by accident.
 */
export function dropRights(conf: ProcessConf, log: Logger): void {
  if (process.geteuid?.() !== 0 || conf.user === undefined) {
    return;
  }
  const user = nativeText(conf.user);
  const group = nativeText(conf.group ?? conf.user);
  const [uid, gid] = [idOfUser(user), groupId(group)];
  attempt(() => process.setgid?.(gid ?? group), `setgid(${gid ?? group})`, log);
  try {
    (process as unknown as InitGroups).initgroups(user, gid ?? group);
  } catch (error) {
    log.log(EMERG, `initgroups(${user}, ${gid ?? group}) failed (${errnoText(error)})`);
  }
  const native = conf.transparent && uid !== 0 ? loadNative() : '';
  if (typeof native !== 'string') {
    mustWork(native.keepCapabilities(), 'prctl(PR_SET_KEEPCAPS, 1)', log);
  }
  attempt(() => process.setuid?.(uid ?? user), `setuid(${uid ?? user})`, log);
  if (typeof native !== 'string') {
    mustWork(native.setCapabilities(1 << CAP_NET_RAW), 'capset()', log);
  }
}

/** nginx's workers end with such a message. */
function mustWork(code: number, what: string, log: Logger): void {
  if (code < 0) {
    throw fatal(EMERG, `${what} failed (${errnoText({ errno: code })})`, log);
  }
}

/** Applies `worker_cpu_affinity` to a worker. nginx: ngx_get_cpu_affinity. */
export function applyAffinity(conf: ProcessConf, slot: number, log: Logger): void {
  const mask = slot < 0 || conf.cpuAffinity === undefined ? undefined : affinityMask(conf.cpuAffinity, slot);
  if (mask === undefined) {
    return;
  }
  const failed = (reason: string): void => log.log(ALERT, `sched_setaffinity() failed (${reason})`);
  const native = loadNative();
  if (typeof native === 'string') {
    run('taskset', ['-a', '-p', BigInt(`0b${mask}`).toString(16), `${process.pid}`], 'worker_cpu_affinity', log, failed);
    return;
  }
  const bits = maskBytes(mask);
  // A thread starts with the CPUs of the one that starts it.
  for (const thread of readdirSync('/proc/self/task')) {
    const code = native.setAffinity(Number(thread), bits);
    if (code < 0) {
      failed(errnoText({ errno: code }));
      return;
    }
  }
}

/** A mask as the kernel takes it: the lowest CPU is the lowest bit of the first byte. */
function maskBytes(mask: string): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(mask.length / 64) * 8);
  [...mask].reverse().forEach((bit, cpu) => {
    if (bit === '1') {
      bytes[cpu >> 3]! |= 1 << (cpu & 7);
    }
  });
  return bytes;
}

/** The bit mask of a worker, lowest CPU last; undefined to leave it alone. */
export function affinityMask(masks: readonly string[], slot: number): string | undefined {
  if (masks[0] !== 'auto') {
    return masks[Math.min(slot, masks.length - 1)];
  }
  const count = cpus().length;
  const allowed = (masks[1] ?? '1'.repeat(count)).slice(-count);
  const usable = [...allowed].reverse().flatMap((bit, cpu) => (bit === '1' ? [cpu] : []));
  const cpu = usable[slot % usable.length];
  return cpu === undefined ? undefined : `1${'0'.repeat(cpu)}`;
}

/** Changes to `working_directory`. Throws {@link FatalSettings} when that fails. */
export function enterDirectory(conf: ProcessConf, log: Logger): void {
  const { workingDirectory } = conf;
  if (workingDirectory === undefined) {
    return;
  }
  try {
    process.chdir(fsPath(workingDirectory).toString());
  } catch (error) {
    throw fatal(ALERT, `chdir("${workingDirectory}") failed (${errnoText(error)})`, log);
  }
}

function attempt(action: () => void, what: string, log: Logger): void {
  try {
    action();
  } catch (error) {
    throw fatal(EMERG, `${what} failed (${errnoText(error)})`, log);
  }
}

function fatal(level: Level, message: string, log: Logger): FatalSettings {
  log.log(level, message);
  return new FatalSettings(message);
}

/** Where the system's calls are not to be had, the system's own tool makes these settings; without it, a warning says so. */
function run(tool: string, args: readonly string[], directive: string, log: Logger, failed: (reason: string) => void): void {
  const { error, status, stderr } = spawnSync(tool, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C' },
  });
  if (error !== undefined) {
    log.log(WARN, `"${directive}" needs the command "${tool}", which cannot be run here; ignored`);
  } else if (status !== 0) {
    failed(stderr.trim().split('\n')[0]?.replace(/^.*: /, '') ?? `exit code ${status}`);
  }
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
