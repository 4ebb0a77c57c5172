import type { LocationRuntime } from './http-runtime.js';

interface PrefixNode {
  readonly name: string;
  readonly location: LocationRuntime;
  /** The longest other prefix that this one starts with. */
  readonly shorter: PrefixNode | undefined;
}

/** Of a tree that has none: there may be thousands of trees. */
const NONE: ReadonlyMap<string, LocationRuntime> = new Map();

/**
 * The locations of a server, or those nested in one, made ready for look-up: exact ones in a map, prefixes sorted for
 * binary search with links to their shorter kin, regular expressions in file order. Cost grows with the logarithm of
 * the number of prefixes. nginx: ngx_http_init_static_location_trees.
 */
export class LocationTree {
  readonly regexes: readonly LocationRuntime[];
  /** All of them in the order of the file, for traces. */
  readonly all: readonly LocationRuntime[];
  readonly #exact: ReadonlyMap<string, LocationRuntime>;
  readonly #prefixes: PrefixNode[] = [];
  /** Locations `/x/` that answer `/x` with a redirect, under `/x`. */
  readonly #redirects: ReadonlyMap<string, LocationRuntime>;

  constructor(locations: readonly LocationRuntime[]) {
    this.all = locations;
    const prefixes: LocationRuntime[] = [];
    const regexes: LocationRuntime[] = [];
    const exact: [string, LocationRuntime][] = [];
    const redirects: [string, LocationRuntime][] = [];
    for (const location of locations) {
      const { kind, name } = location.info;
      if (kind === 'exact') {
        exact.push([name, location]);
      } else if (kind === 'regex') {
        regexes.push(location);
      } else if (kind === 'prefix' || kind === 'prefix-final') {
        prefixes.push(location);
      }
    }
    this.regexes = regexes;
    prefixes.sort((a, b) => (a.info.name < b.info.name ? -1 : a.info.name > b.info.name ? 1 : 0));
    const open: PrefixNode[] = [];
    for (const location of prefixes) {
      const name = location.info.name;
      if (location.info.autoRedirect && name.endsWith('/')) {
        redirects.push([name.slice(0, -1), location]);
      }
      while (open.length > 0 && !name.startsWith(open[open.length - 1]!.name)) {
        open.pop();
      }
      const node = { name, location, shorter: open[open.length - 1] };
      open.push(node);
      this.#prefixes.push(node);
    }
    this.#exact = exact.length === 0 ? NONE : new Map(exact);
    this.#redirects = redirects.length === 0 ? NONE : new Map(redirects);
  }

  /** True when nothing is in it. */
  get empty(): boolean {
    return this.#exact.size === 0 && this.#prefixes.length === 0 && this.regexes.length === 0;
  }

  /** The `=` location of a URI. */
  exact(uri: string): LocationRuntime | undefined {
    return this.#exact.size === 0 ? undefined : this.#exact.get(uri);
  }

  /**
   * The longest prefix location of a URI; or the location `URI/` when it redirects there and no location has the
   * URI itself as its name.
   */
  prefix(uri: string): LocationRuntime | undefined {
    const nodes = this.#prefixes;
    let low = 0;
    let high = nodes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (nodes[middle]!.name <= uri) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    let node = low === 0 ? undefined : nodes[low - 1];
    if (node?.name === uri) {
      return node.location;
    }
    const redirect = this.#redirects.size === 0 ? undefined : this.#redirects.get(uri);
    if (redirect !== undefined) {
      return redirect;
    }
    while (node !== undefined && !uri.startsWith(node.name)) {
      node = node.shorter;
    }
    return node?.location;
  }
}
