import { loadNative } from '../../native/native.js';
import { errnoText } from '../../system/errno.js';
import { UringEngine } from '../uring/engine.js';
import { kernelTooOld, tryRing } from './trial.js';

/** What `net_engine` may say. */
export type NetEngineChoice = 'auto' | 'uring' | 'libuv';

/** A ring that was tried; or why there is none, in words that follow "because". */
export function makeRing(): UringEngine | string {
  const native = loadNative();
  if (typeof native === 'string') {
    return native;
  }
  const old = kernelTooOld();
  if (old !== undefined) {
    return old;
  }
  let engine: UringEngine | undefined;
  try {
    engine = new UringEngine(native);
    tryRing(engine);
    return engine;
  } catch (error) {
    engine?.ring.dispose();
    const { message, errno } = error as NodeJS.ErrnoException;
    return errno === undefined ? message : `${message} (${errnoText(errno)})`;
  }
}
