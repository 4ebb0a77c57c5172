import { EMPTY } from '../../bytes/empty.js';
/** Translates text piece by piece; may hold back the start of a character that is not complete yet. */
export interface Recoder {
  recode(bytes: Buffer): Buffer;
}

/** One `charset_map`, both ways. */
export interface CharsetMap {
  readonly from: string;
  readonly to: string;
  forward(): Recoder;
  backward(): Recoder;
}

const QUESTION = 0x3f;

/** A table between two charsets of one byte a character. */
export class ByteMap implements CharsetMap {
  readonly from: string;
  readonly to: string;
  readonly #there = identityTable();
  readonly #back = identityTable();

  constructor(from: string, to: string) {
    this.from = from;
    this.to = to;
  }

  set(source: number, target: number): void {
    this.#there[source] = target;
    this.#back[target] = source;
  }

  forward(): Recoder {
    return new ByteRecoder(this.#there);
  }

  backward(): Recoder {
    return new ByteRecoder(this.#back);
  }
}

function identityTable(): Uint8Array {
  const table = new Uint8Array(256).fill(QUESTION);
  for (let i = 0; i < 128; i++) {
    table[i] = i;
  }
  return table;
}

class ByteRecoder implements Recoder {
  readonly #table: Uint8Array;
  constructor(table: Uint8Array) {
    this.#table = table;
  }

  recode(bytes: Buffer): Buffer {
    const out = Buffer.allocUnsafe(bytes.length);
    for (let i = 0; i < bytes.length; i++) {
      out[i] = this.#table[bytes[i]!]!;
    }
    return out;
  }
}

/** A table between a charset of one byte a character and UTF-8. */
export class Utf8Map implements CharsetMap {
  readonly from: string;
  readonly to: string;
  readonly #there: Buffer[] = [];
  readonly #back = new Map<number, number>();

  constructor(from: string, to: string) {
    this.from = from;
    this.to = to;
    for (let i = 0; i < 256; i++) {
      this.#there.push(Buffer.of(i < 128 ? i : QUESTION));
    }
    for (let i = 0; i < 128; i++) {
      this.#back.set(i, i);
    }
  }

  /** Sets what a byte stands for. Returns false for what does not begin with a character of two or three bytes. */
  set(source: number, utf8: Buffer): boolean {
    this.#there[source] = utf8;
    const code = longCharacter(utf8);
    if (code === undefined) {
      return false;
    }
    this.#back.set(code, source);
    return true;
  }

  forward(): Recoder {
    return new ToUtf8(this.#there);
  }

  backward(): Recoder {
    return new FromUtf8(this.#back);
  }
}

/** The character of two or three bytes that a text begins with. nginx: ngx_utf8_decode, which takes no others. */
function longCharacter(utf8: Buffer): number | undefined {
  const [lead = 0, second = 0, third = 0] = utf8;
  if (lead >= 0xc2 && lead < 0xe0) {
    return second < 0x80 ? undefined : ((lead & 0x1f) << 6) | (second & 0x3f);
  }
  if (lead < 0xe0 || lead >= 0xf0 || second < 0x80 || third < 0x80) {
    return undefined;
  }
  const code = ((lead & 0x0f) << 12) | ((second & 0x3f) << 6) | (third & 0x3f);
  return code > 0x7ff ? code : undefined;
}

class ToUtf8 implements Recoder {
  readonly #table: readonly Buffer[];
  constructor(table: readonly Buffer[]) {
    this.#table = table;
  }

  recode(bytes: Buffer): Buffer {
    let size = 0;
    for (let i = 0; i < bytes.length; i++) {
      size += this.#table[bytes[i]!]!.length;
    }
    // As nginx: a piece in which nothing becomes a longer character goes as it is, unknown bytes included.
    if (size === bytes.length) {
      return bytes;
    }
    const out = Buffer.allocUnsafe(size);
    let at = 0;
    for (let i = 0; i < bytes.length; i++) {
      const text = this.#table[bytes[i]!]!;
      for (let j = 0; j < text.length; j++) {
        out[at++] = text[j]!;
      }
    }
    return out;
  }
}

/** How many bytes a character takes by its first byte; 0 for a byte that starts none. */
function sequenceLength(first: number): number {
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xf8 || first < 0xc2) {
    return 0;
  }
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

/** The number of a character of so many bytes, whether there is such a character or not. nginx: ngx_utf8_decode. */
function codeAt(bytes: Buffer, at: number, length: number): number {
  let code = length === 1 ? bytes[at]! : bytes[at]! & (0x7f >> length);
  for (let i = 1; i < length; i++) {
    code = (code << 6) | (bytes[at + i]! & 0x3f);
  }
  return code;
}

const LAST_CHARACTER = 0x10ffff;

/** The last character that fewer bytes would do for, by the number of bytes. */
const TOO_LONG = [-1, -1, 0x7f, 0x7ff, 0xffff] as const;

// nginx: ngx_http_charset_recode_from_utf8. Characters the charset lacks become HTML entities.
class FromUtf8 implements Recoder {
  readonly #table: ReadonlyMap<number, number>;
  #held: Buffer = EMPTY;

  constructor(table: ReadonlyMap<number, number>) {
    this.#table = table;
  }

  recode(piece: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    this.#held = EMPTY;
    let text = '';
    let i = 0;
    while (i < bytes.length) {
      const length = sequenceLength(bytes[i]!);
      if (length === 0) {
        text += '?';
        i++;
        continue;
      }
      let valid = 1;
      while (valid < length && i + valid < bytes.length && (bytes[i + valid]! & 0xc0) === 0x80) {
        valid++;
      }
      if (valid < length && i + valid === bytes.length) {
        this.#held = Buffer.from(bytes.subarray(i));
        break;
      }
      if (valid < length) {
        text += '?';
      } else {
        const code = codeAt(bytes, i, length);
        const byte = this.#table.get(code);
        // A character that is written longer than it is, is none, nor is one behind the last.
        text += code <= TOO_LONG[length]! || code > LAST_CHARACTER ? '?' : byte === undefined ? `&#${code};` : String.fromCharCode(byte);
      }
      i += valid;
    }
    return Buffer.from(text, 'latin1');
  }
}
