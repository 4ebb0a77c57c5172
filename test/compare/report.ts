import type { SavedCase } from './case.js';
import { type Compared, type Difference, differencesOf } from './differences.js';
import { judged, unnamedOf } from './rules.js';
import type { Refusal, Results, Runner } from './runner.js';
import { kindOf, shrink } from './shrink.js';

/** Compared cases whose first unnamed difference is alike. */
interface Finding {
  /** The first of them. */
  readonly examples: Compared[];
  count: number;
}

/** So many of a kind are played alone, once the machine does nothing else. */
const EXAMPLES = 5;

/** Counts what was compared, and prints what was different. */
export class Report implements Results {
  readonly #print: (line: string) => void;
  readonly #started = Date.now();
  readonly #byAxis = new Map<string, number>();
  readonly #byRule = new Map<string, number>();
  /** What each rule was met in, with an example. */
  readonly #met = new Map<string, Map<string, { readonly example: string; count: number }>>();
  readonly #findings = new Map<string, Finding>();
  /** Comparisons that were different, and not each time, by the kinds of their first differences. */
  readonly #passing = new Map<string, number>();
  readonly #refusals = new Map<string, Refusal>();
  /** Comparisons with a difference that no rule names. */
  unnamed = 0;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  passing(first: Compared): void {
    count(this.#passing, keyOf(first, unnamedOf(first)[0]!));
  }

  refused(refusal: Refusal): void {
    const message = refusal.message.replace(/^.*\[emerg\] \S+ /, '').replace(/ in (?:case c|\/).*/, '');
    this.#refusals.set(`${refusal.site}: ${message}`, refusal);
  }

  compared(one: Compared): void {
    count(this.#byAxis, one.axis.name);
    let first: Difference | undefined;
    const named = new Set<string>();
    for (const { difference, rule } of judged(one)) {
      if (rule === undefined) {
        first ??= difference;
      } else {
        named.add(rule.name);
        this.#meet(rule.name, one, difference);
      }
    }
    for (const name of named) {
      count(this.#byRule, name);
    }
    if (first === undefined) {
      return;
    }
    this.unnamed++;
    const key = keyOf(one, first);
    const known = this.#findings.get(key);
    if (known === undefined) {
      this.#findings.set(key, { examples: [one], count: 1 });
    } else {
      known.count++;
      if (known.examples.length < EXAMPLES) {
        known.examples.push(one);
      }
    }
  }

  #meet(rule: string, { axis, case: one }: Compared, difference: Difference): void {
    const met = this.#met.get(rule) ?? new Map<string, { readonly example: string; count: number }>();
    this.#met.set(rule, met);
    const kind = `${axis.name} ${kindOf(difference)}`;
    const known = met.get(kind);
    if (known === undefined) {
      const { what, left, right } = difference;
      const text = JSON.stringify({ axis: axis.name, differences: [what], ...one } satisfies SavedCase);
      met.set(kind, { example: `${short(left, 200)} | ${short(right, 200)}\n      ${text}`, count: 1 });
    } else {
      known.count++;
    }
  }

  /** Plays what was found again, where a busy machine had made it. */
  async #playAlone(runner: Runner): Promise<void> {
    for (const [key, { examples, count: times }] of this.#findings) {
      let stays = false;
      for (let i = 0; i < examples.length && !stays; i++) {
        const alone = await playedAlone(runner, examples[i]!);
        stays = alone === undefined || unnamedOf(alone).length > 0;
      }
      if (!stays) {
        this.#findings.delete(key);
        this.#passing.set(key, (this.#passing.get(key) ?? 0) + times);
        this.unnamed -= times;
      }
    }
  }

  /** Prints in what the rules were met. */
  tellRules(): void {
    for (const [rule, met] of this.#met) {
      this.#print(`\n# ${rule}`);
      for (const [kind, { example, count }] of met) {
        this.#print(`  ${count} times: ${kind}: ${example}`);
      }
    }
  }

  /**
   * Prints all, the counts first, with the smallest case of at most `most` kinds of differences. `save` gets each of them by a name for its
   * file.
   */
  async finish(runner: Runner, most: number, save: (name: string, text: string) => void): Promise<void> {
    const total = [...this.#byAxis.values()].reduce((sum, n) => sum + n, 0);
    const seconds = (Date.now() - this.#started) / 1000;
    this.#print(`\n${total} comparisons in ${seconds.toFixed(0)} s (${Math.round((total / seconds) * 3600)} an hour)`);
    this.#print(listOf(this.#byAxis));
    for (const [name, n] of this.#byRule) {
      this.#print(`  ${n} times: ${name}`);
    }
    await this.#playAlone(runner);
    const passing = [...this.#passing].sort(([, a], [, b]) => b - a);
    this.#print(`different at first, and not each time when played again: ${passing.reduce((sum, [, n]) => sum + n, 0)}, most often`);
    for (const [key, n] of passing.slice(0, 30)) {
      this.#print(`  ${n} times: ${key}`);
    }
    this.#print(`seconds of processor time: ${listOf(runner.seconds())}`);
    let shrunk = 0;
    for (const [key, { examples, count }] of this.#findings) {
      const example = examples[0]!;
      const differences = unnamedOf(example);
      this.#print(`\n# ${count} times: ${key}`);
      // Before it is made smaller, which may lead to something else, or to nothing.
      save(`${example.axis.name}-${shrunk + 1}-met.json`, `${savedText(example, differences)}\n`);
      const found = shrunk++ < most ? await shrink(runner, example.case, example.axis, kindOf(differences[0]!)) : undefined;
      const shown = found === undefined ? example : found;
      const list = (found === undefined ? differences : differencesOf(found)).slice(0, 12);
      for (const { what, left, right } of list) {
        this.#print(`  ${what}:\n    ${sideOf(shown, 'left')}: ${short(left, 400)}\n    ${sideOf(shown, 'right')}: ${short(right, 400)}`);
      }
      if (found === undefined && shrunk <= most) {
        this.#print('  (not different again when played once more)');
      }
      const text = savedText(shown, list);
      this.#print(text);
      save(`${shown.axis.name}-${shrunk}.json`, `${text}\n`);
    }
    for (const [key, refusal] of this.#refusals) {
      this.#print(`\n# refused by ${key}\n${JSON.stringify(refusal.case.parts)}`);
    }
    this.#print(`\n${this.unnamed} with a difference that has no name, of ${this.#findings.size} kinds`);
  }
}

/** One comparison by itself. */
async function playedAlone(runner: Runner, { case: one, axis }: Compared): Promise<Compared | undefined> {
  let last: Compared | undefined;
  const results: Results = { compared: (compared) => void (last = compared), refused: () => {}, passing: () => {} };
  await runner.play([one], [axis], results, { again: 1 });
  return last;
}

const savedText = ({ axis, case: one }: Compared, differences: readonly Difference[]): string =>
  JSON.stringify({ axis: axis.name, differences: differences.map(({ what }) => what), ...one } satisfies SavedCase);

const keyOf = ({ axis }: Compared, first: Difference): string =>
  `${axis.name} ${kindOf(first)}: ${short(first.left, 60)} | ${short(first.right, 60)}`;

const listOf = (counts: ReadonlyMap<string, number>): string => [...counts].map(([name, n]) => `${name} ${n}`).join(', ');

const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);

const short = (text: string, most: number): string => {
  const quoted = JSON.stringify(text);
  return quoted.length > most ? `${quoted.slice(0, most)}...` : quoted;
};

const sideOf = ({ axis }: Compared, side: 'left' | 'right'): string => {
  const [run, other] = side === 'left' ? [axis.left, axis.right] : [axis.right, axis.left];
  const telling = Object.entries(run).filter(([key, value]) => other[key as keyof typeof other] !== value);
  return telling
    .map(([key, value]) => (value === true ? key : value === false ? `no ${key}` : `${key === 'nth' ? 'time ' : ''}${value}`))
    .join(' ');
};
