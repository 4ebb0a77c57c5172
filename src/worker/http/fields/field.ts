import { type KnownHeader, knownHeaderOf } from '../syntax/header-names.js';

/** What a field is for. */
export const FIELD = {
  HEADER: 0,
  COOKIE: 1,
  PRIORITY: 2,
  PROXY_CONNECTION: 3,
  METHOD: 4,
  SCHEME: 5,
  PATH: 6,
  AUTHORITY: 7,
  PROTOCOL: 8,
  OTHER_PSEUDO: 9,
} as const;

/** What its name's bytes are. */
export const NAME = {
  GOOD: 0,
  /** The name has `_`, which `underscores_in_headers` lets pass. */
  UNDERSCORE: 1,
  /** The name has bytes that only `ignore_invalid_headers off` lets pass. */
  DOUBTFUL: 2,
  /** The name has bytes that no name of HTTP/2 has: capitals, a colon, a space, control bytes; or it has none at all. */
  REFUSED: 3,
} as const;

const kinds: ReadonlyMap<string, number> = new Map([
  ['cookie', FIELD.COOKIE],
  ['priority', FIELD.PRIORITY],
  ['proxy-connection', FIELD.PROXY_CONNECTION],
  [':method', FIELD.METHOD],
  [':scheme', FIELD.SCHEME],
  [':path', FIELD.PATH],
  [':authority', FIELD.AUTHORITY],
  [':protocol', FIELD.PROTOCOL],
]);

const nameByte = new Uint8Array(256).fill(NAME.DOUBTFUL);
nameByte.fill(NAME.REFUSED, 0, 0x21);
nameByte.fill(NAME.REFUSED, 0x41, 0x5b);
nameByte[0x7f] = nameByte[0x3a] = NAME.REFUSED;
nameByte[0x5f] = NAME.UNDERSCORE;
for (const c of '-0123456789abcdefghijklmnopqrstuvwxyz') {
  nameByte[c.charCodeAt(0)] = NAME.GOOD;
}

/** A field's name, with what is known of it: fields that a table keeps are looked at once. */
export class FieldName {
  readonly text: string;
  /** One of `FIELD`. */
  readonly kind: number;
  /** One of `NAME`. */
  readonly state: number;
  readonly known: KnownHeader | undefined;

  constructor(text: string) {
    this.text = text;
    const pseudo = text.charCodeAt(0) === 0x3a;
    let state: number = text === '' ? NAME.REFUSED : NAME.GOOD;
    for (let i = pseudo ? 1 : 0; i < text.length; i++) {
      const c = nameByte[text.charCodeAt(i)]!;
      if (c > state) {
        state = c;
      }
    }
    this.state = state;
    this.kind = kinds.get(text) ?? (pseudo ? FIELD.OTHER_PSEUDO : FIELD.HEADER);
    this.known = pseudo || state === NAME.REFUSED ? undefined : knownHeaderOf(text);
  }
}

/** A field of a header section: it may be shared by many requests. */
export class Field {
  readonly name: FieldName;
  readonly value: string;
  /** The value has a byte that would end a line of HTTP/1, or a zero byte. */
  readonly broken: boolean;

  constructor(name: FieldName, value: string) {
    this.name = name;
    this.value = value;
    let broken = false;
    for (let i = 0; i < value.length; i++) {
      const c = value.charCodeAt(i);
      if (c <= 0x0d && (c === 0x0d || c === 0x0a || c === 0)) {
        broken = true;
        break;
      }
    }
    this.broken = broken;
  }

  /** What it counts for in a table, in bytes (RFC 7541, 4.1). */
  get size(): number {
    return this.name.text.length + this.value.length + 32;
  }
}
