import type { Logger } from '../../shared/log/error-log.js';
import { INFO, type Level, NOTICE, WARN } from '../../shared/log/level.js';
import { oneLine } from '../../shared/text/error-text.js';
import { setTimer } from '../../shared/time/timer.js';
import { STORE } from '../../shared/zone/meter-kinds.js';
import type { Meter } from '../../shared/zone/meters.js';
import { connectStore, redisPackage, type StoreArgument, type StoreConnection } from './connection.js';
import type { StoreScript } from './script.js';
import type { SharedStoreSettings } from './settings.js';
import { storeKey } from './store-key.js';

/** Who asks the store, and is told. */
export interface StoreClient {
  /** Whether an answer is one that its program gives: with another one the store is lost. */
  understands(reply: unknown): boolean;
  /** The store's answer. */
  replied(reply: unknown): void;
  /** There is none: the store is lost. It may have done what it was asked for. */
  lost(): void;
}

/** Who wants to know when the store is there again. */
export interface StoreWatcher {
  storeBack(): void;
}

/** How often (milliseconds) a lost store is tried. */
const PROBE_MS = 500;
/** How many attempts that nobody answered in time end the connection: what lies behind it may be gone. */
const MUTE_PROBES = 3;
/** So long (milliseconds) what was written to try the store stays there. */
const PROBE_LIFE_MS = 60_000;
/** Who is lost again so soon (milliseconds) after the return was never well: the log has told of it. */
const UNWELL_MS = 10_000;
/** The first connection may take so long (milliseconds) at least: a worker that has just begun is busy. */
const START_MS = 500;
/** Answers that a new connection may change. */
const REJECTED = /^(NOAUTH|WRONGPASS|NOPERM|READONLY)\b/;

/** What the log says of an error; that of the package for a command without a connection names its own options. */
const reasonOf = ({ message }: Error): string => (message.includes('enableOfflineQueue') ? 'there is no connection' : oneLine(message));

/** What answers is no store, or another program than ours wrote what it keeps. */
const NOT_UNDERSTOOD = new Error('it gave an answer that its program does not give');

/** For who asks without a wish to know. */
export const NOBODY: StoreClient = { understands: () => true, replied() {}, lost() {} };

/** A question on its way. */
class Call {
  readonly at: number;
  readonly key: string;
  client: StoreClient | undefined;

  constructor(client: StoreClient, key: string) {
    this.at = performance.now();
    this.key = key;
    this.client = client;
  }
}

/**
 * A process's way to the store of its fleet. While the store answers, it is up; an error, a broken connection or an answer that does not
 * come in time makes it lost, and those who wait are told at once. A lost store is tried again and again: by a write, since a store that is
 * full or that became a replica still answers.
 */
export class SharedStore {
  readonly settings: SharedStoreSettings;
  /** What keys of the store begin with. */
  readonly prefix: string;
  /** What other rooms keep for the whole process, by keys of their own. */
  readonly parts: Map<object, unknown> = new Map<object, unknown>();
  readonly #log: Logger;
  readonly #level: Level;
  readonly #meter: Meter;
  #connection: StoreConnection | undefined;
  #connected = false;
  #state: 'starting' | 'up' | 'lost' = 'starting';
  /** Questions in the order in which they were asked; those before `#head` are answered. */
  #calls: Call[] = [];
  #head = 0;
  /** Questions that came before the first connection. */
  #early: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #late = false;
  #probing: NodeJS.Timeout | undefined;
  #probe: Call | undefined;
  #mute = 0;
  /** When the store was there again. */
  #returnedAt = Number.NEGATIVE_INFINITY;
  #unwell = false;
  /** A key of the part of the store that failed. */
  #failedKey = '';
  readonly #watchers: StoreWatcher[] = [];

  /** `quiet`: another process of the machine tells of loss and return. */
  constructor(settings: SharedStoreSettings, log: Logger, meter: Meter, quiet: boolean) {
    redisPackage();
    this.settings = settings;
    this.prefix = `sluice:${settings.name}:`;
    this.#log = log;
    this.#level = quiet ? NOTICE : WARN;
    this.#meter = meter;
  }

  /** Questions can be asked. Before the first connection they wait for it. */
  get up(): boolean {
    return this.#state !== 'lost';
  }

  /** Connects. */
  start(): void {
    this.#connection = connectStore(this.settings, 'limits', {
      connected: () => {
        this.#connected = true;
        this.#tryNow();
      },
      disconnected: (error) => {
        this.#connected = false;
        this.#lose(error === undefined ? 'the connection was closed' : reasonOf(error));
      },
    });
    this.#arm();
  }

  /** Tells when the store has come back, and after the first connection. */
  watch(watcher: StoreWatcher): void {
    this.#watchers.push(watcher);
  }

  /** Has the store run a program. `keys` are whole keys of the store. */
  run(script: StoreScript, keys: readonly string[], args: readonly StoreArgument[], client: StoreClient): void {
    if (this.#state === 'lost') {
      client.lost();
      return;
    }
    const call = new Call(client, keys[0]!);
    this.#calls.push(call);
    this.#arm();
    if (this.#state === 'starting') {
      this.#early.push(() => this.#send(call, script, keys, args));
    } else {
      this.#send(call, script, keys, args);
    }
  }

  /** Counts decisions that were made without the store though they are the fleet's. */
  countLocal(): void {
    this.#meter.count(STORE.local);
  }

  /** Counts refusals that needed no question, because of what the store had said. */
  countKnown(): void {
    this.#meter.count(STORE.known);
  }

  close(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#probing);
    this.#setUp(false);
    this.#state = 'lost';
    this.#giveUp();
    this.#connection?.close();
    this.#connection = undefined;
  }

  #send(call: Call, script: StoreScript, keys: readonly string[], args: readonly StoreArgument[]): void {
    if (call.client === undefined) {
      return;
    }
    const rest = [keys.length, ...keys, ...args];
    this.#meter.count(STORE.calls);
    this.#connection!.send('evalsha', [script.sha, ...rest], (error, reply) => {
      if (error == null) {
        this.#answered(call, reply);
      } else if (error.message.startsWith('NOSCRIPT') && call.client !== undefined && this.#connection !== undefined) {
        // The store was started anew, or somebody made it forget.
        this.#connection.send('eval', [script.text, ...rest], (failure, second) =>
          failure == null ? this.#answered(call, second) : this.#failed(call, failure),
        );
      } else {
        this.#failed(call, error);
      }
    });
  }

  #answered(call: Call, reply: unknown): void {
    const { client } = call;
    if (client !== undefined && !client.understands(reply)) {
      this.#failed(call, NOT_UNDERSTOOD);
      return;
    }
    const ms = performance.now() - call.at;
    this.#meter.values[STORE.time]! += ms;
    this.#meter.time(STORE.buckets, ms);
    this.#meter.touch();
    this.#late = false;
    if (client !== undefined) {
      call.client = undefined;
      client.replied(reply);
    }
  }

  #failed(call: Call, error: Error): void {
    if (call.client === undefined) {
      return;
    }
    this.#meter.count(STORE.errors);
    this.#failedKey = call.key;
    this.#lose(reasonOf(error));
  }

  /** Tells all who wait that there will be no answer. */
  #giveUp(): void {
    const calls = this.#calls;
    const head = this.#head;
    this.#calls = [];
    this.#head = 0;
    this.#early = [];
    for (let i = head; i < calls.length; i++) {
      const { client } = calls[i]!;
      calls[i]!.client = undefined;
      client?.lost();
    }
  }

  #lose(reason: string): void {
    if (this.#connection === undefined) {
      return;
    }
    if (this.#state !== 'lost') {
      this.#state = 'lost';
      this.#setUp(false);
      this.#meter.count(STORE.losses);
      const { name, failure } = this.settings;
      const meanwhile = failure === 'local' ? 'this machine decides for itself' : 'requests that need it are refused';
      this.#unwell = performance.now() - this.#returnedAt < UNWELL_MS;
      this.#log.log(this.#unwell ? INFO : this.#level, `shared store "${name}" is lost (${reason}), ${meanwhile} until it is back`);
    }
    this.#giveUp();
    this.#tryLater();
  }

  // A question that is not answered in time. After a pause of the process itself its answer may be there and not read yet.
  readonly #expire = (): void => {
    this.#timer = undefined;
    while (this.#head < this.#calls.length && this.#calls[this.#head]!.client === undefined) {
      this.#head++;
    }
    if (this.#head === this.#calls.length) {
      this.#calls = [];
      this.#head = 0;
      if (this.#state === 'starting') {
        this.#arm();
      }
      return;
    }
    const call = this.#calls[this.#head]!;
    if (performance.now() - call.at < this.#patience) {
      this.#calls.splice(0, this.#head);
      this.#head = 0;
      this.#late = false;
    } else if (this.#late) {
      this.#meter.count(STORE.timeouts);
      this.#failedKey = call.key;
      this.#lose(this.#state === 'starting' ? 'no connection in time' : 'no answer in time');
      return;
    } else {
      this.#late = true;
    }
    this.#arm();
  };

  /** How long (milliseconds) a question waits. */
  get #patience(): number {
    const { timeout } = this.settings;
    return this.#state === 'starting' ? Math.max(timeout, START_MS) : timeout;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#head === this.#calls.length) {
      return;
    }
    const left = this.#late ? 2 : this.#calls[this.#head]!.at + this.#patience - performance.now();
    this.#timer = setTimer(this.#expire, Math.max(1, left)).unref();
  }

  #tryLater(): void {
    this.#probing ??= setTimer(() => {
      this.#probing = undefined;
      this.#tryNow();
    }, PROBE_MS).unref();
  }

  #tryNow(): void {
    const connection = this.#connection;
    if (connection === undefined || !this.#connected || this.#state === 'up') {
      return;
    }
    if (this.#probe !== undefined) {
      this.#tryLater();
      if (++this.#mute >= MUTE_PROBES) {
        this.#mute = 0;
        this.#probe = undefined;
        connection.reconnect();
      }
      return;
    }
    const probe = new Call(NOBODY, '');
    this.#probe = probe;
    // In a cluster the part that failed is the one to ask.
    const key = this.#failedKey === '' ? `${this.prefix}probe` : `sluice:${this.settings.name}:probe:{${this.#failedKey}}`;
    connection.send('set', [key, storeKey(this.settings.node), 'PX', PROBE_LIFE_MS], (error) => {
      if (this.#probe !== probe) {
        return;
      }
      this.#probe = undefined;
      this.#mute = 0;
      if (error != null) {
        this.#lose(reasonOf(error));
        if (REJECTED.test(error.message)) {
          connection.reconnect();
        }
      } else if (performance.now() - probe.at <= this.settings.timeout || this.#state === 'starting') {
        this.#return();
      } else {
        this.#tryLater();
      }
    });
    if (this.#state === 'lost') {
      this.#tryLater();
    }
  }

  #return(): void {
    const first = this.#state === 'starting';
    this.#state = 'up';
    this.#late = false;
    clearTimeout(this.#probing);
    this.#probing = undefined;
    this.#setUp(true);
    if (!first) {
      this.#returnedAt = performance.now();
    }
    this.#log.log(this.#unwell ? INFO : NOTICE, `shared store "${this.settings.name}" is ${first ? 'connected' : 'back'}`);
    for (const watcher of this.#watchers) {
      watcher.storeBack();
    }
    const early = this.#early;
    this.#early = [];
    for (const send of early) {
      send();
    }
  }

  #setUp(up: boolean): void {
    this.#meter.values[STORE.up] = up ? 1 : 0;
    this.#meter.touch();
  }
}
