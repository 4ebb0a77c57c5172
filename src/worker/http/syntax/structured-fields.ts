import { decodeBase64 } from './base64.js';

// Structured Field Values (RFC 9651, but for display strings): what a header line says, and the one way to write it.

/** A value without parameters. */
export type BareItem =
  | { readonly type: 'integer' | 'decimal' | 'date'; readonly value: number }
  | { readonly type: 'string' | 'token'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Buffer }
  | { readonly type: 'boolean'; readonly value: boolean };

export type Parameters = ReadonlyMap<string, BareItem>;

export interface Item {
  readonly bare: BareItem;
  readonly parameters: Parameters;
}

export interface InnerList {
  readonly items: readonly Item[];
  readonly parameters: Parameters;
}

export type Member = Item | InnerList;
export type Dictionary = ReadonlyMap<string, Member>;

/** How many members a list, a dictionary or a list in it may have, and how many parameters one of them. */
const MOST = 128;
const MOST_DIGITS = 15;
const DECIMAL_DIGITS = 12;
const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
const NUMBER = /(-?)([0-9]+)(?:\.([0-9]{1,3}))?/y;
const TRUE: BareItem = { type: 'boolean', value: true };

export const isInnerList = (member: Member): member is InnerList => 'items' in member;

/**
 * Reads a dictionary. Undefined for what is none, and for a key or a parameter that comes twice: one reader might take the first and
 * another the last.
 */
export const parseDictionary = (text: string): Dictionary | undefined => new Reader(text).dictionary();

/** Reads a list. */
export const parseList = (text: string): readonly Member[] | undefined => new Reader(text).list();

/** Reads a single value. */
export const parseItem = (text: string): Item | undefined => new Reader(text).single();

/** Reads one text from its start to its end; each step returns undefined for what is wrong, and nothing is read after that. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  dictionary(): Dictionary | undefined {
    const members = new Map<string, Member>();
    const read = this.#each(() => {
      const key = this.#match(KEY);
      if (key === undefined || members.has(key) || members.size === MOST) {
        return false;
      }
      const member = this.#take('=') ? this.#member() : this.#bareTrue();
      return member !== undefined && members.set(key, member) !== undefined;
    });
    return read ? members : undefined;
  }

  list(): readonly Member[] | undefined {
    const members: Member[] = [];
    const read = this.#each(() => {
      const member = members.length === MOST ? undefined : this.#member();
      return member !== undefined && members.push(member) > 0;
    });
    return read ? members : undefined;
  }

  single(): Item | undefined {
    this.#spaces();
    const item = this.#item();
    this.#spaces();
    return item !== undefined && this.#at === this.#text.length ? item : undefined;
  }

  /** Reads members with commas between them up to the end. */
  #each(read: () => boolean): boolean {
    this.#spaces();
    if (this.#at === this.#text.length) {
      return true;
    }
    for (;;) {
      if (!read()) {
        return false;
      }
      this.#blanks();
      if (this.#at === this.#text.length) {
        return true;
      }
      if (!this.#take(',')) {
        return false;
      }
      this.#blanks();
    }
  }

  #spaces(): void {
    while (this.#text[this.#at] === ' ') {
      this.#at++;
    }
  }

  #blanks(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') {
      this.#at++;
    }
  }

  #take(character: string): boolean {
    const found = this.#text[this.#at] === character;
    this.#at += found ? 1 : 0;
    return found;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }

  #bareTrue(): Item | undefined {
    const parameters = this.#parameters();
    return parameters && { bare: TRUE, parameters };
  }

  #member(): Member | undefined {
    return this.#text[this.#at] === '(' ? this.#innerList() : this.#item();
  }

  #innerList(): InnerList | undefined {
    const items: Item[] = [];
    this.#at++;
    for (;;) {
      const before = this.#at;
      this.#spaces();
      if (this.#take(')')) {
        const parameters = this.#parameters();
        return parameters && { items, parameters };
      }
      // Items have spaces between them.
      const item = (items.length > 0 && before === this.#at) || items.length === MOST ? undefined : this.#item();
      if (item === undefined) {
        return undefined;
      }
      items.push(item);
    }
  }

  #item(): Item | undefined {
    const bare = this.#bare();
    const parameters = bare && this.#parameters();
    return bare && parameters && { bare, parameters };
  }

  #parameters(): Parameters | undefined {
    const parameters = new Map<string, BareItem>();
    while (this.#take(';')) {
      this.#spaces();
      const key = this.#match(KEY);
      const value =
        key === undefined || parameters.has(key) || parameters.size === MOST ? undefined : this.#take('=') ? this.#bare() : TRUE;
      if (value === undefined) {
        return undefined;
      }
      parameters.set(key!, value);
    }
    return parameters;
  }

  #bare(): BareItem | undefined {
    const first = this.#text[this.#at] ?? '';
    switch (first) {
      case '"':
        return this.#string();
      case ':':
        return this.#bytes();
      case '?': {
        const digit = this.#text[this.#at + 1];
        this.#at += 2;
        return digit === '0' || digit === '1' ? { type: 'boolean', value: digit === '1' } : undefined;
      }
      case '@': {
        this.#at++;
        const number = this.#number();
        return number?.type === 'integer' ? { type: 'date', value: number.value as number } : undefined;
      }
      default: {
        if (first === '-' || (first >= '0' && first <= '9')) {
          return this.#number();
        }
        const value = this.#match(TOKEN);
        return value === undefined ? undefined : { type: 'token', value };
      }
    }
  }

  #number(): BareItem | undefined {
    NUMBER.lastIndex = this.#at;
    const found = NUMBER.exec(this.#text);
    if (found === null) {
      return undefined;
    }
    const [whole, , digits, fraction] = found;
    this.#at += whole.length;
    // What follows would belong to the number.
    const next = this.#text[this.#at] ?? '';
    if (next === '.' || (next >= '0' && next <= '9') || digits!.length > (fraction === undefined ? MOST_DIGITS : DECIMAL_DIGITS)) {
      return undefined;
    }
    const value = Number(whole);
    return { type: fraction === undefined ? 'integer' : 'decimal', value: value === 0 ? 0 : value };
  }

  #string(): BareItem | undefined {
    const text = this.#text;
    let value = '';
    let from = ++this.#at;
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (code === 34) {
        value += text.slice(from, this.#at++);
        return { type: 'string', value };
      }
      if (code < 32 || code > 126) {
        return undefined;
      }
      if (code === 92) {
        value += text.slice(from, this.#at);
        from = ++this.#at;
        const escaped = text.charCodeAt(from);
        if (escaped !== 34 && escaped !== 92) {
          return undefined;
        }
      }
    }
    return undefined;
  }

  #bytes(): BareItem | undefined {
    const end = this.#text.indexOf(':', this.#at + 1);
    const value = end === -1 ? undefined : decodeBase64(this.#text.slice(this.#at + 1, end));
    this.#at = end + 1;
    return value && { type: 'bytes', value };
  }
}

/** Writes a value; what was read before can always be written. */
export function writeBare(bare: BareItem): string {
  switch (bare.type) {
    case 'string':
      return `"${bare.value.replace(/["\\]/g, '\\$&')}"`;
    case 'bytes':
      return `:${bare.value.toString('base64')}:`;
    case 'boolean':
      return bare.value ? '?1' : '?0';
    case 'date':
      return `@${bare.value}`;
    case 'decimal':
      return bare.value.toFixed(3).replace(/0{1,2}$/, '');
    default:
      return String(bare.value);
  }
}

export function writeParameters(parameters: Parameters): string {
  let text = '';
  for (const [key, value] of parameters) {
    text += value.type === 'boolean' && value.value ? `;${key}` : `;${key}=${writeBare(value)}`;
  }
  return text;
}

export const writeItem = ({ bare, parameters }: Item): string => writeBare(bare) + writeParameters(parameters);

export function writeMember(member: Member): string {
  return isInnerList(member) ? `(${member.items.map(writeItem).join(' ')})${writeParameters(member.parameters)}` : writeItem(member);
}

export const writeList = (members: readonly Member[]): string => members.map(writeMember).join(', ');

export function writeDictionary(members: Dictionary): string {
  const texts: string[] = [];
  for (const [key, member] of members) {
    const bare = !isInnerList(member) && member.bare.type === 'boolean' && member.bare.value;
    texts.push(bare ? key + writeParameters(member.parameters) : `${key}=${writeMember(member)}`);
  }
  return texts.join(', ');
}
