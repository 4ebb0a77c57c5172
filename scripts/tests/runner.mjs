// Loaded by scripts/test into tap's runner: tests start without the hooks by which tap learns what they load and start. Those serve its
// coverage, which nobody asks for, and take half of a test's start.
import { ChildProcess } from 'node:child_process';

/** @typedef {{ args: string[], envPairs: string[] }} SpawnOptions */

const HOOKS = /"?--import=[^"]*\/@tapjs\/processinfo\/[^" ]*"?/;
const prototype = /** @type {{ spawn(options: SpawnOptions): number }} */ (/** @type {unknown} */ (ChildProcess.prototype));
const { spawn } = prototype;

prototype.spawn = function (options) {
  const args = options.args.filter((arg) => !HOOKS.test(arg));
  const envPairs = options.envPairs.map((pair) => (pair.startsWith('NODE_OPTIONS=') ? pair.replace(HOOKS, '') : pair));
  return spawn.call(this, { ...options, args, envPairs });
};
