import type { StreamCheckPlan } from './plan.js';

/** What a backend has sent in a check, as far as it is looked at. */
export class CheckInput {
  readonly #plan: StreamCheckPlan;
  #text = '';

  constructor(plan: StreamCheckPlan) {
    this.#plan = plan;
  }

  clear(): void {
    this.#text = '';
  }

  add(bytes: Buffer, end: number): void {
    this.#text += bytes.toString('latin1', 0, Math.min(end, this.#plan.backend.bufferSize - this.#text.length));
  }

  /** What came is as the `match` block says. */
  get matches(): boolean {
    return this.#plan.match!.test(this.#text);
  }

  /** No more of it is looked at. */
  get full(): boolean {
    return this.#text.length >= this.#plan.backend.bufferSize;
  }
}
