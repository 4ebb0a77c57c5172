// Over 400 lines: what scripts do with a session, and the object that they do it with.
import { ownValue } from '../../shared/collection/own-value.js';
import { ERROR, INFO, WARN } from '../../shared/log/level.js';
import type { StreamSession } from '../stream/session/session.js';
import type { SessionFilter, SessionOutput } from '../stream/session/session-filter.js';
import { FORBIDDEN, INTERNAL_SERVER_ERROR } from '../stream/session/status.js';
import { lastingSlot } from '../task/client-task.js';
import { AGAIN, asStatus, DECLINED, DONE, FAILED, OK, type Result } from '../task/codes.js';
import { Deadline } from '../time/deadline.js';
import { say } from './dump.js';
import { rawVariablesOf, variablesOf } from './named-variables.js';
import { functionMissing } from './script-place.js';
import { chosenAtOnce, jsVariableNames, variableValue } from './script-variables.js';
import type { ScriptFunction } from './scripts.js';
import { SessionOwner } from './session-owner.js';
import { Task } from './task.js';
import { givenBuffer, givenInteger } from './text.js';

/** What a listener is told of bytes beside them. */
interface Flags {
  readonly last?: unknown;
  readonly from_upstream?: unknown;
}

/** What flags have that listeners are given. nginx: ngx_stream_js_ext_session_flags. */
const FLAGS: object = Object.freeze(Object.defineProperty({}, Symbol.toStringTag, { value: 'Stream Flags' }));

type Listener = (data: string | Buffer, flags: Flags) => unknown;

interface SessionEvent {
  readonly upload: boolean;
  readonly text: boolean;
}

const EVENTS: Readonly<Record<string, SessionEvent>> = {
  upload: { upload: true, text: true },
  download: { upload: false, text: true },
  upstream: { upload: true, text: false },
  downstream: { upload: false, text: false },
};

/** A phase's function by its name, and how many milliseconds it may take; 0: for ever. */
export interface SessionLimit {
  readonly name: string;
  readonly timeout: number;
}

const STATUS_LIMIT = 503;
/** The lowest of nginx's codes, NGX_ABORT. */
const LOWEST = -6;

const states = lastingSlot<SessionScripts>();

/** What scripts do with a session. */
export function sessionScripts(s: StreamSession): SessionScripts {
  let scripts = states.get(s);
  if (scripts === undefined) {
    scripts = new SessionScripts(s);
    states.set(s, scripts);
  }
  return scripts;
}

/** A session's functions, their events and what they have decided. nginx: ngx_stream_js_ctx_t. */
export class SessionScripts extends SessionOwner implements SessionFilter {
  readonly #object: SessionObject;
  readonly #tasks = new Set<Task>();
  #upload: Listener | undefined = undefined;
  #download: Listener | undefined = undefined;
  /** The kind of data that listeners get; undefined until there is one. */
  #text: boolean | undefined = undefined;
  /** A phase's function has run, and waits. */
  #inProgress = false;
  /** What the phase goes on with. */
  #status: Result = FAILED;
  /** The phase has returned, and waits for {@link StreamSession.resume}. */
  #suspended = false;
  /** The phase waits, and nothing listens to the client yet. */
  #deaf = false;
  #broken = false;
  /** Of a phase that waits, and the name of its function. */
  #deadline: Deadline | undefined = undefined;
  #running = '';
  /** Bytes are being filtered. */
  #filtering = false;
  /** The filter's function runs, which only says what it listens to. */
  #installing = false;
  #filter: ScriptFunction | undefined = undefined;
  #filterName = '';
  #output: SessionOutput | undefined = undefined;
  /** The direction of the bytes that a listener is looking at; undefined outside of its call. */
  #direction: boolean | undefined = undefined;
  returnValue: unknown = undefined;

  constructor(s: StreamSession) {
    super(s);
    this.#object = new SessionObject(this);
    s.onFinish(() => {
      this.#cancel();
      this.#deadline?.close();
    });
  }

  #cancel(): void {
    for (const task of this.#tasks) {
      task.cancel();
    }
    this.#tasks.clear();
  }

  /** Runs code of the user's. */
  #run(code: () => unknown): void {
    const task: Task = new Task(
      this,
      {
        settled: () => {
          this.#tasks.delete(task);
          this.#goOn();
        },
        failed: () => {
          this.#tasks.delete(task);
          this.#fail();
        },
      },
      this.#filtering,
    );
    this.#tasks.add(task);
    const result = task.run(code);
    // Most phases decide at once: they need not wait for the end of the tick.
    if (task.over || (!this.#filtering && this.#status !== FAILED && !task.busy && !(result instanceof Promise))) {
      task.cancel();
      this.#tasks.delete(task);
    }
  }

  // --- phases

  /** Runs a function of the access or preread phase, or goes on with it. nginx: ngx_stream_js_phase_handler. */
  runPhase(run: ScriptFunction, held: Buffer | null, { name, timeout }: SessionLimit): Result {
    this.#suspended = false;
    if (!this.#inProgress) {
      this.#inProgress = true;
      this.#status = FAILED;
      this.#broken = false;
      this.#run(() => run(this.#object));
    }
    const upload = this.#upload;
    if (upload !== undefined && !this.#broken) {
      this.#call(upload, held ?? Buffer.alloc(0), false, false);
    }
    if (this.#broken) {
      this.#inProgress = false;
      return FAILED;
    }
    if (this.#pending) {
      this.#suspended = true;
      this.#deaf = this.#upload === undefined;
      this.#limit(name, timeout);
      return this.#deaf ? DONE : AGAIN;
    }
    this.#inProgress = false;
    this.#deadline?.clear();
    return this.#status;
  }

  /** Bounds the time that a phase's function takes, from its beginning. */
  #limit(name: string, timeout: number): void {
    if (timeout === 0 || this.#deadline?.pending === true) {
      return;
    }
    this.#running = name;
    this.#deadline ??= new Deadline({
      expired: () => {
        const s = this.subject;
        if (this.#suspended && !s.finished) {
          s.log(ERROR, `js handler "${this.#running}" timed out`);
          this.#cancel();
          this.#inProgress = false;
          this.#resume(FAILED);
        }
      },
    });
    this.#deadline.set(performance.now(), timeout);
  }

  get #pending(): boolean {
    return this.#tasks.size > 0 || this.#upload !== undefined || this.#download !== undefined;
  }

  /** Something that a phase may have waited for is over. */
  #goOn(): void {
    if (this.#suspended && !this.#pending) {
      this.#inProgress = false;
      this.#resume(this.#status);
    } else if (this.#suspended && this.#deaf && this.#upload !== undefined && !this.subject.finished) {
      this.subject.askAgain();
    }
  }

  #resume(code: Result): void {
    const s = this.subject;
    this.#suspended = false;
    this.#deadline?.clear();
    if (!s.finished) {
      s.deadline.clear();
      s.stopReading();
      s.resume(code);
    }
  }

  #fail(): void {
    this.#broken = true;
    if (this.#suspended) {
      this.#inProgress = false;
      this.#resume(FAILED);
    } else if (this.#filtering && this.#direction === undefined) {
      this.subject.finalize(INTERNAL_SERVER_ERROR);
    }
  }

  /** What a phase goes on with. nginx: ngx_stream_js_ext_done. */
  decide(code: unknown, otherwise: Result): void {
    let status: number = otherwise;
    if (code !== undefined) {
      status = givenInteger(code);
      if (!(status >= LOWEST && status <= STATUS_LIMIT)) {
        throw new RangeError('code is out of range');
      }
    }
    if (this.#installing) {
      return;
    }
    if (this.#filtering) {
      throw new TypeError('should not be called while filtering');
    }
    this.#status = asStatus(Math.trunc(status));
    this.#upload = undefined;
    this.#download = undefined;
    this.#text = undefined;
    this.#goOn();
  }

  // --- variables

  /** The value that a function gives a variable; undefined after an exception, which is in the log. nginx: ngx_stream_js_variable_set. */
  value(run: ScriptFunction, name: string): string | undefined {
    const before = this.returnValue;
    const value = variableValue(new Task(this, { settled() {}, failed() {} }), this, () => run(this.#object), name);
    this.returnValue = before;
    return value;
  }

  /** What a function returns that chooses for the session, at once; undefined after an exception, which is in the log. */
  choose(run: ScriptFunction, choice: object, name: string): unknown {
    return chosenAtOnce(this, () => run(this.#object, choice), name);
  }

  /** Lets a function look at a session that is over. */
  observe(run: ScriptFunction): void {
    new Task(this, { settled() {}, failed() {} }, true).runAtOnce(() => run(this.#object));
  }

  // --- filtering

  /** Lets a function see what goes through the session; without one, the session ends at once. nginx: ngx_stream_js_body_filter. */
  startFilter(run: ScriptFunction | undefined, name: string, output: SessionOutput): SessionFilter {
    this.#filter = run;
    this.#filterName = name;
    this.#output = output;
    return this;
  }

  /** Has the function say what it listens to. */
  #install(fromUpstream: boolean): void {
    const filter = this.#filter;
    if (filter === undefined) {
      functionMissing(this.subject, this.#filterName);
      this.#broken = true;
      return;
    }
    this.#direction = fromUpstream;
    this.#installing = true;
    this.#run(() => filter(this.#object));
    this.#installing = false;
    this.#direction = undefined;
  }

  take(bytes: Buffer, last: boolean, fromUpstream: boolean): boolean {
    const s = this.subject;
    if (!this.#filtering) {
      this.#filtering = true;
      this.#broken = false;
      this.#install(fromUpstream);
    }
    const listener = fromUpstream ? this.#download : this.#upload;
    if (!this.#broken) {
      if (listener === undefined) {
        this.#output!.pass(Buffer.from(bytes), fromUpstream);
      } else {
        this.#call(listener, bytes, last, fromUpstream);
      }
    }
    if (this.#broken) {
      s.finalize(this.#output!.filterFailure);
    }
    return !s.finished;
  }

  #call(listener: Listener, bytes: Buffer, last: boolean, fromUpstream: boolean): void {
    const data = this.#text === true ? bytes.toString('utf8') : Buffer.from(bytes);
    this.#direction = fromUpstream;
    this.#run(() => listener(data, Object.freeze(Object.assign(Object.create(FLAGS) as object, { from_upstream: fromUpstream, last }))));
    this.#direction = undefined;
  }

  // nginx: ngx_stream_js_ext_send.
  send(data: unknown, flags: unknown, to: boolean | undefined): void {
    if (!this.#filtering || this.#installing) {
      throw new TypeError('cannot send buffer in this handler');
    }
    const given = typeof flags === 'object' && flags !== null ? (flags as Flags).from_upstream : undefined;
    const fromUpstream = to ?? (this.#direction === undefined || given !== undefined ? given : this.#direction);
    if (fromUpstream === undefined) {
      throw new TypeError('"from_upstream" flag is expected when called asynchronously');
    }
    const bytes = Buffer.from(givenBuffer(data));
    if (bytes.length > 0 && !this.subject.finished) {
      this.#output!.pass(bytes, Boolean(fromUpstream));
    }
  }

  // --- events

  on(name: string, listener: unknown): void {
    if (typeof listener !== 'function') {
      throw new TypeError('callback is not a function');
    }
    const { upload, text } = this.#event(name);
    if (this.#text !== undefined && this.#text !== text && (this.#upload ?? this.#download) !== undefined) {
      throw new TypeError('mixing string and buffer events is not allowed');
    }
    if ((upload ? this.#upload : this.#download) !== undefined) {
      throw new TypeError(`event handler "${name}" is already set`);
    }
    this.#text = text;
    if (upload) {
      this.#upload = listener as Listener;
    } else {
      this.#download = listener as Listener;
    }
  }

  off(name: string): void {
    if (this.#event(name).upload) {
      this.#upload = undefined;
    } else {
      this.#download = undefined;
    }
  }

  #event(name: string): SessionEvent {
    const event = ownValue(EVENTS, name);
    if (event === undefined) {
      throw new TypeError(`unknown event "${name}"`);
    }
    return event;
  }
}

const nameOf = (name: unknown): string => (name === undefined || name === null ? '' : String(name));

/** The methods of {@link SessionObject}, which are its own properties as in njs. */
const methods = {
  allow(this: SessionObject, code?: unknown): void {
    SessionObject.scripts(this).decide(code, OK);
  },
  decline(this: SessionObject, code?: unknown): void {
    SessionObject.scripts(this).decide(code, DECLINED);
  },
  deny(this: SessionObject, code?: unknown): void {
    SessionObject.scripts(this).decide(code, FORBIDDEN);
  },
  done(this: SessionObject, code?: unknown): void {
    SessionObject.scripts(this).decide(code, OK);
  },
  error(this: SessionObject, ...values: unknown[]): void {
    say(SessionObject.scripts(this), ERROR, values);
  },
  log(this: SessionObject, ...values: unknown[]): void {
    say(SessionObject.scripts(this), INFO, values);
  },
  warn(this: SessionObject, ...values: unknown[]): void {
    say(SessionObject.scripts(this), WARN, values);
  },
  on(this: SessionObject, name: unknown, listener: unknown): void {
    SessionObject.scripts(this).on(nameOf(name), listener);
  },
  off(this: SessionObject, name: unknown): void {
    SessionObject.scripts(this).off(nameOf(name));
  },
  send(this: SessionObject, data: unknown, flags?: unknown): void {
    SessionObject.scripts(this).send(data, flags, undefined);
  },
  sendDownstream(this: SessionObject, data: unknown, flags?: unknown): void {
    SessionObject.scripts(this).send(data, flags, true);
  },
  sendUpstream(this: SessionObject, data: unknown, flags?: unknown): void {
    SessionObject.scripts(this).send(data, flags, false);
  },
  setReturnValue(this: SessionObject, value: unknown): void {
    SessionObject.scripts(this).returnValue = value;
  },
  jsVarNames(this: SessionObject, prefix?: unknown): string[] {
    return jsVariableNames(SessionObject.scripts(this).subject.stream.variables, prefix);
  },
};

/** `s` of a function. nginx: ngx_stream_js_ext_session. */
class SessionObject {
  readonly #scripts: SessionScripts;
  #variables: object | undefined = undefined;
  #rawVariables: object | undefined = undefined;

  constructor(scripts: SessionScripts) {
    this.#scripts = scripts;
    Object.assign(this, methods);
  }

  static scripts(s: SessionObject): SessionScripts {
    if (typeof s !== 'object' || s === null || !(#scripts in s)) {
      throw new TypeError('"this" is not an external');
    }
    return s.#scripts;
  }

  get remoteAddress(): string {
    return this.#scripts.subject.remoteAddress;
  }

  get status(): number {
    return this.#scripts.subject.status;
  }

  get variables(): object {
    this.#variables ??= variablesOf(this.#scripts.subject);
    return this.#variables;
  }

  get rawVariables(): object {
    this.#rawVariables ??= rawVariablesOf(this.#scripts.subject);
    return this.#rawVariables;
  }

  toJSON(): object {
    const { remoteAddress, status } = this;
    return { remoteAddress, status };
  }

  get [Symbol.toStringTag](): string {
    return 'Stream Session';
  }
}
