import type { Level } from '../../shared/log/level.js';
import { oneLine } from '../../shared/text/error-text.js';
import { setTimer } from '../../shared/time/timer.js';
import type { Prepare, WorkerEnv } from '../env.js';
import type { ScriptSettings } from './directives.js';
import type { FetchScope, Lookup } from './fetch-settings.js';
import type { Init } from './init-directive.js';
import type { ScriptProtocol } from './ngx-object.js';
import { makeScriptPlace, type ScriptPlace } from './script-place.js';
import { isPromise } from './script-promise.js';
import type { ScriptFunction } from './scripts.js';
import { Task, type TaskOwner } from './task.js';
import { bytesOf } from './text.js';

/** Has each worker call the functions of `js_init` one after the other before it serves. `watched`: how one is called. */
export function startInits(
  conf: Readonly<ScriptSettings>,
  env: WorkerEnv,
  lookup: Lookup,
  protocol: ScriptProtocol,
  watched: (name: string, run: ScriptFunction) => ScriptFunction = (_name, run) => run,
): void {
  const { beforeReady } = env;
  if (beforeReady === undefined) {
    return;
  }
  const place = makeScriptPlace(conf, env, lookup, protocol);
  for (const init of conf.inits) {
    beforeReady((done) => new InitRun(init, place, env, done).start(watched));
  }
}

/** The one call of a function of `js_init`. What it begins and does not wait for goes on while the worker serves. */
class InitRun implements TaskOwner {
  readonly njs = true;
  readonly fetchScope: FetchScope;
  readonly engineId: number;
  readonly #init: Init;
  readonly #place: ScriptPlace;
  readonly #env: WorkerEnv;
  readonly #done: Parameters<Prepare>[0];
  readonly #task: Task;
  #timer: NodeJS.Timeout | undefined = undefined;
  #over = false;
  /** What was logged last, which is the exception when it fails. */
  #said = '';

  constructor(init: Init, place: ScriptPlace, env: WorkerEnv, done: Parameters<Prepare>[0]) {
    this.#init = init;
    this.#place = place;
    this.#env = env;
    this.#done = done;
    this.fetchScope = place.fetchScope;
    this.engineId = place.scripts?.id ?? 0;
    this.#task = new Task(this, { settled() {}, failed: () => this.#end(`failed: ${oneLine(bytesOf(this.#said))}`) });
  }

  start(watched: (name: string, run: ScriptFunction) => ScriptFunction): void {
    const { name, timeout } = this.#init;
    const run = this.#place.scripts?.find(name);
    if (run === undefined) {
      this.#end('failed: there is no such function');
      return;
    }
    this.#env.onClose(() => this.#task.cancel());
    this.#timer = setTimer(() => {
      this.#task.cancel();
      this.#end(`took longer than ${timeout} ms`);
    }, timeout);
    const result = this.#task.run(watched(name, run));
    if (isPromise(result)) {
      result.then(
        () => this.#end(undefined),
        () => {},
      );
    } else if (!this.#task.failed) {
      this.#end(undefined);
    }
  }

  log(level: Level, message: string): void {
    this.#said = message;
    this.#env.log.log(level, bytesOf(message));
  }

  #end(problem: string | undefined): void {
    clearTimeout(this.#timer);
    if (!this.#over) {
      this.#over = true;
      this.#done(problem === undefined ? undefined : `js_init "${this.#init.name}" ${problem}`);
    }
  }
}
