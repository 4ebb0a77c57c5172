import { type CaptureNode, fixedLength, type LookNode, type RegexNode, type RepeatNode } from './ast.js';
import { type ByteSet, hasByte, members } from './byte-set.js';
import { childrenOf, nullable, some } from './tree.js';

/** Instructions of the matcher, each with its operands. */
export const Op = {
  /** The match, or the body of a lookaround or atomic group, ends here. */
  END: 0,
  /** byte */
  BYTE: 1,
  /** set */
  SET: 2,
  /** slot, first, second, count of loop registers, registers ... */
  SPLIT: 3,
  /** As SPLIT, with a set in place of the first target: takes bytes of the set, as many as it can, then goes on at the second. */
  RUN: 4,
  /** target */
  JUMP: 5,
  /** register */
  SAVE: 6,
  /** group, register: the group spans from the place in the register to here. */
  CLOSE: 7,
  /** register, exit: leaves a loop whose turn consumed nothing. */
  LEAVE_IF_EMPTY: 8,
  /** assertion kind */
  ASSERT: 9,
  /** negative, whether captures are kept, next; the body follows. */
  LOOK: 10,
  /** next; the body follows. */
  ATOMIC: 11,
  /** set, min, max: a possessive run of bytes. */
  SPAN: 12,
  /** count: steps back, at the start of an alternative of a lookbehind. */
  BACK: 13,
  /** list of groups, caseless */
  REFERENCE: 14,
  /** list of groups, otherwise */
  IF_GROUP: 15,
  /** negative, then, otherwise; the body follows. */
  IF_LOOK: 16,
} as const;

/** The numbers of the assertions in the operand of ASSERT: places in this list. */
export const assertKinds = ['start', 'end', 'endOrNewline', 'lineStart', 'lineEnd', 'boundary', 'notBoundary'] as const;

/** A compiled tree. */
export interface Program {
  readonly code: Int32Array;
  /** One byte per member test: set s holds byte c when sets[s * 256 + c] is 1. */
  readonly sets: Uint8Array;
  readonly groupLists: readonly (readonly number[])[];
  /** Memo slots that the SPLIT instructions use; 0 when a result may depend on captures, so that nothing is remembered. */
  readonly slots: number;
  /** Capture offsets and loop marks: two for each group, then the marks. */
  readonly registers: number;
}

/** Larger programs are refused, as PCRE2 refuses a pattern whose compiled form is beyond 64 kB. */
export const maxProgramSize = 1 << 18;

/** How many nested loops with an empty body the memo tells apart. */
const maxMarks = 4;

/** The slot of a split that is not remembered: above every real one. */
const noSlot = 0x7fffffff;

class Compiler {
  readonly code: number[] = [];
  readonly sets: ByteSet[] = [];
  readonly groupLists: (readonly number[])[] = [];
  readonly #setIndex = new Map<string, number>();
  /** Registers that mark where the turn of an enclosing loop began, for loops whose body may match nothing. */
  #marks: readonly number[] = [];
  slots = 0;
  registers: number;

  constructor(captures: number) {
    this.registers = 2 * (captures + 1);
  }

  compile(node: RegexNode): void {
    switch (node.t) {
      case 'set':
        this.#set(node.set);
        break;
      case 'sequence':
        for (const item of node.items) {
          this.compile(item);
        }
        break;
      case 'alternatives':
        this.#alternatives(node.items, false);
        break;
      case 'capture':
        this.#capture(node);
        break;
      case 'keep':
        this.#emit(Op.SAVE, 0);
        break;
      case 'assert':
        this.#emit(Op.ASSERT, assertKinds.indexOf(node.kind));
        break;
      case 'atomic': {
        if (node.body.t === 'repeat' && node.body.mode === 'greedy' && node.body.body.t === 'set') {
          this.#repeat({ ...node.body, mode: 'possessive' });
          break;
        }
        const next = this.#emit(Op.ATOMIC, 0) + 1;
        this.#nested(node.body, false);
        this.#patch(next);
        break;
      }
      case 'look':
        this.#look(node);
        break;
      case 'repeat':
        this.#repeat(node);
        break;
      case 'backReference':
        this.#emit(Op.REFERENCE, this.#list(node.groups), node.caseless ? 1 : 0);
        break;
      case 'condition':
        this.#condition(node.test, node.yes, node.no);
        break;
    }
  }

  #emit(...words: number[]): number {
    const at = this.code.length;
    this.code.push(...words);
    return at;
  }

  #patch(at: number): void {
    this.code[at] = this.code.length;
  }

  #list(groups: readonly number[]): number {
    return this.groupLists.push(groups) - 1;
  }

  #set(set: ByteSet): void {
    const bytes = members(set);
    if (bytes.length === 1) {
      this.#emit(Op.BYTE, bytes[0]!);
    } else {
      this.#emit(Op.SET, this.#setNumber(set));
    }
  }

  #setNumber(set: ByteSet): number {
    const key = set.join();
    let index = this.#setIndex.get(key);
    if (index === undefined) {
      index = this.sets.push(set) - 1;
      this.#setIndex.set(key, index);
    }
    return index;
  }

  /** Emits a split whose targets are still open; returns where it stands: +2 is the first target, +3 the second. */
  #split(op: number = Op.SPLIT): number {
    if (this.#marks.length > maxMarks) {
      return this.#emit(op, noSlot, 0, 0, 0);
    }
    const slot = this.slots;
    this.slots += 1 << this.#marks.length;
    return this.#emit(op, slot, 0, 0, this.#marks.length, ...this.#marks);
  }

  #alternatives(items: readonly RegexNode[], behind: boolean): void {
    const ends: number[] = [];
    for (let i = 0; i < items.length; i++) {
      const split = i < items.length - 1 ? this.#split() : -1;
      if (split >= 0) {
        this.#patch(split + 2);
      }
      if (behind) {
        this.#emit(Op.BACK, fixedLength(items[i]!) ?? 0);
      }
      this.compile(items[i]!);
      if (split >= 0) {
        ends.push(this.#emit(Op.JUMP, 0) + 1);
        this.#patch(split + 3);
      }
    }
    for (const end of ends) {
      this.#patch(end);
    }
  }

  /** A body that runs on its own, so that nothing outside backtracks into it. */
  #nested(body: RegexNode, behind: boolean): void {
    const marks = this.#marks;
    this.#marks = [];
    if (behind) {
      this.#alternatives(body.t === 'alternatives' ? body.items : [body], true);
    } else {
      this.compile(body);
    }
    this.#emit(Op.END);
    this.#marks = marks;
  }

  #look(node: LookNode): void {
    const keeps = !node.negative && some(node.body, (inner) => inner.t === 'capture');
    const at = this.#emit(Op.LOOK, node.negative ? 1 : 0, keeps ? 1 : 0, 0);
    this.#nested(node.body, node.behind);
    this.#patch(at + 3);
  }

  /** The start is kept aside until the group closes: inside it a reference to it means its previous span. */
  #capture(node: CaptureNode): void {
    const opened = this.registers++;
    this.#emit(Op.SAVE, opened);
    this.compile(node.body);
    this.#emit(Op.CLOSE, node.index, opened);
  }

  #condition(test: LookNode | readonly number[], yes: RegexNode, no: RegexNode): void {
    let otherwise: number;
    if ('t' in test) {
      const at = this.#emit(Op.IF_LOOK, test.negative ? 1 : 0, 0, 0);
      this.#nested(test.body, test.behind);
      this.#patch(at + 2);
      otherwise = at + 3;
    } else {
      otherwise = this.#emit(Op.IF_GROUP, this.#list(test), 0) + 2;
    }
    this.compile(yes);
    const end = this.#emit(Op.JUMP, 0) + 1;
    this.#patch(otherwise);
    this.compile(no);
    this.#patch(end);
  }

  #repeat(node: RepeatNode): void {
    const { body, min, max, mode } = node;
    if (mode === 'possessive') {
      if (body.t === 'set') {
        this.#emit(Op.SPAN, this.#setNumber(body.set), min, max === Number.POSITIVE_INFINITY ? -1 : max);
        return;
      }
      this.compile({ t: 'atomic', body: { t: 'repeat', body, min, max, mode: 'greedy' } });
      return;
    }
    const fixed = max === Number.POSITIVE_INFINITY ? min - 1 : min;
    for (let i = 0; i < fixed; i++) {
      this.compile(body);
    }
    if (max === Number.POSITIVE_INFINITY) {
      this.#loop(body, min > 0, mode === 'lazy');
      return;
    }
    const exits: number[] = [];
    for (let i = min; i < max; i++) {
      exits.push(this.#choice(mode === 'lazy'));
      this.compile(body);
    }
    for (const exit of exits) {
      this.#patch(exit);
    }
  }

  /** Emits a split that goes on right after it or to an exit, in the order of preference; returns the exit to patch. */
  #choice(lazy: boolean): number {
    const split = this.#split();
    this.#patch(split + (lazy ? 3 : 2));
    return split + (lazy ? 2 : 3);
  }

  #loop(body: RegexNode, atLeastOnce: boolean, lazy: boolean): void {
    if (body.t === 'set' && !lazy) {
      if (atLeastOnce) {
        this.#set(body.set);
      }
      const run = this.#split(Op.RUN);
      this.code[run + 2] = this.#setNumber(body.set);
      this.#patch(run + 3);
      return;
    }
    const skip = atLeastOnce ? undefined : this.#choice(lazy);
    const start = this.code.length;
    const mark = nullable(body) ? this.registers++ : undefined;
    let leave: number | undefined;
    if (mark === undefined) {
      this.compile(body);
    } else {
      const marks = this.#marks;
      this.#marks = [...marks, mark];
      this.#emit(Op.SAVE, mark);
      this.compile(body);
      leave = this.#emit(Op.LEAVE_IF_EMPTY, mark, 0) + 2;
      this.#marks = marks;
    }
    const split = this.#split();
    this.code[split + (lazy ? 3 : 2)] = start;
    this.#patch(split + (lazy ? 2 : 3));
    if (skip !== undefined) {
      this.#patch(skip);
    }
    if (leave !== undefined) {
      this.#patch(leave);
    }
  }
}

/** Compiles a tree for the matcher. */
export function compileProgram(root: RegexNode, captures: number): Program {
  const compiler = new Compiler(captures);
  compiler.compile(root);
  compiler.code.push(Op.END);
  const sets = new Uint8Array(compiler.sets.length * 256);
  compiler.sets.forEach((set, index) => {
    for (let c = 0; c < 256; c++) {
      sets[index * 256 + c] = hasByte(set, c) ? 1 : 0;
    }
  });
  const dependent = some(root, (node) => node.t === 'backReference' || (node.t === 'condition' && !('t' in node.test)));
  return {
    code: Int32Array.from(compiler.code),
    sets,
    groupLists: compiler.groupLists,
    slots: dependent ? 0 : compiler.slots,
    registers: compiler.registers,
  };
}

/** Estimates the size of a tree's program, which counted repetitions can make enormous, without compiling it. */
export function programSize(node: RegexNode): number {
  if (node.t === 'repeat') {
    const turns = node.max === Number.POSITIVE_INFINITY ? Math.max(node.min, 1) : node.max;
    return node.mode === 'possessive' && node.body.t === 'set' ? 4 : 12 + turns * (programSize(node.body) + (node.min < turns ? 5 : 0));
  }
  let size = node.t === 'alternatives' ? 7 * node.items.length : 5;
  for (const child of childrenOf(node)) {
    size += programSize(child);
  }
  return size;
}
