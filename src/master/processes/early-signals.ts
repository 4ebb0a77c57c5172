/** Takes USR1 from the very start of the process, until the master is there to act on it. */
export class EarlySignals {
  #reopen: (() => void) | undefined;
  #pending = false;

  constructor() {
    process.on('SIGUSR1', () => {
      if (this.#reopen === undefined) {
        this.#pending = true;
      } else {
        this.#reopen();
      }
    });
  }

  /** Names what a USR1 does from now on; one that came before is made up for. */
  onReopen(reopen: () => void): void {
    this.#reopen = reopen;
    if (this.#pending) {
      this.#pending = false;
      reopen();
    }
  }
}
