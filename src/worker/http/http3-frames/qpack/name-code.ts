import { lowerAscii } from '../../../text/ascii-case.js';
import { STATIC_FIELDS, staticIndexOf } from './static-table.js';

/** A field's name as the encoder knows it: made once for all connections, since sections refer to nothing that one of them was told. */
export class QpackName {
  /** The name in lower case. */
  readonly text: string;
  /** The name's index in the table that both sides know; -1 when it is not there. */
  readonly index: number;
  /** The indexes of its values that are in that table, too; undefined for none. */
  readonly exact: ReadonlyMap<string, number> | undefined;
  /** Nobody may keep its values: guesses at them could be told from their length. */
  readonly secret: boolean;
  /** The value that came last, and its line once it came twice. */
  value: string | undefined = undefined;
  line: Buffer | null = null;

  constructor(text: string) {
    this.text = text;
    this.index = staticIndexOf.get(text) ?? -1;
    this.exact = exactIndexes.get(text);
    this.secret = SECRET.has(text);
  }
}

/** The indexes of the values of each name that has some in the static table. */
const exactIndexes: ReadonlyMap<string, ReadonlyMap<string, number>> = indexesOfValues();

function indexesOfValues(): Map<string, Map<string, number>> {
  const names = new Map<string, Map<string, number>>();
  for (const [i, [name, value]] of STATIC_FIELDS.entries()) {
    if (value !== '') {
      const indexes = names.get(name) ?? new Map<string, number>();
      names.set(name, indexes.set(value, i));
    }
  }
  return names;
}

const SECRET: ReadonlySet<string> = new Set(['set-cookie', 'authorization', 'proxy-authorization']);
/** Names that are known: those that a server's responses are made of are few. */
const MOST = 256;
const codes = new Map<string, QpackName>();

/** The code of a name, in whatever case. */
export function qpackName(name: string): QpackName {
  const known = codes.get(name);
  if (known !== undefined) {
    return known;
  }
  const text = lowerAscii(name);
  const code = codes.get(text) ?? new QpackName(text);
  if (codes.size < MOST) {
    codes.set(name, code);
    if (codes.size < MOST) {
      codes.set(text, code);
    }
  }
  return code;
}
