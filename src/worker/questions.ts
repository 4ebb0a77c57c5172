import { sendToMaster } from '../shared/ipc/channel.js';
import type { AskMaster, OperatorQuestion } from '../shared/ipc/messages.js';
import { setTimer } from '../shared/time/timer.js';

/** Milliseconds that the master may take. */
const LONGEST = 5000;
/** Questions that may wait at once; more are not asked. */
const MOST = 64;

/** What this process has asked its master, and who waits for the answer. */
export class Questions {
  readonly #waiting = new Map<number, (text: string) => void>();
  #number = 0;

  /** See {@link AskMaster}. Without a master, or with one that does not answer, the answer is `null`. */
  readonly ask: AskMaster = (question: OperatorQuestion, answer) => {
    const number = ++this.#number;
    const take = (text: string): void => {
      clearTimeout(timer);
      if (this.#waiting.delete(number)) {
        answer(text);
      }
    };
    const alone = !process.connected || this.#waiting.size >= MOST;
    const timer = setTimer(() => take('null'), alone ? 0 : LONGEST);
    this.#waiting.set(number, take);
    if (!alone) {
      sendToMaster({ t: 'ask', number, question });
    }
    return () => {
      clearTimeout(timer);
      this.#waiting.delete(number);
    };
  };

  /** The master has answered. */
  told(number: number, text: string): void {
    this.#waiting.get(number)?.(text);
  }
}
