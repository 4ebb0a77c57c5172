import type { Pos } from '../config/language/ast.js';
import type { Subject } from './subject.js';

/** A variable that configurations can name. */
export interface Variable<R> {
  /** Name without `$`. With `prefix`, every name that starts with it, such as `http_`. */
  readonly name: string;
  readonly prefix?: true;
  /** False when the value may change during a request, so that each use computes it anew. Default true. */
  readonly cacheable?: boolean;
  /** Computing the value can be seen from outside, as a call of a script's function can. */
  readonly effects?: boolean;
  /** The value, or undefined when there is none. `suffix` is what follows a prefix, else empty. */
  get(r: R, suffix: string): string | undefined;
  /** Makes the variable assignable by `set`, with its own effect. */
  set?(r: R, value: string): void;
  /** True for variables that directives such as `set` and `map` make: they may be made again. */
  readonly changeable?: boolean;
  /** What `-t` says when a configuration uses the variable. */
  readonly warning?: string | (() => string | undefined);
  /** A later definition under the same name replaces this one (`set` over a `map`). nginx: NGX_HTTP_VAR_WEAK. */
  readonly weak?: boolean;
  /** What computes it from something else, such as `map $uri`, and where that is written; for traces. */
  readonly origin?: { readonly text: string; readonly pos: Pos };
}

/** Whoever is told what goes wrong while variables are evaluated. */
export interface VariableReports<R> {
  /** An evaluation went round in a circle. */
  cycle(r: R, name: string): void;
  /** A regular expression gave up at its match limit; `message` is the line to log. */
  regexFailed(r: R, message: string): void;
}

/** Whoever is told of the values that variables get. */
export interface VariableWatcher<R> {
  computed(r: R, variable: Variable<R>, value: string | undefined): void;
}

interface Evaluation<R> {
  text(r: R): string;
}

/** nginx's limit for variables that refer to each other. */
const MAX_DEPTH = 100;

/** As many texts are remembered; where there are more, they are probably all different. */
const MANY_TEXTS = 10_000;

/**
 * The variables of one protocol block (`http` or `stream`). A name used anywhere gets a slot; slots are bound to definitions once
 * the whole configuration is read, since `map` may stand below the line that uses it.
 */
export class VariableTable<R extends Subject> {
  readonly #defined = new Map<string, Variable<R>>();
  readonly #prefixes: Variable<R>[] = [];
  readonly #slots = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #firstUse: (Pos | undefined)[] = [];
  readonly #bound: Variable<R>[] = [];
  readonly #suffixes: string[] = [];
  readonly #readers: Evaluation<R>['text'][] = [];
  readonly #evaluations = new Map<string, Evaluation<R>['text']>();
  #reports: VariableReports<R> = { cycle() {}, regexFailed() {} };

  /** Says who is told what goes wrong with evaluations. */
  reportTo(reports: VariableReports<R>): void {
    this.#reports = reports;
  }

  /** A regular expression gave up at its match limit; `message` is the line to log. */
  regexFailed(r: R, message: string): void {
    this.#reports.regexFailed(r, message);
  }

  /** Number of slots; the length of {@link Subject.vars}. */
  get size(): number {
    return this.#names.length;
  }

  /** Adds a definition. Returns false when the name belongs to a variable that must not be made again. */
  define(variable: Variable<R>): boolean {
    if (variable.prefix) {
      this.#prefixes.push(variable);
      this.#prefixes.sort((a, b) => b.name.length - a.name.length);
      return true;
    }
    const name = variable.name.toLowerCase();
    const before = this.#defined.get(name);
    if (before !== undefined && !before.changeable) {
      return false;
    }
    if (before !== undefined && variable.weak && !before.weak) {
      return true;
    }
    this.#defined.set(name, variable);
    return true;
  }

  /** The definition under a name, if there is one by now. */
  definition(name: string): Variable<R> | undefined {
    return this.#defined.get(name.toLowerCase());
  }

  /** The slot of a name; given out on first use. nginx: ngx_http_get_variable_index. */
  slot(name: string, pos?: Pos): number {
    const key = name.toLowerCase();
    const known = this.#slots.get(key);
    if (known !== undefined) {
      return known;
    }
    const slot = this.#names.length;
    this.#slots.set(key, slot);
    this.#names.push(key);
    this.#firstUse.push(pos);
    return slot;
  }

  /** Whether the configuration names a variable anywhere. */
  used(name: string): boolean {
    return this.#slots.has(name);
  }

  /** Binds every slot to its definition. Reports names nobody defines. nginx: ngx_http_variables_init_vars. */
  bind(unknown: (name: string, pos: Pos | undefined) => void, warn: (text: string, pos: Pos | undefined) => void): void {
    for (let slot = this.#bound.length; slot < this.#names.length; slot++) {
      const name = this.#names[slot]!;
      const found = this.#defined.get(name);
      // What `set` made of a name such as $http_x is only the assigning; unassigned, it is the header.
      const prefix = found === undefined || found.weak ? this.#prefixOf(name) : undefined;
      const variable = prefix ?? found;
      if (variable === undefined) {
        unknown(name, this.#firstUse[slot]);
      } else {
        const warning = typeof variable.warning === 'function' ? variable.warning() : variable.warning;
        if (warning !== undefined) {
          warn(warning, this.#firstUse[slot]);
        }
        this.#bound[slot] = variable;
        this.#suffixes[slot] = prefix === undefined ? '' : name.slice(prefix.name.length);
      }
    }
  }

  #prefixOf(name: string): Variable<R> | undefined {
    return this.#prefixes.find((p) => name.startsWith(p.name));
  }

  /** The value of a variable whose name, in lower case, is known only now. nginx: ngx_http_get_variable. */
  named(r: R, name: string): string | undefined {
    const slot = this.#slots.get(name);
    if (slot !== undefined) {
      return this.fresh(r, slot);
    }
    const found = this.#defined.get(name);
    if (found !== undefined) {
      return this.#compute(r, found, name, '');
    }
    const prefix = this.#prefixOf(name);
    return prefix?.get(r, name.slice(prefix.name.length));
  }

  /** Has the watcher hear of each value that a variable with an origin is given. Called once, before there are requests. */
  watch(watcher: VariableWatcher<R>): void {
    for (const [slot, variable] of this.#bound.entries()) {
      if (variable?.origin !== undefined) {
        const get = (r: R, suffix: string): string | undefined => {
          const value = variable.get(r, suffix);
          watcher.computed(r, variable, value);
          return value;
        };
        this.#bound[slot] = { ...variable, get };
      }
    }
  }

  /** Every name that can be suggested for a misspelt one. */
  names(): string[] {
    return [...this.#defined.keys()];
  }

  /** The value in a slot, evaluated at most once for a cacheable variable. nginx: ngx_http_get_indexed_variable. */
  get(r: R, slot: number): string | undefined {
    const known = r.vars[slot];
    if (known !== undefined) {
      return known === null ? undefined : known;
    }
    return this.#evaluate(r, slot);
  }

  /** As {@link get}, but a value that may have changed is computed anew. nginx: ngx_http_get_flushed_variable. */
  fresh(r: R, slot: number): string | undefined {
    if (this.#bound[slot]!.cacheable === false && r.pinned?.has(slot) !== true) {
      r.vars[slot] = undefined;
    }
    return this.get(r, slot);
  }

  /** Whether computing the value in a slot can be seen from outside. */
  hasEffects(slot: number): boolean {
    return this.#bound[slot]!.effects === true;
  }

  /** What gives the text of a variable, empty for none: one function for all texts that have it. */
  reader(slot: number): Evaluation<R>['text'] {
    let reader = this.#readers[slot];
    if (reader === undefined) {
      reader = (r) => this.fresh(r, slot) ?? '';
      this.#readers[slot] = reader;
    }
    return reader;
  }

  /** What evaluates a text with variables of this table, if such a text was there before. */
  evaluation(text: string): Evaluation<R>['text'] | undefined {
    return this.#evaluations.get(text);
  }

  /** Keeps what evaluates a text: thousands of locations may have the same few. */
  remember<E extends (r: never) => string>(text: string, evaluation: E): E {
    if (this.#evaluations.size < MANY_TEXTS) {
      this.#evaluations.set(text, evaluation as unknown as Evaluation<R>['text']);
    }
    return evaluation;
  }

  /** Assigns a variable, as `set` does. */
  assign(r: R, slot: number, value: string): void {
    const variable = this.#bound[slot]!;
    if (variable.set !== undefined) {
      variable.set(r, value);
    } else {
      r.vars[slot] = value;
    }
  }

  /** Assigns a variable whose name, in lower case, is known only now. False when there is none, or it cannot be assigned. */
  assignNamed(r: R, name: string, value: string): boolean {
    const variable = this.#defined.get(name);
    if (variable === undefined || (variable.set === undefined && !variable.changeable)) {
      return false;
    }
    const slot = this.#slots.get(name);
    if (slot !== undefined) {
      this.assign(r, slot, value);
    } else {
      variable.set?.(r, value);
    }
    return true;
  }

  /**
   * Gives any variable that the configuration names a value for the rest of the request, as scripts do; `name` is in lower case. Returns
   * why not when it cannot. nginx: ngx_http_js_ext_set_variable.
   */
  override(r: R, name: string, value: string): 'unknown' | 'not writable' | undefined {
    const slot = this.#slots.get(name);
    const variable = this.#defined.get(name);
    if (variable === undefined) {
      // Those of a prefix, such as `arg_name`, are no variables of their own.
      return 'unknown';
    }
    if (variable.set !== undefined) {
      variable.set(r, value);
      return undefined;
    }
    if (slot === undefined) {
      return 'not writable';
    }
    r.vars[slot] = value;
    if (variable.cacheable === false) {
      r.pinned ??= new Set();
      r.pinned.add(slot);
    }
    return undefined;
  }

  #evaluate(r: R, slot: number): string | undefined {
    const variable = this.#bound[slot]!;
    const value = this.#compute(r, variable, this.#names[slot]!, this.#suffixes[slot]!);
    if (variable.cacheable !== false && r.evaluating < MAX_DEPTH) {
      r.vars[slot] = value === undefined ? null : value;
    }
    return value;
  }

  #compute(r: R, variable: Variable<R>, name: string, suffix: string): string | undefined {
    if (r.evaluating >= MAX_DEPTH) {
      this.#reports.cycle(r, name);
      return undefined;
    }
    r.evaluating++;
    const value = variable.get(r, suffix);
    r.evaluating--;
    return value;
  }
}
