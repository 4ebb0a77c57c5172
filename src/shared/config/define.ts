import type { ComplexValue } from '../value/complex.js';
import type { RegexValue } from '../value/regex-value.js';
import type { Subject } from '../value/subject.js';
import type { VariableTable } from '../value/variables.js';
import type { ZoneKind, ZoneRef } from '../zone/kind.js';
import type { Block } from './block.js';
import type { DirectiveNode, Pos, RelatedPosition } from './language/ast.js';
import type { NamedFiles } from './named-files.js';
import type { ZoneTable } from './zone-table.js';

/**
 * How many arguments a directive takes: `flag` is one that must be `on` or `off`, a number is exactly that many, a list
 * any of them, and `min`/`max` a range. Checked before `set` runs, with nginx's messages.
 */
export type Arity = 'flag' | 'any' | number | readonly number[] | { readonly min: number; readonly max?: number };

/** One row of a directive table. `C` is the settings object of the scope that holds the row. */
export interface Directive<C, R extends Subject> {
  /** Bit set of {@link In}: the contexts where it may stand. */
  readonly in: number;
  readonly args: Arity;
  /** `directives`: a block of directives; `entries`: a free-form body such as that of `map`; absent: ends in `;`. */
  readonly block?: 'directives' | 'entries';
  /** Stores the arguments in the settings of the enclosing block. May call `ctx.fail` or `ctx.reject`. */
  readonly set: (conf: Partial<C>, node: DirectiveNode, ctx: ConfigContext<R>) => void;
}

/** A setting's default, and how an inner block inherits the outer block's value. */
export interface SettingField<T> {
  readonly initial: T;
  readonly merge: (parent: T, child: T | undefined) => T;
}

/** The rule of {@link inherit}: one function for all fields, so that merging can tell a block that says nothing of its own. */
export const takeOver = (parent: unknown, child: unknown): unknown => (child === undefined ? parent : child);

/** A field whose inner value replaces the outer one; the commonest rule. */
export const inherit = <T>(initial: T): SettingField<T> => ({ initial, merge: takeOver as SettingField<T>['merge'] });

/** A field that inner blocks do not take over. */
export const own = <T>(initial: T): SettingField<T> => ({ initial, merge: (_parent, child) => (child === undefined ? initial : child) });

/** What a custom merge or finish step knows about the block it works on. */
export interface MergeContext {
  readonly context: number;
  /** The block is an `if` or a `limit_except`, which continues its location rather than being one of its own. */
  readonly nameless: boolean;
  readonly block: Block;
  /** Folder that relative paths start from, with its slash. */
  readonly prefix: string;
}

/** The settings of one module at one level. */
export interface Scope<C extends object, R extends Subject> {
  readonly fields: { readonly [K in keyof C]: SettingField<C[K]> };
  readonly directives: { readonly [name: string]: Directive<NoInfer<C>, R> };
  /**
   * Runs on each merged settings object, outermost first, for values that depend on several fields. Blocks of one context that set
   * nothing in the scope share one settings object, so `finish` may use the block only where something is set.
   */
  readonly finish?: (conf: C, parent: Readonly<NoInfer<C>> | undefined, place: MergeContext) => void;
  /** Checks across settings once all is read and merged; the last place that may fail, but for `linkLast`. */
  readonly link?: (conf: Readonly<NoInfer<C>>, ctx: LinkContext<R>, place: MergeContext) => void;
  /** Links after the `link` of all blocks, for what nginx checks when a block and all in it is done. */
  readonly linkLast?: (conf: Readonly<NoInfer<C>>, ctx: LinkContext<R>, place: MergeContext) => void;
}

/** The levels at which a module can keep settings. `upstream` is one `upstream {}` block. */
export type LevelName = 'process' | 'main' | 'server' | 'location' | 'upstream';

/** What every table of directives has in common, whichever protocol it serves. */
export interface ModuleScopes<R extends Subject> {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: each scope has its own settings type; the registry only stores it
  readonly scopes: readonly { readonly level: LevelName; readonly scope: Scope<any, R> }[];
}

/** A host whose addresses are known once the configuration is linked: literals at once, names by DNS in the master. */
export interface HostRef {
  readonly host: string;
  readonly pos: Pos | undefined;
  /** Numeric addresses (IPv4 or IPv6 text), filled in before `link`. */
  addresses: readonly string[];
}

/** Fine points of a host that a directive names. */
export interface HostOptions {
  /** How a message shows the host; it may have a port there. */
  readonly shown?: string;
  /** The whole message for a host that is not found. */
  readonly message?: string;
  /** What a person may do about a name that is not found. */
  readonly hint?: string;
  /** Asked once the whole configuration is read: a name that turned out to be something else is not looked up. */
  readonly needed?: () => boolean;
}

/** What `set` functions can ask for. Every method that fails throws a ConfigError at the directive. */
export interface ConfigContext<R extends Subject> {
  readonly node: DirectiveNode;
  readonly block: Block;
  /** Fails with the message as it is. `arg` (0-based) moves the caret to that argument. */
  fail(message: string, options?: FailOptions): never;
  /** Fails with nginx's form `"NAME" directive MESSAGE`. */
  reject(message: string, options?: FailOptions): never;
  warn(message: string, options?: FailOptions): void;
  /** Compiles text with variables. nginx: ngx_http_compile_complex_value. */
  complex(text: string): ComplexValue<R>;
  /** Compiles a regular expression; its named groups become variables. nginx: ngx_http_regex_compile. */
  regex(pattern: string, caseless: boolean): RegexValue<R>;
  /** The variables of the protocol block around the directive (`http` or `stream`). */
  readonly variables: VariableTable<R>;
  /** Names a shared zone; with `define` it also sets its size and data. */
  zone<Z, D>(kind: ZoneKind<Z, D>, name: string, define?: { readonly bytes: number; readonly data: D }): ZoneRef<Z, D>;
  /** A host name or literal, resolved before `link`. `what` names it in `host not found in WHAT "HOST"`. */
  host(host: string, what: string, options?: HostOptions): HostRef;
  /** The unmerged settings of another scope that this directive's block writes to. */
  conf<C extends object>(scope: Scope<C, R>): Partial<C>;
  /** Makes a block and reads the directive's body into it. */
  openBlock(node: DirectiveNode, context: number, info?: unknown): Block;
  /** Reads a free-form body (`map`, `types`), following `include` lines; `entry` gets each line, and a context that fails there. */
  entries(node: DirectiveNode, entry: (node: DirectiveNode, ctx: ConfigContext<R>) => void): void;
  /** Reads the lines of another file; one that is not there has none. */
  fileLines(path: string, entry: (node: DirectiveNode, ctx: ConfigContext<R>) => void): void;
  /** A path as nginx completes it: relative to the prefix, or with `conf` to the main file's folder. */
  path(path: string, base?: 'prefix' | 'conf'): string;
  /** Reads files that belong to the configuration. */
  readonly named: NamedFiles;
  /** Names a log file that the master opens at start and on reopening. */
  logFile(path: string): void;
  /** Names a folder that the master creates, and gives to the workers' user. */
  folder(path: string): void;
  /** Asks for workers that may send from addresses of others. */
  transparent(): void;
  /** Asks for a native module by its full path: whether it can be done without shows when all is read. */
  nativeModule(path: string): void;
  /** `nginx_compatibility on` stands above. */
  readonly compatible: boolean;
  setCompatible(on: boolean): void;
  /** From now on this port stands for the one that `listen` names. */
  setDevPort(port: number): void;
  /** The port to listen on where the configuration names this one: another with `dev_port`, which fails at a second port. */
  portFor(port: number): number;
}

export interface FailOptions {
  /** Which argument (0-based) is at fault. */
  readonly arg?: number;
  /** What to write instead. */
  readonly hint?: string;
  /** Another place that belongs to the story, such as the earlier duplicate. */
  readonly related?: readonly { readonly pos: Pos; readonly text: string }[];
}

/** What `link` functions can ask for. */
export interface LinkContext<R extends Subject> {
  /** Fails at the block that is being linked, at `pos`, or with null without a place, where nginx's message holds it. */
  fail(message: string, pos?: Pos | null, related?: readonly RelatedPosition[]): never;
  /** Warns there; with null the message has no place, and `related` shows where to look. */
  warn(message: string, pos?: Pos | null, related?: readonly RelatedPosition[]): void;
  /** Fails because nothing defines a zone, and says what may be meant. */
  unknownZone(message: string, zone: ZoneRef<unknown, unknown>, pos: Pos | undefined): never;
  readonly variables: VariableTable<R>;
  readonly zones: ZoneTable;
  /** Reads files that belong to the configuration. */
  readonly named: NamedFiles;
  /** The merged settings of a scope at any block. */
  settings<C extends object>(scope: Scope<C, R>, block: Block): Readonly<C>;
  /** See {@link ConfigContext.logFile}. */
  logFile(path: string): void;
  /** See {@link ConfigContext.folder}. */
  folder(path: string): void;
  /** True in the master: files may be opened and checked there; a worker trusts the master's checks. */
  readonly checking: boolean;
  /** True when the configuration is only tested (`-t`): what a worker would run at its start may be run. */
  readonly testing: boolean;
}
