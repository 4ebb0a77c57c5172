import { runtimePart } from '../../task/protocol-runtime.js';

/** The largest image that is decoded, in pixels, and as many as all images at once may have: four bytes each, or some more. */
export const MOST_PIXELS = 2 ** 26;
/** How many images of a worker are worked on at once: the threads are those that files and names are looked up in, too. */
const AT_ONCE = 2;

/** An image that is to be worked on. */
export interface ImageJob {
  /** How many pixels it says it has. */
  readonly pixels: number;
  /** Nobody wants it any more. */
  readonly unwanted: boolean;
  /** Begins, and calls back once at the end. */
  begin(done: () => void): void;
  /** Has not begun, and never will. */
  dropped(): void;
}

/** Lets few images be worked on at once; the others wait for their turn. */
class ImageWorks {
  readonly #waiting = new Set<ImageJob>();
  #running = 0;
  #pixels = 0;

  add(job: ImageJob): void {
    this.#waiting.add(job);
    this.#next();
  }

  /** Takes a job back that has not begun. */
  withdraw(job: ImageJob): void {
    this.#waiting.delete(job);
  }

  #next(): void {
    for (const job of this.#waiting) {
      if (job.unwanted) {
        this.#waiting.delete(job);
        job.dropped();
        continue;
      }
      if (this.#running > 0 && (this.#running === AT_ONCE || this.#pixels + job.pixels > MOST_PIXELS)) {
        return;
      }
      this.#waiting.delete(job);
      this.#begin(job);
    }
  }

  #begin(job: ImageJob): void {
    const { pixels } = job;
    this.#running++;
    this.#pixels += pixels;
    job.begin(() => {
      this.#running--;
      this.#pixels -= pixels;
      this.#next();
    });
  }
}

/** The images that a worker works on. */
export const imageWorks = runtimePart(() => new ImageWorks());
