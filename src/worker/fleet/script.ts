import { hash } from 'node:crypto';

/** A Lua program that the store runs as one step. */
export class StoreScript {
  readonly text: string;
  /** The name by which the store knows it once it has seen the text. */
  readonly sha: string;

  constructor(text: string) {
    this.text = text;
    this.sha = hash('sha1', text, 'hex');
  }
}
