import { Lru } from '../../shared/collection/lru.js';
import type { Logger } from '../../shared/log/error-log.js';
import { ERROR, type Level } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import { type HostParts, validateHost } from '../http/syntax/host.js';
import type { ClientHello } from '../tls/client-hello.js';
import type { GivenIdentity, HandshakeDecision, HandshakeHooks, HandshakeWait } from '../tls/handshake-hooks.js';
import type { Ends } from '../tls/tls-address.js';
import type { FetchScope } from './fetch-settings.js';
import type { HandshakeSettings } from './handshake-scope.js';
import { HelloObject } from './hello-object.js';
import { placeOf, type Scripted } from './script-place.js';
import { isPromise } from './script-promise.js';
import type { ScriptFunction } from './scripts.js';
import { Task, type TaskOwner } from './task.js';
import { bytesOf } from './text.js';

const INTERNAL_ERROR = 80;
const ACCESS_DENIED = 49;

const GO_ON: HandshakeDecision = { refused: undefined, identity: undefined };
const FAILED: HandshakeDecision = { refused: INTERNAL_ERROR, identity: undefined };
const DENIED: HandshakeDecision = { refused: ACCESS_DENIED, identity: undefined };

/** Names whose certificates are asked for at a time; the handshakes of others are refused. */
const MOST_ASKED = 256;
/** How long it is remembered that there is none for a name: milliseconds. */
const NONE_VALID = 10_000;

type Done = (decision: HandshakeDecision) => void;

/** What is kept of a name. */
interface Kept {
  readonly decision: HandshakeDecision;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** A server of `http` or `stream`, as far as its scripts know it. */
export interface ScriptedServer {
  readonly root: Pick<Scripted, 'conf'> & { readonly log: Logger };
}

/** Asks scripts about the handshakes of a server. */
export class HandshakeScripts implements HandshakeHooks, TaskOwner {
  readonly njs = true;
  readonly #server: ScriptedServer;
  readonly #settings: Readonly<HandshakeSettings>;
  readonly #kept: Lru<Kept>;
  readonly #asked = new Map<string, Question>();

  constructor(server: ScriptedServer, settings: Readonly<HandshakeSettings>) {
    this.#server = server;
    this.#settings = settings;
    this.#kept = new Lru(settings.cache);
  }

  get fetchScope(): FetchScope | undefined {
    return placeOf(this.#server.root)?.fetchScope;
  }

  get engineId(): number | undefined {
    return placeOf(this.#server.root)?.scripts?.id;
  }

  log(level: Level, message: string): void {
    this.#server.root.log.log(level, bytesOf(message));
  }

  /** Nobody is served any more. */
  close(): void {
    for (const question of this.#asked.values()) {
      question.close();
    }
    this.#asked.clear();
  }

  ask(hello: ClientHello, ends: Ends): HandshakeDecision | HandshakeWait {
    const { clientHello } = this.#settings;
    if (clientHello === undefined) {
      return this.#certificate(hello, ends);
    }
    const question = this.#question(clientHello, (run) => run(new HelloObject(hello, ends)), verdict);
    const decision = question.decided;
    if (decision !== undefined) {
      return decision.refused === undefined ? this.#certificate(hello, ends) : decision;
    }
    return new Both(question, () => this.#certificate(hello, ends));
  }

  #certificate(hello: ClientHello, ends: Ends): HandshakeDecision | HandshakeWait {
    const { certificate, cache, valid } = this.#settings;
    if (certificate === undefined) {
      return GO_ON;
    }
    const name = hostOf(hello.serverName);
    if (name === undefined) {
      return GO_ON;
    }
    const kept = this.#kept.get(name);
    if (kept !== undefined && kept.until > performance.now()) {
      return kept.decision;
    }
    const known = this.#asked.get(name);
    if (known !== undefined) {
      return known;
    }
    if (this.#asked.size >= MOST_ASKED) {
      this.log(ERROR, `js_ssl_certificate "${certificate}": more than ${MOST_ASKED} names are asked for, "${name}" is refused`);
      return FAILED;
    }
    const keep = (decision: HandshakeDecision): void => {
      this.#asked.delete(name);
      if (cache > 0 && decision.refused === undefined) {
        const ms = decision.identity === undefined ? Math.min(valid, NONE_VALID) : valid;
        this.#kept.set(name, { decision, until: performance.now() + ms });
      }
    };
    const question = this.#question(certificate, (run) => run(name, new HelloObject(hello, ends)), identityOf, keep);
    if (question.decided !== undefined) {
      return question.decided;
    }
    this.#asked.set(name, question);
    return question;
  }

  #question(name: string, call: (run: ScriptFunction) => unknown, read: (value: unknown) => HandshakeDecision, keep?: Done): Question {
    const run = placeOf(this.#server.root)?.scripts?.find(name);
    if (run === undefined) {
      this.log(ERROR, `js function "${name}" not found`);
      return new Question(this, name, 0, () => {}, read, keep, FAILED);
    }
    return new Question(this, name, this.#settings.timeout, () => call(run), read, keep, undefined);
  }
}

/** A call of a function about a hello, whose answer several handshakes may wait for. */
class Question implements HandshakeWait {
  /** undefined until it is known. */
  decided: HandshakeDecision | undefined;
  readonly #task: Task;
  readonly #keep: Done | undefined;
  #waiting: Set<Done> | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(
    owner: TaskOwner,
    name: string,
    timeout: number,
    call: () => unknown,
    read: (value: unknown) => HandshakeDecision,
    keep: Done | undefined,
    known: HandshakeDecision | undefined,
  ) {
    this.decided = known;
    this.#keep = keep;
    this.#task = new Task(owner, { settled() {}, failed: () => this.#decide(FAILED) });
    if (known !== undefined) {
      return;
    }
    const answer = (value: unknown): void => {
      try {
        this.#decide(read(value));
      } catch (error) {
        // The task of a promise that is kept is over by now.
        this.#task.fail(error);
        this.#decide(FAILED);
      }
    };
    const result = this.#task.run(call);
    if (!isPromise(result)) {
      if (!this.#task.failed) {
        answer(result);
      }
      return;
    }
    this.#timer = setTimer(() => {
      owner.log(ERROR, `js function "${name}" timed out while SSL handshaking`);
      this.#task.cancel();
      this.#decide(FAILED);
    }, timeout);
    result.then(answer, () => {});
  }

  wait(done: Done): () => void {
    const waiting = (this.#waiting ??= new Set());
    waiting.add(done);
    return () => void waiting.delete(done);
  }

  #decide(decision: HandshakeDecision): void {
    if (this.decided !== undefined) {
      return;
    }
    clearTimeout(this.#timer);
    this.decided = decision;
    this.#keep?.(decision);
    for (const done of this.#waiting ?? []) {
      done(decision);
    }
    this.#waiting = undefined;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#task.cancel();
  }
}

/** Two questions, of which the second is asked once the first lets the handshake go on. */
class Both implements HandshakeWait {
  readonly #first: Question;
  readonly #second: () => HandshakeDecision | HandshakeWait;

  constructor(first: Question, second: () => HandshakeDecision | HandshakeWait) {
    this.#first = first;
    this.#second = second;
  }

  wait(done: Done): () => void {
    let cancel: () => void;
    cancel = this.#first.wait((decision) => {
      const next = decision.refused === undefined ? this.#second() : decision;
      if ('wait' in next) {
        cancel = next.wait(done);
      } else {
        done(next);
      }
    });
    return () => cancel();
  }
}

/** What a function of `js_client_hello` has said: false, or the description of an alert, refuses. */
function verdict(value: unknown): HandshakeDecision {
  if (value === false) {
    return DENIED;
  }
  if (typeof value !== 'number') {
    return GO_ON;
  }
  if (!Number.isInteger(value) || value < 1 || value > 255) {
    throw new RangeError('the description of an alert is between 1 and 255');
  }
  return { refused: value, identity: undefined };
}

/** What a function of `js_ssl_certificate` has given. */
function identityOf(value: unknown): HandshakeDecision {
  if (value === undefined || value === null) {
    return GO_ON;
  }
  const { certificate, key } = value as { readonly certificate?: unknown; readonly key?: unknown };
  if (certificate === undefined || key === undefined) {
    throw new TypeError('a certificate and its key are expected');
  }
  const identity: GivenIdentity = { certificate: bytesOf(certificate), key: bytesOf(key) };
  return { refused: undefined, identity };
}

/** The name of a hello as a server would know it; undefined for none, and for what is no host. */
function hostOf(name: string | undefined): string | undefined {
  const parts: HostParts = { host: '', port: 0 };
  return name !== undefined && name.length <= 253 && validateHost(name, parts) && parts.host !== '' ? parts.host.toLowerCase() : undefined;
}
