import { ERROR, type Level } from '../../../shared/log/level.js';
import type { ClientWatcher } from '../../http/request/client-exchange.js';
import { endsWithClient, unwatchClient, watchClient } from '../../http/request/client-gone.js';
import type { Request } from '../../http/request/request.js';
import { enter, leave } from '../../task/at-work.js';
import { AGAIN, DONE, FAILED, type Result, type Status } from '../../task/codes.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { exceptionText, Task, type TaskOwner } from '../task.js';
import { bytesOf } from '../text.js';
import type { HandlerStats } from './handler-stats.js';

/** What is the same for all requests of a location's handler. */
export interface HandlerPlan {
  /** As the directive names it. */
  readonly name: string;
  /** Milliseconds that it may keep its client waiting; 0: for ever. */
  readonly timeout: number;
  readonly stats: HandlerStats;
}

/** One request that a handler in JavaScript answers: what can go wrong with it costs that request alone. */
export abstract class HandlerRun implements TaskOwner, Expiring, ClientWatcher {
  readonly r: Request;
  readonly #plan: HandlerPlan;
  /** What logs and timers of the handler belong to. */
  readonly #task: Task;
  #deadline: Deadline | undefined = undefined;
  /** The phase has returned and waits for {@link Request.resume}. */
  #waiting = false;
  #answered = false;
  #timer = false;
  #attached = false;
  /** How often the request could still change its URI when it came here. */
  readonly #changes: number;

  constructor(r: Request, plan: HandlerPlan) {
    this.r = r;
    this.#changes = r.uriChanges;
    this.#plan = plan;
    this.#task = new Task(this, { settled() {}, failed: () => this.breakOff() });
    this.#task.hold();
  }

  log(level: Level, message: string): void {
    this.r.log(level, bytesOf(message));
  }

  get stats(): HandlerStats {
    return this.#plan.stats;
  }

  /** The head is on its way, or the request has its status: perhaps not from here, because its body failed. */
  get answered(): boolean {
    return this.#answered || this.#elsewhere || this.r.headGiven;
  }

  /** An error page has the request. */
  get #elsewhere(): boolean {
    return this.r.uriChanges !== this.#changes;
  }

  /** Runs code of the handler; what it throws ends the request, and the result is undefined then. */
  within(action: () => unknown): unknown {
    try {
      return this.#plan.stats.timed(() => this.#task.ask(action));
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  /** Tells the handler's code of something that has happened; what it throws ends the request. */
  tell<T>(action: (of: T) => void, of: T): void {
    this.#task.guarded(action, of);
  }

  /** Logs an exception and ends the request. */
  failed(error: unknown): void {
    if (!this.r.finished) {
      this.r.log(ERROR, `js exception: ${bytesOf(exceptionText(error))}`);
      this.breakOff();
    }
  }

  /** Ends the request with 500, or breaks off what was begun. The log says why. */
  breakOff(status: Status = 500): void {
    this.#plan.stats.failed();
    if (!this.answered) {
      this.go(status);
    } else if (this.#answered && !this.#elsewhere && this.r.headGiven && !this.r.finished && !this.done) {
      this.inside(() => this.r.terminate(FAILED));
    }
  }

  /** The phase returns the code, or goes on with it if it has returned already. */
  go(code: Result): Result {
    if (!this.#answered && !this.#elsewhere) {
      this.#answered = true;
      this.code = code;
      if (code !== DONE) {
        unwatchClient(this.r, this);
      }
      if (this.#waiting && !this.r.finished) {
        this.r.resume(code);
      }
    }
    return code;
  }

  /** All of the answer was given. */
  done = false;

  /** The code that the phase returns once {@link answered}; whoever else has ended the request needs none. */
  code: Result = AGAIN;

  /** The phase returns and is resumed later. */
  wait(): void {
    this.#waiting = true;
    this.touch();
    this.attach();
  }

  /** {@link over} is called once the request is. */
  attach(): void {
    if (!this.#attached) {
      this.#attached = true;
      if (this.r === this.r.main) {
        watchClient(this.r, this);
      }
      this.r.onFinish(() => {
        this.#deadline?.close();
        this.tell(over, this);
      });
    }
  }

  /** Ends the run, as the work of backends ends: one that waits for something to send, such as events, would not notice for long. */
  clientGone(r: Request, reason: string | null): void {
    endsWithClient.clientGone(r, reason);
  }

  /** The request is over, however it ended. */
  abstract over(): void;

  /** Something was done for the client: the time of `js_timeout` begins again. */
  touch(): void {
    const { timeout } = this.#plan;
    if (timeout > 0) {
      this.#timer = true;
      this.#deadline ??= new Deadline(this);
      this.#deadline.set(performance.now(), timeout);
    }
  }

  /** The client is what is waited for, or the answer is complete. */
  rest(): void {
    if (this.#timer) {
      this.#deadline!.clear();
    }
  }

  expired(): void {
    const { r } = this;
    if (r.finished) {
      return;
    }
    this.inside(() => {
      r.log(ERROR, `js handler "${this.#plan.name}" timed out`);
      this.#plan.stats.timedOut();
      this.breakOff();
    });
  }

  /** Runs what goes on with the request. */
  inside(action: () => void): void {
    const before = enter(this.r);
    action();
    leave(before);
  }
}

function over(run: HandlerRun): void {
  run.over();
}
