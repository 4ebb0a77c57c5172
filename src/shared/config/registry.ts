import type { Subject } from '../value/subject.js';
import { HTTP_CONTEXTS, STREAM_CONTEXTS } from './context.js';
import { type Directive, type LevelName, type Scope, type SettingField, takeOver } from './define.js';
import { foreignText } from './foreign.js';
import type { Language } from './language-contract.js';
import { suggest } from './suggest.js';

/** One directive row with the scope it writes to. */
export interface Row<R extends Subject> {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: rows of all modules stand in one table
  readonly directive: Directive<any, R>;
  readonly scope: number;
  readonly module: string;
}

/** One scope with its number, which indexes the settings of every block. */
export interface NumberedScope<R extends Subject> {
  // biome-ignore lint/suspicious/noExplicitAny: settings of all modules stand in one table
  readonly scope: Scope<any, R>;
  readonly level: LevelName;
  readonly number: number;
  readonly module: string;
  /** The contexts of `http` and of `stream` whose blocks have such settings: a scope without directives there is none of theirs. */
  readonly contexts: number;
  /**
   * The defaults, to be copied. Copies are structures with a fixed layout for V8; of an object that is filled name by name it makes a
   * hash table, which costs at every look at a setting.
   */
  readonly initial: Readonly<Record<string, unknown>>;
  /** The settings that inner blocks take over as they are, and those that have a rule of their own. */
  readonly inherited: ReadonlySet<string>;
  readonly rules: readonly (readonly [string, SettingField<unknown>])[];
  /** A block in which nothing is written has the very settings of the block around it. */
  readonly takenOver: boolean;
}

/** All modules' tables in one: which directives there are, and which settings each block has. */
export class Registry<R extends Subject> {
  readonly scopes: NumberedScope<R>[] = [];
  readonly #levels: { [level in LevelName]: NumberedScope<R>[] } = { process: [], main: [], server: [], location: [], upstream: [] };
  readonly #rows = new Map<string, Row<R>[]>();
  // biome-ignore lint/suspicious/noExplicitAny: looked up by identity only
  readonly #numbers = new Map<Scope<any, R>, NumberedScope<R>>();
  readonly #language: Pick<Language<R>, 'missingModule' | 'missingInstead' | 'foreignDirective'>;

  constructor(language: Pick<Language<R>, 'modules' | 'missingModule' | 'missingInstead' | 'foreignDirective'>) {
    this.#language = language;
    for (const module of language.modules) {
      for (const { level, scope } of module.scopes) {
        const fields = Object.entries<SettingField<unknown>>(scope.fields);
        const initial = Object.fromEntries(fields.map(([name, { initial }]) => [name, initial]));
        const rules = fields.filter(([, { merge }]) => merge !== takeOver);
        const inherited = new Set(fields.filter(([, { merge }]) => merge === takeOver).map(([name]) => name));
        const takenOver = scope.finish === undefined && rules.length === 0;
        const contexts = contextsOf(scope);
        const numbered = { scope, level, number: this.scopes.length, module: module.name, contexts, initial, inherited, rules, takenOver };
        this.scopes.push(numbered);
        this.#levels[level].push(numbered);
        this.#numbers.set(scope, numbered);
        for (const [name, directive] of Object.entries(scope.directives)) {
          const rows = this.#rows.get(name);
          const row = { name, directive, scope: numbered.number, module: module.name };
          if (rows === undefined) {
            this.#rows.set(name, [row]);
          } else {
            rows.push(row);
          }
        }
      }
    }
  }

  /** The scopes of a level, in registry order. */
  at(level: LevelName): readonly NumberedScope<R>[] {
    return this.#levels[level];
  }

  /** Every row of a name, in registry order: the same name may mean different things in different contexts. */
  rows(name: string): readonly Row<R>[] | undefined {
    return this.#rows.get(name);
  }

  /** The names of all directives. */
  names(): Iterable<string> {
    return this.#rows.keys();
  }

  /** The hint for an unknown directive: that nginx has it, or which directive may be meant. */
  hintFor(name: string): string | undefined {
    const module = this.#language.missingModule(name);
    if (module !== undefined) {
      const instead = this.#language.missingInstead(name);
      return `\`${name}\` is of ${module}, which sluice does not have${instead === '' ? '' : `; ${instead}`}`;
    }
    const foreign = this.#language.foreignDirective(name);
    if (foreign !== undefined) {
      return `\`${name}\` is of ${foreignText(foreign)}`;
    }
    const visible = name.replace(/[^\x21-\x7e]/g, '');
    if (visible !== name && this.#rows.has(visible)) {
      return `write \`${visible}\`: there are characters beside it that may look like spaces, but are none`;
    }
    const meant = this.suggest(name);
    return meant === undefined ? undefined : `did you mean \`${meant}\`?`;
  }

  /** The directive that may be meant by a name that is in no row. */
  suggest(name: string): string | undefined {
    return suggest(name, this.#rows.keys());
  }

  /** The number of a scope. Throws when its module is not registered, which is a programming error. */
  numbered<C extends object>(scope: Scope<C, R>): NumberedScope<R> {
    const found = this.#numbers.get(scope);
    if (found === undefined) {
      throw new Error('scope of an unregistered module');
    }
    return found;
  }
}

/** A scope with directives in one protocol only is not for the blocks of the other; one without any is for both. */
function contextsOf<R extends Subject>({ directives }: Scope<object, R>): number {
  const all = Object.values<Directive<object, R>>(directives).reduce((bits, row) => bits | row.in, 0);
  const http = (all & HTTP_CONTEXTS) !== 0;
  const stream = (all & STREAM_CONTEXTS) !== 0;
  return ~((http || !stream ? 0 : HTTP_CONTEXTS) | (stream || !http ? 0 : STREAM_CONTEXTS));
}

/** The row of a name in a context: what a block of another module may call by the same name. */
export function rowIn<R extends Subject>(rows: readonly Row<R>[] | undefined, context: number): Row<R> | undefined {
  for (let i = 0; rows !== undefined && i < rows.length; i++) {
    if ((rows[i]!.directive.in & context) !== 0) {
      return rows[i];
    }
  }
  return undefined;
}
