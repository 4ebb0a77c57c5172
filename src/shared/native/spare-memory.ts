// Memory that a process holds and does not use. V8 keeps what the start of the program needed until it collects much later, and V8's
// compilers leave tens of megabytes in the C library's heaps, which the library gives back to the system only when it is asked to.
import { getHeapCodeStatistics, getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { garbageCollector } from '../system/garbage.js';
import { setTimer } from '../time/timer.js';
import { collectionInPieces } from './memory-pressure.js';
import { loadLibrary } from './native.js';
import { programPages } from './program-pages.js';

/** Milliseconds from the start to the first look, which costs as much as a start does: a server that ends soon is spared it. */
const FIRST_LOOK = 10_000;
/** How often, in milliseconds, is seen before it whether the heap has grown: V8 lets it grow without end before it has collected once. */
const EARLY = 500;
/** Milliseconds after which a collection, with what it began in other threads, is over. */
const COLLECTED = 1500;
const SHORTEST = 5000;
const LONGEST = 80_000;
/** One connection or request in this many milliseconds, or fewer, is next to nothing. */
const IDLE = 500;
/** How many bytes of new code mean that the compilers were at work. */
const CODE = 256 * 1024;
/** To collect a larger heap at once would take too long for who answers requests. */
const SMALL_HEAP = 64 * 1024 * 1024;
/** V8's own number of collections after which it forgets what it compiled of a function that nobody has called. */
const OLD_AGE = 6;
/** So much work that a collection is worth it, once nothing more is asked. */
const MUCH_WORK = 10_000;
/** Bytes more than after the last collection that are garbage for the most part, if they are a quarter more, too: V8 lets more gather. */
const GARBAGE = 8 * 1024 * 1024;

/**
 * Gives spare memory back: with a collection while the process does next to nothing after much work, or in pieces where there is garbage
 * otherwise, and what the compilers left in a thread of libuv's after they were at work. Looks less often the longer nothing has been done.
 * `work`: a number that grows by one with each connection and each request. `forgets`: what the process has compiled goes too, since it may
 * take its time when it has something to do. `first`: milliseconds until the first look, which comes earlier if the heap grows;
 * `shortest`: from one look to the next, at least.
 */
export function giveSpareMemoryBack(work: () => number, forgets = false, first = FIRST_LOOK, shortest = SHORTEST): void {
  const began = usedSize();
  const wait = (left: number): void => {
    const look = (): void => {
      if (left <= EARLY || isMuchMore(usedSize(), began)) {
        new SpareMemory(work, forgets, began, shortest).look();
      } else {
        wait(left - EARLY);
      }
    };
    setTimer(look, Math.min(left, EARLY)).unref();
  };
  wait(first);
}

class SpareMemory {
  readonly #work: () => number;
  readonly #forgets: boolean;
  readonly #trim = loadTrim();
  readonly #collectInPieces = collectionInPieces();
  #done = 0;
  #looked = 0;
  #collectedAt = -MUCH_WORK;
  /** What there was of code; none when the process began. */
  #code = 0;
  readonly #shortest: number;
  #interval: number;
  #letGo: (() => void) | undefined;
  /** A collection began with the last look. */
  #collects = false;
  /** What was left after the last collection, or was there in the beginning. */
  #left: number;

  constructor(work: () => number, forgets: boolean, began: number, shortest: number) {
    this.#shortest = this.#interval = shortest;
    this.#work = work;
    this.#forgets = forgets;
    this.#left = began;
  }

  readonly look = (): void => {
    const work = this.#work();
    const now = performance.now();
    const idle = (work - this.#done) * IDLE <= now - this.#looked;
    this.#looked = now;
    this.#done = work;
    const collected = this.#collects;
    const rests = idle && work - this.#collectedAt >= MUCH_WORK;
    // What makes garbage need not be counted as work: bytes of tunnels, timers of scripts.
    const collects = rests || (!collected && this.#hasGarbage());
    if (rests) {
      this.#collectedAt = work;
      // To be made it takes memory that is collected at once.
      this.#letGo ??= programPages();
      this.#collect();
    } else if (collects) {
      this.#collectInPieces?.();
    }
    if (collected) {
      this.#left = usedSize();
    }
    this.#collects = collects;
    this.#interval = idle ? Math.min(LONGEST, this.#interval * 2) : this.#shortest;
    const code = codeSize();
    // What was freed by OpenSSL stays with the library, too.
    if (idle || collects || collected || code - this.#code > CODE) {
      this.#trim?.(0);
    }
    this.#code = collects ? code : Math.max(code, this.#code);
    // What V8 and its compilers do in other threads ends later.
    setTimer(this.look, collects ? COLLECTED : this.#interval).unref();
    // Last, since each step of this function needs some of them. Under load, too: a fifth of them is in use, and comes back at once.
    this.#letGo ??= programPages();
    this.#letGo();
  };

  #hasGarbage(): boolean {
    const used = usedSize();
    // V8 collects, too.
    this.#left = Math.min(used, this.#left);
    return isMuchMore(used, this.#left);
  }

  #collect(): void {
    if (this.#forgets || oldSize() < SMALL_HEAP) {
      collectAll(this.#forgets);
      return;
    }
    this.#collectInPieces?.();
  }
}

function isMuchMore(used: number, left: number): boolean {
  return used - left > Math.max(GARBAGE, left / 4);
}

/** Collects garbage, and lets go of the memory where it was. `forgets`: also of compiled functions that nobody calls meanwhile. */
function collectAll(forgets: boolean): void {
  const collect = garbageCollector();
  // A last resort collects twice: the second time it finds functions that have got old with the first.
  if (forgets) {
    setFlagsFromString('--bytecode-old-age=1');
  }
  collect({ type: 'major', flavor: 'last-resort' });
  if (forgets) {
    setFlagsFromString(`--bytecode-old-age=${OLD_AGE}`);
  }
}

/** What a collection goes through. The new space, which load has made large, is nearly empty of what lives. */
function oldSize(): number {
  return getHeapSpaceStatistics().reduce(
    (sum, { space_name: name, physical_space_size: size }) => (name === 'new_space' ? sum : sum + size),
    0,
  );
}

/** As {@link oldSize}, and the memory of buffers. */
function usedSize(): number {
  return oldSize() + buffersSize();
}

function buffersSize(): number {
  try {
    return process.memoryUsage().arrayBuffers;
  } catch {
    // Node tells the size of the whole process, too, which nobody can know where /proc is not mounted.
    return 0;
  }
}

function codeSize(): number {
  return getHeapCodeStatistics().code_and_metadata_size;
}

/** malloc_trim, in a thread; other libraries than GNU's have none. */
function loadTrim(): ((keep: number) => void) | undefined {
  try {
    const library = loadLibrary();
    return typeof library === 'string' ? undefined : library.findForThread('int malloc_trim(size_t)');
  } catch {
    return undefined;
  }
}
