import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Logger } from '../../shared/log/error-log.js';
import { ERROR, NOTICE } from '../../shared/log/level.js';
import { setTimer } from '../../shared/time/timer.js';
import type { Span, SpanTarget, ThreadOrder, ThreadReport } from './span.js';

/** How spans are gathered. */
export interface Batching {
  /** The longest time (milliseconds) that a span waits for others. */
  readonly interval: number;
  /** How many spans go out together. */
  readonly size: number;
  /** How many batches may be in the making or on their way; what is beyond them is dropped. */
  readonly count: number;
}

/** A batch is sent when it has so many characters, since collectors refuse messages above 4 MB. */
const BATCH_LENGTH = 1 << 20;
/** The time (milliseconds) in which a trouble is logged once. */
const LOG_PAUSE = 60_000;
/** How long a worker that exits waits for what is under way, in milliseconds. */
const LAST_WAIT = 1000;

/**
 * Gathers the spans of a worker and hands them in batches to a thread that exports them. The thread is started with the first batch.
 * What it cannot get rid of is dropped and counted: neither requests nor the end of the worker depend on the collector.
 * nginx-otel: BatchExporter.
 */
export class SpanExporter {
  readonly #target: SpanTarget;
  readonly #batching: Batching;
  readonly #log: Logger;
  readonly #script: string;
  #thread: Worker | undefined;
  #threadDied = Number.NEGATIVE_INFINITY;
  #spans: string[] = [];
  #length = 0;
  /** Numbers of batches on their way, with how many spans each has. */
  readonly #sent = new Map<number, number>();
  #lastId = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #dropped = 0;
  #droppedLogged = Number.NEGATIVE_INFINITY;
  #droppedTimer: NodeJS.Timeout | undefined;
  #failureLogged = Number.NEGATIVE_INFINITY;

  /** `script`: the compiled form of export-thread.ts, which is read at once: later the worker may have no right to. */
  constructor(target: SpanTarget, batching: Batching, log: Logger, script: URL) {
    this.#target = target;
    this.#batching = batching;
    this.#log = log;
    this.#script = readFileSync(script, 'utf8');
  }

  /** Takes a span; it is dropped where all batches are taken. */
  add(span: Span): void {
    const { size, count, interval } = this.#batching;
    if (this.#closed || this.#sent.size >= count) {
      this.#drop(1);
      return;
    }
    const text = JSON.stringify(span);
    this.#spans.push(text);
    this.#length += text.length;
    if (this.#spans.length >= size || this.#length >= BATCH_LENGTH) {
      this.#flush();
    } else if (this.#spans.length === 1) {
      this.#timer = setTimer(() => this.#flush(), interval);
      this.#timer.unref();
    }
  }

  /** Sends the rest, and waits a moment for what is under way. Blocks this thread: it has nothing else to do any more. */
  close(): void {
    if (this.#closed) {
      return;
    }
    this.#flush();
    this.#closed = true;
    clearTimeout(this.#droppedTimer);
    const thread = this.#thread;
    if (thread !== undefined && this.#sent.size > 0) {
      const done = new SharedArrayBuffer(4);
      thread.postMessage({ t: 'end', done } satisfies ThreadOrder);
      if (Atomics.wait(new Int32Array(done), 0, 0, LAST_WAIT) === 'timed-out') {
        this.#dropped += [...this.#sent.values()].reduce((sum, spans) => sum + spans, 0);
      }
    }
    if (this.#dropped > 0) {
      this.#logDropped();
    }
    void thread?.terminate();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    const spans = this.#spans;
    if (spans.length === 0) {
      return;
    }
    this.#spans = [];
    this.#length = 0;
    const thread = this.#ensureThread();
    if (thread === undefined) {
      this.#drop(spans.length);
      return;
    }
    const id = ++this.#lastId;
    this.#sent.set(id, spans.length);
    thread.postMessage({ t: 'batch', id, spans: `[${spans.join()}]` } satisfies ThreadOrder);
  }

  /** The thread; undefined while a new one would only die as the last one did. */
  #ensureThread(): Worker | undefined {
    if (this.#thread !== undefined || performance.now() - this.#threadDied < LOG_PAUSE) {
      return this.#thread;
    }
    const thread = new Worker(this.#script, { eval: true, workerData: this.#target, stdin: false, stdout: false, stderr: false });
    thread.unref();
    thread.on('message', ({ id, error }: ThreadReport) => {
      this.#sent.delete(id);
      if (error !== undefined) {
        this.#failed(error);
      }
    });
    thread.on('error', (error) => this.#failed(String(error)));
    thread.on('exit', () => {
      this.#thread = undefined;
      this.#threadDied = performance.now();
      for (const spans of this.#sent.values()) {
        this.#drop(spans);
      }
      this.#sent.clear();
    });
    this.#thread = thread;
    return thread;
  }

  #failed(error: string): void {
    const now = performance.now();
    if (!this.#closed && now - this.#failureLogged >= LOG_PAUSE) {
      this.#failureLogged = now;
      this.#log.log(ERROR, `OTel export failure: ${error}`);
    }
  }

  #drop(spans: number): void {
    this.#dropped += spans;
    if (this.#closed || this.#droppedTimer !== undefined) {
      return;
    }
    const wait = this.#droppedLogged + LOG_PAUSE - performance.now();
    if (wait <= 0) {
      this.#logDropped();
      return;
    }
    this.#droppedTimer = setTimer(() => this.#logDropped(), wait);
    this.#droppedTimer.unref();
  }

  /** Says how many spans were dropped since the worker's start. */
  #logDropped(): void {
    this.#droppedTimer = undefined;
    this.#droppedLogged = performance.now();
    this.#log.log(NOTICE, `OTel dropped records: ${this.#dropped}`);
  }
}
