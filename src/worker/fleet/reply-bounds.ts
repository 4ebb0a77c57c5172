/** No reply that our programs give is longer: elements of all its lists together, bytes of a text, and bytes of a line. */
const MOST_ELEMENTS = 1024 * 1024;
const LONGEST_TEXT = 64 * 1024 * 1024;
const LONGEST_LINE = 64 * 1024;
const DEEPEST = 16;

const LF = 10;
type Kind = 'line' | 'text' | 'list';
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['+', 'line'],
  ['-', 'line'],
  [':', 'line'],
  ['$', 'text'],
  ['*', 'list'],
]);

/**
 * Looks at what a store sends before ioredis does, which makes room for as many elements as a list says it has, and whose process ends by a
 * reply that is nothing and that nobody has asked for.
 */
export class ReplyBounds {
  /** Elements that are still to come of the lists that are open. */
  readonly #open: number[] = [];
  /** Elements of the reply at hand. */
  #elements = 0;
  /** The line that has begun: its type and its first digits. */
  #line = '';
  #lineLength = 0;
  /** Bytes of a text, with the end of its line, that are still to come. */
  #text = 0;

  /** Takes bytes; returns how many replies have come to their ends, or what is wrong with what came. */
  take(bytes: Buffer): number | string {
    let whole = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#text > 0) {
        const size = Math.min(this.#text, bytes.length - at);
        this.#text -= size;
        at += size;
        whole += this.#text === 0 ? this.#element() : 0;
        continue;
      }
      const end = bytes.indexOf(LF, at);
      const last = end === -1 ? bytes.length : end;
      this.#lineLength += last - at;
      if (this.#line.length < 24) {
        this.#line += bytes.toString('latin1', at, Math.min(last, at + 24));
      }
      if (this.#lineLength > LONGEST_LINE) {
        return 'a line is too long';
      }
      if (end === -1) {
        break;
      }
      at = end + 1;
      const ended = this.#lineEnded();
      if (typeof ended === 'string') {
        return ended;
      }
      whole += ended;
    }
    return whole;
  }

  /** Returns how many replies have come to their ends with a line. */
  #lineEnded(): number | string {
    const line = this.#line.replace(/\r$/, '');
    this.#line = '';
    this.#lineLength = 0;
    const type = KINDS.get(line.charAt(0));
    if (type === undefined) {
      return 'it is no reply';
    }
    if (type === 'line' || line.startsWith('-', 1)) {
      return this.#element();
    }
    const count = /^.\d+$/.test(line) ? Number(line.slice(1)) : Number.NaN;
    if (type === 'text') {
      this.#text = count + 2;
      return count <= LONGEST_TEXT ? 0 : 'a text is too long';
    }
    this.#elements += count;
    if (!(this.#elements <= MOST_ELEMENTS) || this.#open.length === DEEPEST) {
      return 'a list is too long';
    }
    if (count === 0) {
      return this.#element();
    }
    this.#open.push(count);
    return 0;
  }

  /** An element has come to its end, and with it perhaps a list, and the reply. */
  #element(): number {
    const open = this.#open;
    while (open.length > 0) {
      if (--open[open.length - 1]! > 0) {
        return 0;
      }
      open.pop();
    }
    this.#elements = 0;
    return 1;
  }
}
