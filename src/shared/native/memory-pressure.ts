// V8's own answer to a system that is short of memory, whose functions the executable exports under their C++ names.
import { loadLibrary } from './native.js';

const [NONE, MODERATE] = [0, 1];

/**
 * What has V8 collect the garbage of a whole heap piece by piece, between what else the process does, and make the heap small: it begins
 * at once and takes a second or two. Undefined where V8 cannot be called. Is for the main thread.
 */
export function collectionInPieces(): (() => void) | undefined {
  try {
    const library = loadLibrary();
    if (typeof library === 'string') {
      return undefined;
    }
    const isolate = library.find('intptr_t _ZN2v87Isolate13TryGetCurrentEv()')();
    const notify = library.find('void _ZN2v87Isolate26MemoryPressureNotificationENS_19MemoryPressureLevelE(intptr_t, int)');
    return isolate === 0
      ? undefined
      : () => {
          // It is the change that begins a collection.
          notify(isolate, MODERATE);
          notify(isolate, NONE);
        };
  } catch {
    // This build of V8 exports none of that.
    return undefined;
  }
}
