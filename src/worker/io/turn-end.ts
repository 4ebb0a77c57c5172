/** What has something to do once the event loop's turn is over. */
export interface TurnTask {
  turnEnded(): void;
}

/** Calls tasks at the end of the turn in which they asked for it: one immediate for all of them, since each costs more than most tasks. */
export class TurnEnd {
  #tasks: TurnTask[] = [];

  /** `task` is called once for each time it asks. */
  ask(task: TurnTask): void {
    if (this.#tasks.push(task) === 1) setImmediate(run, this);
  }

  run(): void {
    const tasks = this.#tasks;
    this.#tasks = [];
    let next = 0;
    try {
      while (next < tasks.length) tasks[next++]!.turnEnded();
    } finally {
      // One that throws does not keep the others from their turn.
      while (next < tasks.length) this.ask(tasks[next++]!);
    }
  }
}

function run(turn: TurnEnd): void {
  turn.run();
}
