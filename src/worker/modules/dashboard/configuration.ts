import { type ShownTexts, shownTexts } from '../../../shared/config/shown-texts.js';
import type { OperatorQuestion } from '../../../shared/ipc/messages.js';
import { nativeText } from '../../../shared/text/native-text.js';
import type { Request } from '../../http/request/request.js';
import { queryValue } from '../../status/api-path.js';
import { serviceObject } from '../../status/service.js';
import type { StatusSource } from '../../status/source.js';
import { AGAIN, type Result } from '../../task/codes.js';
import type { Outline } from './outline.js';

/** Sends an answer as JSON. */
type Send = (r: Request, text: string) => Result;

/** What operators see of the configuration, without its secrets, and of the error log. */
export class ConfigurationPages {
  readonly #source: StatusSource;
  readonly #outline: Outline;
  readonly #send: Send;
  /** The texts that this worker serves, which stay the same. */
  #texts: ShownTexts | undefined = undefined;

  constructor(source: StatusSource, outline: Outline, send: Send) {
    this.#source = source;
    this.#outline = outline;
    this.#send = send;
  }

  /** Answers for a path below the dashboard's; undefined where it is none of these. */
  answer(r: Request, path: string): Result | undefined {
    switch (path) {
      case 'configuration': {
        const asked = queryValue(r.args, 'kept');
        if (asked === undefined) {
          return this.#ask(r, 'history', (history) => this.#inForce(history));
        }
        const id = /^[1-9]\d{0,14}$/.test(asked) ? Number(asked) : undefined;
        return id === undefined ? 404 : this.#ask(r, id, (text) => text);
      }
      case 'log':
        return this.#ask(r, 'log', (text) => text);
      default:
        return undefined;
    }
  }

  /** The configuration that this worker serves; `history`: what the master has kept, as JSON. */
  #inForce(history: string): string {
    const { snapshot } = this.#source.env;
    const own = {
      entry: nativeText(snapshot?.entry ?? ''),
      ...(this.#texts ??= shownTexts(snapshot ?? { globals: '', files: {} })),
      outline: this.#outline,
      service: serviceObject(this.#source),
    };
    return `${JSON.stringify(own).slice(0, -1)},"history":${history}}`;
  }

  #ask(r: Request, question: OperatorQuestion, made: (answer: string) => string): Result {
    const { ask } = this.#source.env;
    if (ask === undefined) {
      return this.#send(r, made('null'));
    }
    r.onFinish(ask(question, (answer) => r.resume(this.#send(r, made(answer)))));
    return AGAIN;
  }
}
