import type { Block } from '../../../shared/config/block.js';
import type { DirectiveNode, Node, Pos } from '../../../shared/config/language/ast.js';
import type { HttpRuntime, LocationRuntime } from '../request/http-runtime.js';
import type { TraceKind, TraceStep, TraceWhere } from '../request/trace.js';

/** A step of a trace with its place in the configuration. */
export interface PlacedStep {
  readonly kind: TraceKind;
  /** A sentence, latin1. */
  readonly text: string;
  /** The file and line that made it so, where one did. */
  readonly file: string | undefined;
  readonly line: number | undefined;
  /** Milliseconds since the request began. */
  readonly ms: number;
  /** How deep the subrequest is whose step this is; 0: the client's own request. */
  readonly depth: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Finds the lines of the configuration that steps of traces are about. */
export class TracePlaces {
  readonly #blocks = new Map<LocationRuntime, Block>();
  readonly #included: (node: DirectiveNode) => readonly Node[];

  /** `included` gives the lines that an `include` stands for; without it, lines of included files are not found by their names. */
  constructor(http: HttpRuntime, included: (node: DirectiveNode) => readonly Node[] = () => []) {
    this.#included = included;
    for (const [block, location] of http.locationOf) {
      this.#blocks.set(location, block);
    }
  }

  /** The steps with their places. */
  placed(steps: readonly TraceStep[]): PlacedStep[] {
    return steps.map(({ kind, text, ms, depth, where, data }) => {
      const pos = this.find(where);
      return { kind, text, file: pos?.file, line: pos?.line, ms, depth, data };
    });
  }

  /** A location as it is written after the word. */
  locationName(location: LocationRuntime): string {
    const outer = location.info.kind === 'nameless' ? location.parent : undefined;
    if (outer !== undefined) {
      return this.locationName(outer);
    }
    const node = this.#blocks.get(location)?.node;
    return node?.name === 'location' ? node.args.join(' ') : '';
  }

  /** Where something is written. */
  find(where: TraceWhere): Pos | undefined {
    if (where === undefined || 'line' in where) {
      return where;
    }
    const { directive, first } = where;
    for (let block = this.#blocks.get(where.in); block?.node !== undefined; block = block.parent) {
      if (directive === undefined) {
        return block.node.pos;
      }
      // Directives of one name at an inner level put those of outer levels out of force.
      const all = this.#search(block.node.block ?? [], directive);
      if (all.length > 0) {
        return (first === undefined ? all : all.filter(({ args }) => args[0]?.toLowerCase() === first.toLowerCase())).at(-1)?.pos;
      }
    }
    return undefined;
  }

  /** The directives of a name among the lines of a block and of the files that it includes. */
  #search(nodes: readonly Node[], name: string): DirectiveNode[] {
    const found: DirectiveNode[] = [];
    for (const node of nodes) {
      if ('syntaxError' in node) {
        continue;
      }
      if (node.name === name) {
        found.push(node);
      } else if (node.name === 'include' && node.args.length === 1) {
        found.push(...this.#search(this.#included(node), name));
      }
    }
    return found;
  }
}
