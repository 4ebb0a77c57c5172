/** The texts to look for, in lower case, one character for a byte. */
export class Patterns {
  readonly texts: readonly Buffer[];
  readonly longest: number;
  readonly #shortest: number;
  /** How far the search can go on from a byte that stands where the shortest pattern ends. */
  readonly #shift = new Uint8Array(256);
  /** Patterns by the byte that stands there, in the order of the configuration. */
  readonly #candidates: (readonly number[] | undefined)[] = [];

  constructor(texts: readonly string[]) {
    this.texts = texts.map((text) => Buffer.from(text, 'latin1'));
    const lengths = texts.map(({ length }) => length);
    this.longest = Math.max(...lengths);
    this.#shortest = Math.min(...lengths);
    const steps = Math.min(this.#shortest, 255);
    this.#shift.fill(steps);
    for (const [i, text] of this.texts.entries()) {
      for (let j = 0; j < steps; j++) {
        const c = text[this.#shortest - 1 - j]!;
        this.#shift[c] = Math.min(this.#shift[c]!, j);
      }
      const c = text[this.#shortest - 1]!;
      this.#candidates[c] = [...(this.#candidates[c] ?? []), i];
    }
  }

  /**
   * Looks for the first pattern at or after `from`. Sets {@link start} and {@link found}; found is -1 when there is none,
   * and start is then where one may begin that the rest of the body completes, or the end. `used` marks patterns not to
   * look for. nginx: ngx_http_sub_parse.
   */
  search(body: Buffer, from: number, used: readonly boolean[]): void {
    const before = this.#shortest - 1;
    const end = body.length;
    this.found = -1;
    let at = from + before;
    while (at < end) {
      const c = lower(body[at]!);
      const shift = this.#shift[c]!;
      if (shift > 0) {
        at += shift;
        continue;
      }
      const candidates = this.#candidates[c];
      if (candidates !== undefined) {
        for (let i = 0; i < candidates.length; i++) {
          const n = candidates[i]!;
          if (used[n]) {
            continue;
          }
          const matched = matches(body, at - before, this.texts[n]!);
          if (matched === NO) {
            continue;
          }
          this.start = at - before;
          if (matched === YES) {
            this.found = n;
          }
          return;
        }
      }
      at++;
    }
    // Too little is left for a whole pattern; it may be the start of one.
    for (let start = at - before; start < end; start++) {
      for (let n = 0; n < this.texts.length; n++) {
        if (matches(body, start, this.texts[n]!) === NO) {
          continue;
        }
        this.start = start;
        return;
      }
    }
    this.start = end;
  }

  start = 0;
  found = -1;
}

const NO = 0;
const YES = 1;
/** As far as the body goes. */
const PERHAPS = 2;

const lower = (c: number): number => (c >= 0x41 && c <= 0x5a ? c | 0x20 : c);

function matches(body: Buffer, start: number, text: Buffer): number {
  const length = Math.min(text.length, body.length - start);
  for (let i = 0; i < length; i++) {
    if (lower(body[start + i]!) !== text[i]) {
      return NO;
    }
  }
  return length === text.length ? YES : PERHAPS;
}
