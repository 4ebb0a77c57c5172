import type { Block } from '../../shared/config/block.js';
import type { DirectiveNode, Node, Pos } from '../../shared/config/language/ast.js';
import type { Sources } from '../../shared/config/sources.js';
import type { HttpRuntime, LocationRuntime } from '../http/request/http-runtime.js';
import type { TraceKind, TraceStep, TraceWhere } from '../http/request/trace.js';
import type { BackendRequest } from './stub-backend.js';

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

/** A header field, and the line that made it. */
export interface PlacedField {
  readonly name: string;
  readonly value: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
}

/** Finds the lines of the configuration that steps of traces are about. */
export class TracePlaces {
  readonly #blocks = new Map<LocationRuntime, Block>();
  readonly #sources: Sources;

  constructor(http: HttpRuntime, sources: Sources) {
    this.#sources = sources;
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

  /** The fields of a request to a backend, each with the line that sets it. `where`: the line that passes the request on. */
  fields(where: TraceWhere, { protocol, headers }: BackendRequest): PlacedField[] {
    const passing = where !== undefined && 'in' in where ? where : undefined;
    const module = passing?.directive?.replace(/_pass$/, '');
    const directive = `${module}_${protocol === 'http' || protocol === 'http2' ? 'set_header' : 'param'}`;
    return headers.map(([name, value]) => {
      const pos = module === undefined ? undefined : this.find({ in: passing!.in, directive, first: name });
      return { name, value, file: pos?.file, line: pos?.line };
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
        for (const file of this.#sources.include(node.args[0]!, node.pos)) {
          found.push(...this.#search(this.#sources.parse(file, node.pos), name));
        }
      }
    }
    return found;
  }
}
