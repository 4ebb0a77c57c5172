// Over 400 lines: the loop of #run shares its state with what it calls, and is kept in one function for speed.
import type { RegexNode } from './ast.js';
import { hasByte } from './byte-set.js';
import { firstBytes } from './cost.js';
import { assertKinds, compileProgram, Op, type Program } from './program.js';
import { isAnchored, nullable } from './tree.js';

/** Bits of memory for what is known to fail; splits beyond it are not remembered and rest on the step limit. */
const memoBits = 1 << 26;

const assertStart = assertKinds.indexOf('start');
const assertEnd = assertKinds.indexOf('end');
const assertEndOrNewline = assertKinds.indexOf('endOrNewline');
const assertLineStart = assertKinds.indexOf('lineStart');
const assertLineEnd = assertKinds.indexOf('lineEnd');
const assertBoundary = assertKinds.indexOf('boundary');

/** What the backtracking stack holds, in pairs: an instruction to go on at and a place, or one of these. */
const NO_MATCH = -1;
const RESTORE = -2;

/** Working memory that all matchers share: a match runs to its end before another starts. */
const scratch: { memo: Int32Array; stack: Int32Array } = { memo: new Int32Array(1024), stack: new Int32Array(1024) };

/**
 * Matches by backtracking with PCRE's priorities, and remembers at which (instruction, place) it has failed already, so
 * that nothing is tried twice: the work is bounded by the product of the lengths of pattern and subject. Patterns with
 * back references, whose outcome depends on more than the place, rest on the step limit alone.
 */
export class Matcher {
  /** Whether the last call gave up at the step limit. */
  exhausted = false;
  readonly #program: Program;
  readonly #captures: number;
  readonly #anchored: boolean;
  /** First bytes of a match: one byte per member test; undefined when a match may be empty. */
  readonly #first: Uint8Array | undefined;
  readonly #registers: Int32Array;
  #subject = '';
  /** Steps left until the limit. */
  #left = 0;
  /** Where an instruction performed by #call has led. */
  #place = 0;
  #top = 0;
  /** Splits with a slot below this are remembered for the current subject. */
  #memoSlots = 0;
  /** The last possessive run: a run that starts inside it ends where it ends. */
  #spanAt = -1;
  #spanFrom = 0;
  #spanTo = 0;

  constructor(root: RegexNode, captures: number) {
    this.#program = compileProgram(root, captures);
    this.#captures = captures;
    this.#anchored = isAnchored(root);
    this.#registers = new Int32Array(this.#program.registers);
    if (!nullable(root)) {
      const first = firstBytes(root);
      this.#first = Uint8Array.from({ length: 256 }, (_, c) => (hasByte(first, c) ? 1 : 0));
    }
  }

  /**
   * Returns the match and its groups, undefined for those not set; null for no match, and when it took more steps than the
   * limit, which is what `exhausted` says then. A step is 10 to 40 ns once V8 has compiled this, and 300 ns before.
   */
  exec(subject: string, limit: number): (string | undefined)[] | null {
    const registers = this.#registers;
    const last = this.#anchored ? 0 : subject.length;
    this.#begin(subject, limit);
    for (let start = 0; start <= last; start++) {
      if (this.#first !== undefined) {
        while (start < subject.length && this.#first[subject.charCodeAt(start)] === 0) {
          start++;
        }
        if (start > last || start === subject.length) {
          break;
        }
      }
      registers.fill(-1);
      registers[0] = start;
      this.#top = 0;
      const end = this.#run(0, start);
      if (end >= 0) {
        registers[1] = end;
        return this.#result();
      }
      if (this.exhausted) {
        break;
      }
    }
    this.#subject = '';
    return null;
  }

  /** Steps that the limit of the last match left over. */
  get left(): number {
    return this.#left;
  }

  #begin(subject: string, limit: number): void {
    this.#subject = subject;
    this.#left = limit;
    this.#spanAt = -1;
    this.exhausted = false;
    const places = subject.length + 1;
    this.#memoSlots = Math.min(this.#program.slots, Math.floor(memoBits / 2 / places));
    const words = 2 * ((this.#memoSlots * places + 31) >> 5);
    if (scratch.memo.length < words) {
      scratch.memo = new Int32Array(words);
    } else {
      scratch.memo.fill(0, 0, words);
    }
    this.#left -= words >> 6;
  }

  #result(): (string | undefined)[] {
    const registers = this.#registers;
    const groups: (string | undefined)[] = [];
    for (let i = 0; i <= this.#captures; i++) {
      const start = registers[2 * i]!;
      const end = registers[2 * i + 1]!;
      groups.push(end < 0 ? undefined : start > end ? '' : this.#subject.slice(start, end));
    }
    this.#subject = '';
    return groups;
  }

  /** Runs from an instruction to the END of its body; returns where the match ends, or -1. */
  #run(from: number, place: number): number {
    const code = this.#program.code;
    const sets = this.#program.sets;
    const registers = this.#registers;
    const subject = this.#subject;
    const length = subject.length;
    const memo = scratch.memo;
    const memoSlots = this.#memoSlots;
    const base = this.#top;
    // The fields that change with each step live in local variables; they are exchanged around calls.
    let stack: Int32Array = scratch.stack;
    let top = base;
    let left = this.#left;
    let pc = from;
    let at = place;
    for (;;) {
      if (--left < 0) {
        this.#left = 0;
        this.exhausted = true;
        return -1;
      }
      // One instruction pushes up to three pairs.
      if (top + 6 > stack.length) {
        stack = growStack();
      }
      switch (code[pc]) {
        case Op.BYTE:
          if (at < length && subject.charCodeAt(at) === code[pc + 1]) {
            at++;
            pc += 2;
            continue;
          }
          break;
        case Op.SET:
          if (at < length && sets[code[pc + 1]! * 256 + subject.charCodeAt(at)] === 1) {
            at++;
            pc += 2;
            continue;
          }
          break;
        case Op.SPLIT:
        case Op.RUN: {
          const slot = code[pc + 1]!;
          if (slot < memoSlots) {
            const marks = code[pc + 4]!;
            const bit = (marks === 0 ? slot : slot + this.#turns(pc + 5, marks, at)) * (length + 1) + at;
            const word = (bit >> 5) << 1;
            const mask = 1 << (bit & 31);
            if ((memo[word]! & mask) !== 0) {
              break;
            }
            if ((memo[word + 1]! & mask) !== 0) {
              this.#top = top;
              this.#left = left;
              return at;
            }
            stack[top++] = NO_MATCH;
            stack[top++] = bit;
          }
          if (code[pc] === Op.SPLIT) {
            stack[top++] = code[pc + 3]!;
            stack[top++] = at;
            pc = code[pc + 2]!;
          } else if (at < length && sets[code[pc + 2]! * 256 + subject.charCodeAt(at)] === 1) {
            stack[top++] = code[pc + 3]!;
            stack[top++] = at;
            at++;
          } else {
            pc = code[pc + 3]!;
          }
          continue;
        }
        case Op.JUMP:
          pc = code[pc + 1]!;
          continue;
        case Op.SAVE: {
          const register = code[pc + 1]!;
          stack[top++] = RESTORE - register;
          stack[top++] = registers[register]!;
          registers[register] = at;
          pc += 2;
          continue;
        }
        case Op.CLOSE: {
          const register = 2 * code[pc + 1]!;
          stack[top++] = RESTORE - register;
          stack[top++] = registers[register]!;
          stack[top++] = RESTORE - register - 1;
          stack[top++] = registers[register + 1]!;
          registers[register] = registers[code[pc + 2]!]!;
          registers[register + 1] = at;
          pc += 3;
          continue;
        }
        case Op.LEAVE_IF_EMPTY:
          pc = registers[code[pc + 1]!] === at ? code[pc + 2]! : pc + 3;
          continue;
        case Op.ASSERT:
          if (holds(code[pc + 1]!, subject, at)) {
            pc += 2;
            continue;
          }
          break;
        case Op.BACK:
          at -= code[pc + 1]!;
          pc += 2;
          if (at >= 0) {
            continue;
          }
          break;
        case Op.IF_GROUP:
          pc = this.#setGroup(code[pc + 1]!) >= 0 ? pc + 3 : code[pc + 2]!;
          continue;
        case Op.END:
          this.#top = top;
          this.#left = left;
          return at;
        default: {
          this.#top = top;
          this.#left = left;
          const next = this.#call(pc, at);
          stack = scratch.stack;
          top = this.#top;
          left = this.#left;
          if (next >= 0) {
            at = this.#place;
            pc = next;
            continue;
          }
          if (this.exhausted) {
            return -1;
          }
        }
      }
      // Back to the last choice left open above the base of this run.
      for (;;) {
        if (top === base) {
          this.#top = top;
          this.#left = left;
          return -1;
        }
        top -= 2;
        const what = stack[top]!;
        const value = stack[top + 1]!;
        if (what >= 0) {
          pc = what;
          at = value;
          break;
        }
        if (what === NO_MATCH) {
          memo[(value >> 5) << 1]! |= 1 << (value & 31);
        } else {
          registers[RESTORE - what] = value;
        }
      }
    }
  }

  /** Tells which of the enclosing loops have consumed something in their present turn: one bit each. */
  #turns(marks: number, count: number, at: number): number {
    const code = this.#program.code;
    let bits = 0;
    for (let i = 0; i < count; i++) {
      if (at > this.#registers[code[marks + i]!]!) {
        bits |= 1 << i;
      }
    }
    return bits;
  }

  /** Performs an instruction that takes a run of its own or a loop; returns the next one and sets #place, or -1. */
  #call(pc: number, at: number): number {
    const code = this.#program.code;
    switch (code[pc]) {
      case Op.LOOK: {
        const found = this.#look(pc + 4, at, code[pc + 2] === 1);
        this.#place = at;
        return found === (code[pc + 1] === 1) || this.exhausted ? -1 : code[pc + 3]!;
      }
      case Op.IF_LOOK: {
        const found = this.#look(pc + 4, at, code[pc + 1] === 0);
        this.#place = at;
        return this.exhausted ? -1 : found === (code[pc + 1] === 1) ? code[pc + 3]! : code[pc + 2]!;
      }
      case Op.ATOMIC: {
        const top = this.#top;
        this.#place = this.#run(pc + 2, at);
        if (this.#place < 0) {
          return -1;
        }
        this.#keepRestores(top);
        return code[pc + 1]!;
      }
      case Op.SPAN:
        this.#place = this.#span(pc, at);
        return this.#place < 0 ? -1 : pc + 4;
      default:
        this.#place = this.#reference(code[pc + 1]!, code[pc + 2] === 1, at);
        return this.#place < 0 ? -1 : pc + 3;
    }
  }

  /** Runs the body of a lookaround and tells whether it matches, leaving nothing to backtrack into. */
  #look(from: number, place: number, keepsCaptures: boolean): boolean {
    const top = this.#top;
    if (this.#run(from, place) < 0) {
      return false;
    }
    if (keepsCaptures) {
      this.#keepRestores(top);
      return true;
    }
    const stack = scratch.stack;
    while (this.#top > top) {
      this.#top -= 2;
      const what = stack[this.#top]!;
      const value = stack[this.#top + 1]!;
      if (what <= RESTORE) {
        this.#registers[RESTORE - what] = value;
      } else if (what === NO_MATCH) {
        // Not failed but on the way to success: the body matches from there.
        scratch.memo[2 * (value >> 5) + 1]! |= 1 << (value & 31);
      }
    }
    return true;
  }

  /** Drops the choices above a stack height and keeps what undoes captures: an atomic group is not backtracked into. */
  #keepRestores(top: number): void {
    const stack = scratch.stack;
    let kept = top;
    for (let i = top; i < this.#top; i += 2) {
      if (stack[i]! <= RESTORE) {
        stack[kept] = stack[i]!;
        stack[kept + 1] = stack[i + 1]!;
        kept += 2;
      }
    }
    this.#top = kept;
  }

  #span(pc: number, place: number): number {
    const { code, sets } = this.#program;
    const set = code[pc + 1]! * 256;
    const min = code[pc + 2]!;
    const max = code[pc + 3]!;
    const subject = this.#subject;
    let end = place;
    if (max < 0 && pc === this.#spanAt && place >= this.#spanFrom && place <= this.#spanTo) {
      end = this.#spanTo;
    } else {
      const last = max < 0 ? subject.length : Math.min(subject.length, place + max);
      while (end < last && sets[set + subject.charCodeAt(end)] === 1) {
        end++;
      }
      this.#left -= (end - place) >> 3;
      this.#spanAt = pc;
      this.#spanFrom = place;
      this.#spanTo = end;
    }
    return end - place < min ? -1 : end;
  }

  /** Returns the first set group of a list, or -1. */
  #setGroup(list: number): number {
    const groups = this.#program.groupLists[list]!;
    for (let i = 0; i < groups.length; i++) {
      if (this.#registers[2 * groups[i]! + 1]! >= 0) {
        return groups[i]!;
      }
    }
    return -1;
  }

  #reference(list: number, caseless: boolean, at: number): number {
    const group = this.#setGroup(list);
    if (group < 0) {
      return -1;
    }
    const from = this.#registers[2 * group]!;
    const length = this.#registers[2 * group + 1]! - from;
    const subject = this.#subject;
    if (at + length > subject.length) {
      return -1;
    }
    this.#left -= length >> 1;
    for (let i = 0; i < length; i++) {
      const a = subject.charCodeAt(from + i);
      const b = subject.charCodeAt(at + i);
      if (a !== b && !(caseless && lowerCode(a) === lowerCode(b))) {
        return -1;
      }
    }
    return at + length;
  }
}

function growStack(): Int32Array {
  const larger = new Int32Array(2 * scratch.stack.length);
  larger.set(scratch.stack);
  scratch.stack = larger;
  return larger;
}

function holds(kind: number, subject: string, at: number): boolean {
  const length = subject.length;
  switch (kind) {
    case assertStart:
      return at === 0;
    case assertEnd:
      return at === length;
    case assertEndOrNewline:
      return at === length || (at === length - 1 && subject.charCodeAt(at) === 10);
    case assertLineStart:
      return at === 0 || (at < length && subject.charCodeAt(at - 1) === 10);
    case assertLineEnd:
      return at === length || subject.charCodeAt(at) === 10;
    default: {
      const boundary = (at > 0 && isWord(subject.charCodeAt(at - 1))) !== (at < length && isWord(subject.charCodeAt(at)));
      return boundary === (kind === assertBoundary);
    }
  }
}

function isWord(c: number): boolean {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || (c >= 0x30 && c <= 0x39) || c === 0x5f;
}

function lowerCode(c: number): number {
  return c >= 0x41 && c <= 0x5a ? c + 32 : c;
}
