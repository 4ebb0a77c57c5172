import { createHash } from 'node:crypto';

/** A Lua program that the store runs as one step. */
export class StoreScript {
  readonly text: string;
  /** The name by which the store knows it once it has seen the text. */
  readonly sha: string;

  constructor(text: string) {
    this.text = text;
    this.sha = createHash('sha1').update(text).digest('hex');
  }
}
