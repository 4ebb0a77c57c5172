import { ERROR, INFO, type Level, WARN } from '../../shared/log/level.js';
import type { StreamSession } from '../stream/session/session.js';
import { say } from './dump.js';
import { rawVariablesOf, variablesOf } from './named-variables.js';
import { jsVariableNames } from './script-variables.js';

/** What a function can do with its session. */
export interface ContentActions {
  readonly subject: StreamSession;
  log(level: Level, message: string): void;
  read(length: unknown): Promise<Buffer | null>;
  readLine(most: unknown): Promise<string | null>;
  write(data: unknown): Promise<void>;
  end(data: unknown): Promise<void>;
}

/** `s` of a function of `js_content` in `stream`. */
export class ContentObject {
  readonly #content: ContentActions;
  #variables: object | undefined = undefined;
  #rawVariables: object | undefined = undefined;

  constructor(content: ContentActions) {
    this.#content = content;
  }

  get remoteAddress(): string {
    return this.#content.subject.remoteAddress;
  }

  get variables(): object {
    this.#variables ??= variablesOf(this.#content.subject);
    return this.#variables;
  }

  get rawVariables(): object {
    this.#rawVariables ??= rawVariablesOf(this.#content.subject);
    return this.#rawVariables;
  }

  jsVarNames(prefix?: unknown): string[] {
    return jsVariableNames(this.#content.subject.stream.variables, prefix);
  }

  read(length?: unknown): Promise<Buffer | null> {
    return this.#content.read(length);
  }

  readLine(most?: unknown): Promise<string | null> {
    return this.#content.readLine(most);
  }

  write(data: unknown): Promise<void> {
    return this.#content.write(data);
  }

  end(data?: unknown): Promise<void> {
    return this.#content.end(data);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (let bytes = await this.read(); bytes !== null; bytes = await this.read()) {
      yield bytes;
    }
  }

  log(...values: unknown[]): void {
    say(this.#content, INFO, values);
  }

  warn(...values: unknown[]): void {
    say(this.#content, WARN, values);
  }

  error(...values: unknown[]): void {
    say(this.#content, ERROR, values);
  }

  get [Symbol.toStringTag](): string {
    return 'Stream Session';
  }
}
