import { ProviderFailure } from './failure.js';
import type { Metadata } from './openid-client.js';

/** Metadata is asked for again after this time (milliseconds), while what is known goes on being used. */
const FRESH = 60 * 60 * 1000;
/** After a failure, the provider is left alone for so long (milliseconds), and then for twice as long each time, up to a bound. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;

type Waiter = (found: Metadata | ProviderFailure) => void;

/** What a worker knows of a provider, asked for when it is first needed. */
export class KnownMetadata {
  readonly #discover: () => Promise<Metadata>;
  readonly #failed: (failure: ProviderFailure) => void;
  #known: Metadata | undefined;
  #failure: ProviderFailure | undefined;
  /** Milliseconds of the monotonic clock. */
  #askAt = 0;
  #pause = FIRST_PAUSE;
  #waiters: Waiter[] | undefined;

  constructor(discover: () => Promise<Metadata>, failed: (failure: ProviderFailure) => void) {
    this.#discover = discover;
    this.#failed = failed;
  }

  /** What is known now; asks in the background for what is old. */
  get known(): Metadata | undefined {
    if (this.#known !== undefined && performance.now() >= this.#askAt) {
      this.#ask();
    }
    return this.#known;
  }

  /** Hands over what is known, once it is, or why it is not. */
  get(waiter: Waiter): void {
    const { known } = this;
    if (known !== undefined) {
      waiter(known);
    } else if (this.#waiters === undefined && this.#failure !== undefined && performance.now() < this.#askAt) {
      waiter(this.#failure);
    } else {
      this.#ask();
      this.#waiters!.push(waiter);
    }
  }

  #ask(): void {
    if (this.#waiters !== undefined) {
      return;
    }
    this.#waiters = [];
    this.#discover().then(
      (found) => {
        this.#known = found;
        this.#failure = undefined;
        this.#pause = FIRST_PAUSE;
        this.#askAt = performance.now() + FRESH;
        this.#tell(found);
      },
      (error: Error) => {
        const failure = error instanceof ProviderFailure ? error : new ProviderFailure('invalid', error.message);
        this.#failure = failure;
        this.#askAt = performance.now() + this.#pause;
        this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2);
        this.#failed(failure);
        this.#tell(this.#known ?? failure);
      },
    );
  }

  #tell(outcome: Metadata | ProviderFailure): void {
    const waiters = this.#waiters!;
    this.#waiters = undefined;
    for (const waiter of waiters) {
      waiter(outcome);
    }
  }
}
