/** A set of byte values: 256 bits in eight words. */
export type ByteSet = Uint32Array;

/** Returns a set with no member. */
export function emptySet(): ByteSet {
  return new Uint32Array(8);
}

/** Returns the set of all bytes. */
export function fullSet(): ByteSet {
  return emptySet().fill(0xffffffff);
}

/** Returns the set of the bytes from `low` to `high`, both included. */
function rangeSet(low: number, high: number): ByteSet {
  const set = emptySet();
  for (let c = low; c <= high; c++) {
    addByte(set, c);
  }
  return set;
}

/** Returns the set of the bytes of a latin1 string. */
export function setOf(bytes: string): ByteSet {
  const set = emptySet();
  for (let i = 0; i < bytes.length; i++) {
    addByte(set, bytes.charCodeAt(i));
  }
  return set;
}

/** Adds one byte to a set. */
export function addByte(set: ByteSet, byte: number): void {
  set[byte >> 5]! |= 1 << (byte & 31);
}

/** Tells whether a byte is in a set. */
export function hasByte(set: ByteSet, byte: number): boolean {
  return (set[byte >> 5]! & (1 << (byte & 31))) !== 0;
}

/** Adds the members of `other` to `set`. */
export function addSet(set: ByteSet, other: ByteSet): void {
  for (let i = 0; i < 8; i++) {
    set[i]! |= other[i]!;
  }
}

/** Returns the set of what is in either set. */
export function union(a: ByteSet, b: ByteSet): ByteSet {
  const set = a.slice();
  addSet(set, b);
  return set;
}

/** Returns the set of the bytes that are not in a set. */
export function complement(set: ByteSet): ByteSet {
  return set.map((word) => ~word);
}

/** Tells whether two sets have a byte in common. */
export function intersects(a: ByteSet, b: ByteSet): boolean {
  for (let i = 0; i < 8; i++) {
    if ((a[i]! & b[i]!) !== 0) {
      return true;
    }
  }
  return false;
}

/** Tells whether all of `b` is in `a`. */
export function includesSet(a: ByteSet, b: ByteSet): boolean {
  for (let i = 0; i < 8; i++) {
    if ((b[i]! & ~a[i]!) !== 0) {
      return false;
    }
  }
  return true;
}

/** Returns the bytes of a set in ascending order. */
export function members(set: ByteSet): number[] {
  const bytes: number[] = [];
  for (let c = 0; c < 256; c++) {
    if (hasByte(set, c)) {
      bytes.push(c);
    }
  }
  return bytes;
}

/** Returns the set with both cases of its ASCII letters: outside UTF mode PCRE folds no others in the C locale. */
export function foldCase(set: ByteSet): ByteSet {
  const folded = set.slice();
  for (let c = 0x41; c <= 0x5a; c++) {
    if (hasByte(set, c) || hasByte(set, c + 32)) {
      addByte(folded, c);
      addByte(folded, c + 32);
    }
  }
  return folded;
}

const digit = rangeSet(0x30, 0x39);
const lower = rangeSet(0x61, 0x7a);
const upper = rangeSet(0x41, 0x5a);
const alpha = union(lower, upper);
const alnum = union(alpha, digit);
const word = union(alnum, setOf('_'));
const graph = rangeSet(0x21, 0x7e);
const space = setOf('\t\n\v\f\r ');

/** What the escapes \d \w \s \h \v match, and \N, which is everything but a newline. */
export const escapeSets = {
  d: digit,
  w: word,
  s: space,
  h: setOf('\t \xa0'),
  v: setOf('\n\v\f\r\x85'),
  N: complement(setOf('\n')),
} as const;

/** The POSIX classes in the C locale. */
export const posixSets: { readonly [name: string]: ByteSet } = {
  alpha,
  lower,
  upper,
  alnum,
  ascii: rangeSet(0, 0x7f),
  blank: setOf('\t '),
  cntrl: union(rangeSet(0, 0x1f), setOf('\x7f')),
  digit,
  graph,
  print: rangeSet(0x20, 0x7e),
  punct: setOf('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'),
  space,
  word,
  xdigit: union(digit, setOf('abcdefABCDEF')),
};

const categories = new Set(
  'C Cc Cf Cn Co Cs L LC Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs'.split(' '),
);

/** Returns the bytes, taken as Latin-1 characters, with a Unicode property, or undefined for an unknown name (\p{name}). */
export function propertySet(name: string): ByteSet | undefined {
  const key = name.replace(/[\s_-]/g, '').toLowerCase();
  if (key === 'any') {
    return fullSet();
  }
  if (key === 'xan' || key === 'xwd') {
    return union(union(propertySet('L')!, propertySet('N')!), key === 'xwd' ? setOf('_') : emptySet());
  }
  if (key === 'xsp' || key === 'xps') {
    return union(propertySet('Z')!, setOf('\t\n\v\f\r\x85'));
  }
  if (key === 'xuc') {
    return union(setOf('$@`'), rangeSet(0xa0, 0xff));
  }
  const canonical = key === 'l&' ? 'LC' : key.length === 2 && key === 'lc' ? 'LC' : key.charAt(0).toUpperCase() + key.slice(1);
  if (categories.has(canonical)) {
    return byProperty(canonical);
  }
  if (!/^[A-Z][a-z]+$/.test(canonical)) {
    return undefined;
  }
  return byProperty(`Script_Extensions=${canonical}`) ?? byProperty(canonical);
}

function byProperty(expression: string): ByteSet | undefined {
  let regex: RegExp;
  try {
    regex = new RegExp(`^\\p{${expression}}$`, 'u');
  } catch {
    return undefined;
  }
  const set = emptySet();
  for (let c = 0; c < 256; c++) {
    if (regex.test(String.fromCharCode(c))) {
      addByte(set, c);
    }
  }
  return set;
}
