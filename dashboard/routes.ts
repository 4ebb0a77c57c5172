// Which of its views the page shows, by what follows `#` in its address, and links to lines of the configuration and of the log.
import { type Cell, el } from './dom.js';
import type { Configuration, Outlined } from './types.js';

export type View = 'now' | 'configuration' | 'log';

/** The view, and what of it is asked for: a line as `FILE:LINE`, or a text to find. */
export interface Route {
  readonly view: View;
  readonly what: string;
}

export function currentRoute(): Route {
  const [, view = '', what = ''] = /^#(\w*)(?:\/(.*))?$/.exec(location.hash) ?? [];
  let text = '';
  try {
    text = decodeURIComponent(what);
  } catch {
    // Nothing that this page has made.
  }
  return { view: view === 'configuration' || view === 'log' ? view : 'now', what: text };
}

export const lineAddress = (file: string, line: number): string => `#configuration/${encodeURIComponent(`${file}:${line}`)}`;
export const logAddress = (text: string): string => `#log/${encodeURIComponent(text)}`;

/** A link to the line of a block. */
export function lineLink(text: string, { file, line }: Pick<Outlined, 'file' | 'line'>): HTMLElement {
  return el('a', { href: lineAddress(file, line), title: `${file}:${line}` }, text);
}

/** Where the blocks are that figures are about, and who passes requests on to whom. */
export class Places {
  readonly #blocks = new Map<string, Outlined>();
  /** By group: the servers and locations that pass requests on to it. */
  readonly #users = new Map<string, { readonly server: Outlined; readonly location: Outlined }[]>();
  readonly known: boolean;

  constructor(configuration: Configuration | undefined) {
    this.known = configuration !== undefined;
    if (configuration === undefined) {
      return;
    }
    const { servers, upstreams, stream } = configuration.outline;
    for (const server of servers) {
      this.#note('server', server);
      this.#inside(server, server);
    }
    for (const upstream of upstreams) {
      this.#note('upstream', upstream);
    }
    for (const server of stream.servers) {
      this.#note('stream-server', server);
    }
    for (const upstream of stream.upstreams) {
      this.#note('stream-upstream', upstream);
    }
  }

  #note(kind: string, block: Outlined): void {
    const key = `${kind} ${block.zone ?? ''}`;
    if (!this.#blocks.has(key)) {
      this.#blocks.set(key, block);
    }
  }

  #inside(server: Outlined, { inside }: Outlined): void {
    for (const location of inside) {
      this.#note('location', location);
      if (location.upstream !== undefined) {
        const users = this.#users.get(location.upstream) ?? [];
        this.#users.set(location.upstream, [...users, { server, location }]);
      }
      this.#inside(server, location);
    }
  }

  /** A block by the name under which it is counted. */
  find(kind: 'server' | 'location' | 'upstream' | 'stream-server' | 'stream-upstream', zone: string): Outlined | undefined {
    return this.#blocks.get(`${kind} ${zone}`);
  }

  users(group: string): readonly { readonly server: Outlined; readonly location: Outlined }[] {
    return this.#users.get(group) ?? [];
  }

  /** A name with links to its lines: of the configuration, where it is found there, and of the log, where `find` says which. */
  cell(name: string, block: Outlined | undefined, find?: string): Cell {
    if (!this.known || (block === undefined && find === undefined)) {
      return name;
    }
    return {
      key: name,
      mark: `${block?.file}:${block?.line} ${find}`,
      make: () =>
        el(
          'span',
          {},
          block === undefined ? name : lineLink(name, block),
          ...(block?.upstream === undefined ? [] : [' ', el('a', { href: '#upstreams', class: 'small' }, `→ ${block.upstream}`)]),
          ...(find === undefined ? [] : [' ', el('a', { href: logAddress(find), class: 'small', 'aria-label': `Log of ${name}` }, 'log')]),
        ),
    };
  }
}

/** What the tables link to; another one after each load of the configuration. */
export const shown = { places: new Places(undefined) };
