import type { PartTexts } from '../late-parts.js';
import type { Import, Preload } from '../scripts.js';
import type { Grants } from './confine.js';

/**
 * Places in the numbers that a thread shares with the worker: how often it has gone round, the last run that it has begun, its own number.
 */
export const BEAT = 0;
export const BEGUN = 1;
export const THREAD_ID = 2;
/** Bytes of these numbers. */
export const STATE_BYTES = 12;
/** Milliseconds between two beats of a thread. */
export const BEAT_MS = 50;

/** What a thread is given when it starts. */
export interface IsolateData {
  readonly state: Int32Array;
  /** Bytes that it may hold outside of V8's heap; 0: any number. */
  readonly external: number;
  /** What the code may do; undefined: whatever Node can. */
  readonly grants: Grants | undefined;
  readonly imports: readonly Import[];
  readonly preloads: readonly Preload[];
  readonly folders: readonly string[];
  /** The folders of `js_path` among them. */
  readonly jsPath: readonly string[];
  readonly prefix: string;
  readonly confPrefix: string;
  readonly confFile: string;
  readonly workerId: number;
  readonly version: string;
  readonly parts: PartTexts;
}

/** A thread's script, the file that it is from, and what it is given. */
export interface IsolateStart {
  readonly text: string;
  readonly file: string;
  readonly data: IsolateData;
}

/**
 * Runs the script of {@link IsolateStart}: messages and frames name its file, which the thread may not be able to read. What Node makes
 * global for a first script that is a text is no global of the user's modules.
 */
export const FIRST_SCRIPT = `((require) => {
  const { text, file } = require('node:worker_threads').workerData;
  for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];
  require('node:vm').compileFunction(text, ['exports', 'require', 'module', '__filename'], { filename: file })({}, require, {}, file);
})(require);`;

/** What a thread is told. */
export type ToIsolate =
  | {
      readonly t: 'run';
      readonly id: number;
      /** The handler, as the directive names it. */
      readonly name: string;
      readonly method: string;
      readonly url: string;
      /** Names and values by turns. */
      readonly headers: readonly string[];
      readonly body: Uint8Array | null;
      readonly remoteAddress: string;
    }
  /** The piece before has left; the next one is wanted. */
  | { readonly t: 'more'; readonly id: number }
  /** Nobody waits for the answer any more. */
  | { readonly t: 'cancel'; readonly id: number };

/** What it says. */
export type FromIsolate =
  | {
      readonly t: 'head';
      readonly id: number;
      readonly status: number;
      readonly statusText: string;
      readonly headers: readonly string[];
      /** The whole body; null where pieces follow. */
      readonly body: Uint8Array | null;
      /** Milliseconds of JavaScript until the handler returned or waited. */
      readonly time: number;
    }
  | { readonly t: 'piece'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly t: 'end'; readonly id: number }
  /** The handler of a cancelled run has come to its end. */
  | { readonly t: 'left'; readonly id: number }
  /** More is held outside of V8's heap than may be. */
  | { readonly t: 'full'; readonly id: 0 }
  | { readonly t: 'failed'; readonly id: number; readonly message: string; readonly time: number }
  | { readonly t: 'log'; readonly id: number; readonly level: number; readonly message: string };
