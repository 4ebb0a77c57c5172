import type { CompiledRegex } from '../regex/compile.js';
import type { ComplexValue } from '../value/complex.js';
import { ComplexValueError, compileComplex } from '../value/complex.js';
import type { RegexValue } from '../value/regex-value.js';
import { bindRegex } from '../value/regex-value.js';
import type { Subject } from '../value/subject.js';
import type { VariableTable } from '../value/variables.js';
import type { ZoneKind, ZoneRef } from '../zone/kind.js';
import { checkArgs } from './arity.js';
import { Block } from './block.js';
import { In } from './context.js';
import type { ConfigContext, FailOptions, HostOptions, HostRef, LevelName, Scope } from './define.js';
import { ConfigError, type Diagnostic, directiveError, syntaxError } from './errors.js';
import { misplacedHint, semicolonHint, unitHint } from './hints.js';
import { argPosition, type DirectiveNode, type Node, type Pos } from './language/ast.js';
import { LinesDirective, SimpleLines } from './language/simple-lines.js';
import type { NamedFiles } from './named-files.js';
import { resolvePath } from './paths.js';
import type { Provenance } from './provenance.js';
import { type Registry, type Row, rowIn } from './registry.js';
import { SharedValues } from './shared-values.js';
import type { Sources } from './sources.js';
import { ZoneTable } from './zone-table.js';

/** What `apply` fills: the tree of blocks and everything named along the way. */
export class ConfigBuilder<R extends Subject> {
  readonly root = new Block(In.MAIN, undefined, undefined, undefined);
  readonly errors: ConfigError[] = [];
  readonly warnings: Diagnostic[] = [];
  readonly zones = new ZoneTable();
  /** `errors`: how many had been found when the host was read, so that one of its own takes its place in the order of the text. */
  readonly hosts: { ref: HostRef; what: string; options: HostOptions; errors: number }[] = [];
  readonly sources: Sources;
  readonly registry: Registry<R>;
  /** Variables of `http` and of `stream`; the root has none of its own and lends those of `http`. */
  readonly tables: { readonly http: VariableTable<R>; readonly stream: VariableTable<R> };
  readonly prefix: string;
  readonly confPrefix: string;
  compatible = false;
  /** The port of `dev_port`, and the one that it stands for, which the first `listen` names. */
  devPort: { readonly port: number; insteadOf: number | undefined } | undefined = undefined;
  /** Log files and folders that the configuration needs, by full path. */
  readonly logFiles = new Set<string>();
  readonly folders = new Set<string>();
  readonly shared = new SharedValues<R>();
  /** Workers keep the right to send from addresses of others. */
  transparent = false;
  /** The `load_module` directives and the unknown directives, in the order of the text. */
  readonly natives: { readonly node: DirectiveNode; readonly path: string }[] = [];
  readonly unknown: DirectiveNode[] = [];
  /** Learns which directive wrote which setting; undefined where nobody asks. */
  readonly provenance: Provenance | undefined;

  constructor(
    registry: Registry<R>,
    sources: Sources,
    prefix: string,
    confPrefix: string,
    tables: { http: VariableTable<R>; stream: VariableTable<R> },
    provenance?: Provenance,
  ) {
    this.provenance = provenance;
    this.registry = registry;
    this.sources = sources;
    this.prefix = prefix;
    this.confPrefix = confPrefix;
    this.tables = tables;
  }
}

/** Reads nodes into a block, in file order. Errors are collected, so that the ones that follow are shown too. */
export function applyNodes<R extends Subject>(draft: ConfigBuilder<R>, block: Block, nodes: readonly Node[]): void {
  for (const node of nodes) {
    if ('syntaxError' in node) {
      draft.errors.push(syntaxError(node));
      continue;
    }
    try {
      applyDirective(draft, block, node);
    } catch (error) {
      if (!(error instanceof ConfigError)) {
        throw error;
      }
      draft.errors.push(explained(draft, node, error));
    }
  }
}

/** An error in a directive that goes on where another one begins says so; whatever else is wrong with it then follows from that. */
function explained<R extends Subject>({ registry }: ConfigBuilder<R>, node: DirectiveNode, error: ConfigError): ConfigError {
  const hint = semicolonHint(node, (name) => registry.rows(name) !== undefined);
  return hint === undefined ? error : new ConfigError(error.message, error.pos, { ...error, hint });
}

/** Where nginx says an error is: the line on which the directive ended. */
function place(node: DirectiveNode, arg?: number): Pos {
  const at = arg === undefined ? undefined : argPosition(node, arg);
  return { file: node.pos.file, line: node.endLine, column: at?.[1] ?? node.pos.column };
}

function fail(node: DirectiveNode, message: string, options?: FailOptions): never {
  throw directiveError(node, message, options);
}

// nginx: ngx_conf_handler, whose order of checks decides which message a wrong line gets.
function applyDirective<R extends Subject>(draft: ConfigBuilder<R>, block: Block, node: DirectiveNode): void {
  if (node.name === 'include') {
    applyInclude(node, (nodes) => applyNodes(draft, block, nodes), draft.sources);
    return;
  }
  const rows = draft.registry.rows(node.name);
  const row = rowIn(rows, block.context);
  if (row === undefined) {
    if (rows === undefined) {
      draft.unknown.push(node);
      const hint = draft.registry.hintFor(node.name);
      fail(node, `unknown directive "${node.name}"`, hint === undefined ? undefined : { hint });
    }
    const contexts = rows.reduce((bits, r) => bits | r.directive.in, 0);
    fail(node, `"${node.name}" directive is not allowed here`, { hint: misplacedHint(node, contexts, block) });
  }
  const { directive } = row;
  const hasBlock = node instanceof LinesDirective || node.block !== undefined;
  if (directive.block === undefined && hasBlock) {
    fail(node, `directive "${node.name}" is not terminated by ";"`);
  }
  if (directive.block !== undefined && !hasBlock) {
    fail(node, `directive "${node.name}" has no opening "{"`);
  }
  checkArgs(node, directive.args);
  const owner = ownerOf(block, draft.registry.scopes[row.scope]!.level);
  const { provenance } = draft;
  if (provenance === undefined) {
    directive.set(written(owner, row.scope), node, new DirectiveContext(draft, block, node));
  } else {
    watchDirective(draft, block, node, row, owner, provenance);
  }
  block.see(node);
}

// A function of its own: V8 keeps what a closure needs in an object, which each call of the function around it would make.
function watchDirective<R extends Subject>(
  draft: ConfigBuilder<R>,
  block: Block,
  node: DirectiveNode,
  { directive, scope }: Row<R>,
  owner: Block,
  provenance: Provenance,
): void {
  const watched = provenance.watch(owner, scope, written(owner, scope));
  provenance.during(node, block, directive, () => directive.set(watched, node, new DirectiveContext(draft, block, node)));
}

/** Follows an `include` line. Lines of included files stand for the line itself. */
export function applyInclude(node: DirectiveNode, use: (nodes: readonly Node[]) => void, sources: Sources): void {
  eachIncluded(node, sources, (file, from) => use(sources.parse(file, from)));
}

function eachIncluded(node: DirectiveNode, sources: Sources, use: (file: string, from: Pos) => void): void {
  if (node.block !== undefined) {
    fail(node, 'directive "include" is not terminated by ";"');
  }
  checkArgs(node, 1);
  const from = place(node);
  for (const file of sources.include(node.args[0]!, from)) {
    use(file, from);
  }
}

const SERVER_LEVEL: number = In.HTTP | In.SERVER | In.STREAM | In.STREAM_SERVER;
const MAIN_LEVEL: number = In.HTTP | In.STREAM;

/** The block whose settings of a level a directive in `block` writes. */
function ownerOf(block: Block, level: LevelName): Block {
  let owner = block;
  if (level === 'process') {
    while (owner.parent !== undefined) {
      owner = owner.parent;
    }
  } else if (level === 'main') {
    while ((owner.context & MAIN_LEVEL) === 0 && owner.parent !== undefined) {
      owner = owner.parent;
    }
  } else if (level === 'server') {
    while ((owner.context & SERVER_LEVEL) === 0 && owner.parent !== undefined) {
      owner = owner.parent;
    }
  }
  return owner;
}

function written(block: Block, scope: number): Record<string, unknown> {
  return block.written(scope) ?? block.write(scope);
}

/** The variable table that a block's text refers to. */
export function tableOf<R extends Subject>(draft: ConfigBuilder<R>, block: Block): VariableTable<R> {
  return (block.context & (In.STREAM | In.STREAM_SERVER | In.STREAM_UPSTREAM)) !== 0 ? draft.tables.stream : draft.tables.http;
}

/** Adds how the argument at fault is to be written, where its unit is one that nginx does not know. */
function withUnitHint(node: DirectiveNode, options: FailOptions = {}): FailOptions {
  if (options.hint !== undefined) {
    return options;
  }
  const hint =
    options.arg === undefined ? node.args.map(unitHint).find((found) => found !== undefined) : unitHint(node.args[options.arg] ?? '');
  return hint === undefined ? options : { ...options, hint };
}

/** What `set` functions are given: of every directive one, so that its methods are a class's rather than closures. */
class DirectiveContext<R extends Subject> implements ConfigContext<R> {
  readonly block: Block;
  readonly compatible: boolean;
  /** The directive that messages are about; in a free-form body it moves from line to line. */
  node: DirectiveNode;
  readonly #draft: ConfigBuilder<R>;

  constructor(draft: ConfigBuilder<R>, block: Block, node: DirectiveNode) {
    this.#draft = draft;
    this.block = block;
    this.node = node;
    this.compatible = draft.compatible;
  }

  get variables(): VariableTable<R> {
    return tableOf(this.#draft, this.block);
  }

  get named(): NamedFiles {
    return this.#draft.sources.named;
  }

  nativeModule(path: string): void {
    this.#draft.natives.push({ node: this.node, path });
  }

  setCompatible(on: boolean): void {
    this.#draft.compatible = on;
  }

  setDevPort(port: number): void {
    this.#draft.devPort = { port, insteadOf: undefined };
  }

  portFor(port: number): number {
    const { devPort } = this.#draft;
    if (devPort === undefined) {
      return port;
    }
    devPort.insteadOf ??= port;
    return devPort.insteadOf === port
      ? devPort.port
      : this.fail(`"dev_port" stands for one port, and there are two, ${devPort.insteadOf} and ${port}`);
  }

  fail(message: string, options?: FailOptions): never {
    fail(this.node, message, withUnitHint(this.node, options));
  }

  reject(message: string, options?: FailOptions): never {
    const { name } = this.node;
    const earlier = message === 'is duplicate' ? this.block.seen(name) : undefined;
    const related = earlier === undefined ? options : { ...options, related: [{ pos: place(earlier), text: 'it was set here before' }] };
    fail(this.node, `"${name}" directive ${message}`, withUnitHint(this.node, related));
  }

  warn(message: string, options?: FailOptions): void {
    this.#draft.warnings.push({
      level: 'warn',
      message,
      pos: place(this.node, options?.arg),
      ...(options?.hint === undefined ? {} : { hint: options.hint }),
    });
  }

  complex(text: string): ComplexValue<R> {
    if (!text.includes('$')) {
      return this.#draft.shared.constant(text);
    }
    try {
      return compileComplex(text, this.variables, place(this.node));
    } catch (error) {
      if (!(error instanceof ComplexValueError)) {
        throw error;
      }
      return fail(this.node, error.message, { arg: Math.max(this.node.args.indexOf(text), 0) });
    }
  }

  regex(pattern: string, caseless: boolean): RegexValue<R> {
    let compiled: CompiledRegex;
    try {
      compiled = this.#draft.shared.regex(pattern, caseless);
    } catch (error) {
      return fail(this.node, (error as Error).message);
    }
    const bound = bindRegex(compiled, this.variables, pattern);
    return typeof bound === 'string' ? fail(this.node, `the duplicate "${bound}" variable`) : bound;
  }

  zone<Z, D>(kind: ZoneKind<Z, D>, name: string, define?: { readonly bytes: number; readonly data: D }): ZoneRef<Z, D> {
    const result = this.#draft.zones.name(kind, name, place(this.node), define);
    return typeof result === 'string' ? fail(this.node, result) : result;
  }

  host(host: string, what: string, options: HostOptions = {}): HostRef {
    const ref: HostRef = { host, pos: place(this.node), addresses: [] };
    this.#draft.hosts.push({ ref, what, options, errors: this.#draft.errors.length });
    return ref;
  }

  conf<C extends object>(scope: Scope<C, R>): Partial<C> {
    const { registry, provenance } = this.#draft;
    const { level, number } = registry.numbered(scope);
    const owner = ownerOf(this.block, level);
    const conf = written(owner, number);
    return (provenance === undefined || owner !== this.block ? conf : provenance.watch(owner, number, conf)) as Partial<C>;
  }

  openBlock(opened: DirectiveNode, context: number, info?: unknown): Block {
    const inner = new Block(context, this.block, opened, info);
    applyNodes(this.#draft, inner, opened.block ?? []);
    return inner;
  }

  entries(opened: DirectiveNode, entry: (node: DirectiveNode, ctx: ConfigContext<R>) => void): void {
    this.#walk(opened instanceof LinesDirective ? opened.lines : (opened.block ?? []), entry);
  }

  fileLines(path: string, entry: (node: DirectiveNode, ctx: ConfigContext<R>) => void): void {
    let nodes: readonly Node[];
    try {
      nodes = this.#draft.sources.parse(path, place(this.node));
    } catch (error) {
      if (error instanceof ConfigError && error.message.endsWith('(2: No such file or directory)')) {
        return;
      }
      throw error;
    }
    this.#walk(nodes, entry);
  }

  #walk(lines: readonly Node[] | SimpleLines, entry: (node: DirectiveNode, ctx: ConfigContext<R>) => void): void {
    const { sources } = this.#draft;
    const lineContext = new DirectiveContext(this.#draft, this.block, this.node);
    const use = (line: DirectiveNode): void => {
      if (line.name === 'include' && line.args.length === 1) {
        eachIncluded(line, sources, (file, from) => walk(sources.lines(file, from) ?? sources.parse(file, from)));
      } else if (line.block !== undefined) {
        fail(line, 'unexpected "{"');
      } else {
        lineContext.node = line;
        entry(line, lineContext);
      }
    };
    const walk = (nodes: readonly Node[] | SimpleLines): void => {
      if (nodes instanceof SimpleLines) {
        nodes.each(use);
        return;
      }
      for (const line of nodes) {
        if ('syntaxError' in line) {
          throw syntaxError(line);
        }
        use(line);
      }
    };
    walk(lines);
  }

  logFile(path: string): void {
    this.#draft.logFiles.add(path);
  }

  transparent(): void {
    this.#draft.transparent = true;
  }

  folder(path: string): void {
    this.#draft.folders.add(path);
  }

  path(path: string, base?: 'prefix' | 'conf'): string {
    return resolvePath(path, base === 'conf' ? this.#draft.confPrefix : this.#draft.prefix);
  }
}
