/** How many times as much is tried as in an ordinary run; set by SLUICE_FUZZ. */
const factor = Number(process.env['SLUICE_FUZZ'] ?? 1);

/** A count of trials, as SLUICE_FUZZ multiplies it. */
export const trials = (count: number): number => Math.ceil(count * factor);

/** Makes the same changes to texts on every run that begins with the same seed; SLUICE_FUZZ_SEED is added to it. */
export class Mutations {
  #state: number;
  readonly #pieces: readonly string[];

  /** `pieces`: what is put into texts. */
  constructor(seed: number, pieces: readonly string[]) {
    this.#state = seed + Number(process.env['SLUICE_FUZZ_SEED'] ?? 0);
    this.#pieces = pieces;
  }

  /** A number from 0 up to, and without, `limit`. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** One of the texts with up to `most` changes: a piece, a byte or a part of another text put in, some bytes taken out. */
  mutated(texts: readonly string[], most = 4): string {
    let text = this.pick(texts);
    for (let i = this.below(most); i >= 0; i--) {
      const at = this.below(text.length + 1);
      text = text.slice(0, at) + this.#put(texts) + text.slice(at + this.below(this.below(4) === 0 ? 20 : 2));
    }
    return text;
  }

  #put(texts: readonly string[]): string {
    const kind = this.below(5);
    if (kind === 0) {
      return '';
    }
    if (kind === 1) {
      return String.fromCharCode(this.below(256));
    }
    if (kind < 4) {
      return this.pick(this.#pieces);
    }
    const other = this.pick(texts);
    const from = this.below(other.length);
    return other.slice(from, from + this.below(40));
  }
}

/** The bytes cut before the offsets given. */
export function cut(bytes: Buffer, ...offsets: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const to of [...offsets, bytes.length]) {
    // A copy, so that nothing can look behind a piece.
    if (to > from) {
      pieces.push(Buffer.from(bytes.subarray(from, to)));
    }
    from = to;
  }
  return pieces;
}

/** Every byte a piece of its own. */
export const eachByte = (bytes: Buffer): Buffer[] => [...bytes].map((byte) => Buffer.from([byte]));
