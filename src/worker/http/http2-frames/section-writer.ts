import { HpackEncoder, type HpackName } from './hpack/encoder.js';
import { frameSection, type Output } from './output.js';
import { FRAME_HEAD } from './protocol.js';

/** Writes header sections of one connection into its output, field by field. */
export class HpackSectionWriter {
  readonly #output: Output;
  readonly encoder = new HpackEncoder();
  /** The longest frame that the other side takes. */
  longest: number;
  #bytes!: Buffer;
  #start = 0;
  #at = 0;

  constructor(output: Output, longest: number) {
    this.#output = output;
    this.longest = longest;
  }

  /** Begins a section. Until its end nothing else may be put into the output. */
  begin(): void {
    this.#bytes = this.#output.room(FRAME_HEAD + HpackEncoder.beginRoom);
    this.#start = this.#output.length;
    this.#at = this.encoder.begin(this.#bytes, this.#start + FRAME_HEAD);
  }

  /** Adds a field of the table that both sides know. */
  indexed(index: number): void {
    this.#room(1);
    this.#at = this.encoder.indexed(this.#bytes, this.#at, index);
  }

  field(code: HpackName, value: string): void {
    this.#room(HpackEncoder.room(code, value));
    this.#at = this.encoder.field(this.#bytes, this.#at, code, value);
  }

  #room(size: number): void {
    if (this.#bytes.length - this.#at >= size) {
      return;
    }
    this.#output.length = this.#at;
    this.#bytes = this.#output.room(size);
  }

  /** Ends the section of a stream; `flags` are those of its first frame. Returns how many bytes were added. */
  end(flags: number, id: number): number {
    const size = this.#at - this.#start - FRAME_HEAD;
    const more = Math.ceil(size / this.longest) - 1;
    if (more > 0) {
      this.#room(more * FRAME_HEAD);
    }
    const end = frameSection(this.#bytes, this.#start, size, this.longest, flags, id);
    this.#output.length = end;
    return end - this.#start;
  }
}
