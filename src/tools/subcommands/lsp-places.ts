import { byteText, nativeText } from '../../shared/text/native-text.js';

/** A place as editors count: both from 0, the character in UTF-16. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

/** The places of one text: bytes on our side, lines and characters on the editor's. To convert one costs no more than its line. */
export class EditorPlaces {
  readonly text: string;
  readonly bytes: string;
  /** The first byte of each line. */
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.text = text;
    this.bytes = byteText(text);
    for (let feed = this.bytes.indexOf('\n'); feed >= 0; feed = this.bytes.indexOf('\n', feed + 1)) {
      this.#starts.push(feed + 1);
    }
  }

  position(byte: number): Position {
    let [low, high] = [0, this.#starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= byte) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return { line: low, character: nativeText(this.bytes.slice(this.#starts[low], byte)).length };
  }

  byte({ line, character }: Position): number {
    const start = this.#starts[line];
    if (start === undefined) {
      return this.bytes.length;
    }
    const text = nativeText(this.bytes.slice(start, this.#starts[line + 1]));
    return Math.min(start + byteText(text.slice(0, character)).length, this.bytes.length);
  }

  /** The first byte of a line, which counts from 1. */
  lineStart(line: number): number {
    return this.#starts[line - 1] ?? this.bytes.length;
  }
}
