// libuv's event loop, whose functions the executable exports.
import { type Library, loadLibrary } from './native.js';

/** The event loop of this thread, as libuv sees it. */
export interface EventLoop {
  /** Readable while libuv has something to do for a descriptor, a thread or a signal. */
  readonly fd: number;
  /** For how many milliseconds libuv would wait now: 0 when it has something to do at once, -1 without an end. */
  timeout(): number;
  /** Does what Node does after each callback of libuv's: calls what waits for `process.nextTick`, and runs the microtasks. */
  endCallback(): void;
}

interface TickProcess {
  readonly _tickCallback?: () => void;
}

/** Bytes of `struct uv_loop_s` up to the end of `watcher_queue`; the same in all of libuv 1, whose users may rely on it. */
const HEAD_BYTES = 104;
const [BACKEND_FD, PENDING, WATCHERS] = [64 >> 2, 72 >> 2, 88 >> 2];

let loaded: EventLoop | string | undefined;

/** The event loop, or why it cannot be asked. Is for the main thread. */
export function loadEventLoop(): EventLoop | string {
  loaded ??= load();
  return loaded;
}

function load(): EventLoop | string {
  const library = loadLibrary();
  if (typeof library === 'string') {
    return library;
  }
  try {
    return bind(library);
  } catch (error) {
    return `libuv cannot be called: ${(error as Error).message}`;
  }
}

function bind({ find, view }: Library): EventLoop {
  const loop = find('intptr_t uv_default_loop()')();
  const backendTimeout = find('int uv_backend_timeout(intptr_t)');
  const fd = find('int uv_backend_fd(intptr_t)')(loop);
  const head = new Uint32Array(view(loop, HEAD_BYTES));
  // A queue that is empty leads to itself.
  const isEmpty = (at: number): boolean => head[at]! + head[at + 1]! * 0x100000000 === loop + at * 4;
  const endCallback = (process as TickProcess)._tickCallback;
  if (head[BACKEND_FD] !== fd || !isEmpty(PENDING) || endCallback === undefined) {
    throw new Error('its loop has another form');
  }
  return {
    fd,
    // What libuv would begin to watch before it waits is not in its descriptor yet.
    timeout: () => (isEmpty(WATCHERS) ? backendTimeout(loop) : 0),
    endCallback,
  };
}
