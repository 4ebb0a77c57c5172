import type { Block } from '../../shared/config/block.js';
import { In } from '../../shared/config/context.js';
import type { DirectiveNode, Node } from '../../shared/config/language/ast.js';
import { type DiskOptions, type Loaded, loadFromDisk, type Origin } from '../../shared/config/load.js';
import { type NamedDigest, namedDigests } from '../../shared/config/named-digest.js';
import { Provenance } from '../../shared/config/provenance.js';
import type { NumberedScope } from '../../shared/config/registry.js';
import { language } from '../../worker/language.js';
import { collectAddresses, collectSockets, type ListenAddress, type ServerInfo, serversOf } from '../../worker/listening/listeners.js';
import { namesScope } from '../../worker/modules/server/index.js';
import { streamNamesScope } from '../../worker/modules/stream-server/index.js';
import type { ClientTask } from '../../worker/task/client-task.js';
import { type Canonical, canonical } from './canonical.js';

/** One virtual server. */
export interface ServerSide {
  readonly protocol: 'http' | 'stream';
  readonly block: Block;
  /** In the order of the text. */
  readonly names: readonly string[];
  /** What it listens on, by address: `0.0.0.0:443 ssl http2`. */
  readonly listens: ReadonlyMap<string, string>;
}

/** Directives that make blocks which are compared as such. */
const STRUCTURE = new Set(['http', 'stream', 'events', 'server', 'location', 'upstream', 'limit_except']);
/** What says which server this is, and is compared with it. */
const IDENTITY = new Set(['listen', 'server_name']);

/** One of the two configurations that are compared: everything that can be asked about it. */
export class Side {
  readonly loaded: Loaded<ClientTask>;
  readonly servers: readonly ServerSide[];
  /** By address, the sockets that are bound, with their options. */
  readonly sockets: ReadonlyMap<string, string>;
  /** By address, the name of the server that answers when no name is right. */
  readonly defaults: ReadonlyMap<string, ServerInfo>;
  readonly named: Readonly<Record<string, NamedDigest>>;
  readonly hosts: Readonly<Record<string, readonly string[]>>;
  readonly #provenance: Provenance;
  readonly #effective = new Map<Block, ReadonlyMap<string, readonly DirectiveNode[]>>();

  private constructor(loaded: Loaded<ClientTask>, provenance: Provenance, past: Past | undefined) {
    this.loaded = loaded;
    this.#provenance = provenance;
    this.named = past?.named ?? namedDigests(loaded.sources.named.texts());
    this.hosts = past?.hosts ?? loaded.hosts;
    const all = (['http', 'stream'] as const).flatMap((protocol) => this.#addresses(protocol));
    this.servers = all.flatMap(({ protocol, servers, addresses }) => servers.map((server) => serverSide(protocol, server, addresses)));
    const addresses = all.flatMap((each) => each.addresses);
    this.sockets = new Map(
      collectSockets(addresses).map(({ spec: { key, backlog, ipv6only, reuseport } }) => [
        key,
        `backlog=${backlog}${ipv6only ? ' ipv6only=on' : ''}${reuseport ? ' reuseport' : ''}`,
      ]),
    );
    this.defaults = new Map(addresses.filter(({ servers }) => servers.length > 1).map((address) => [address.key, address.defaultServer]));
  }

  /** Reads a configuration. Throws LoadFailure. `past`: it is one of an earlier time. */
  static async load(options: Origin & DiskOptions, past?: Past): Promise<Side> {
    const provenance = new Provenance();
    return new Side(await loadFromDisk<ClientTask>(language, { ...options, provenance }), provenance, past);
  }

  #addresses(protocol: 'http' | 'stream'): { protocol: 'http' | 'stream'; servers: ServerInfo[]; addresses: ListenAddress[] }[] {
    const block = this.child(this.loaded.root, protocol === 'http' ? In.HTTP : In.STREAM);
    if (block === undefined) {
      return [];
    }
    const servers = serversOf(block, (server) =>
      protocol === 'http' ? this.loaded.settings(namesScope, server) : this.loaded.settings(streamNamesScope, server),
    );
    return [{ protocol, servers, addresses: collectAddresses(servers, SILENT) }];
  }

  /** The only block of a context directly inside another. */
  child(block: Block | undefined, context: number): Block | undefined {
    return block?.children.find((inner) => inner.context === context);
  }

  /** A setting in force in a block. */
  value(block: Block, scope: number, field: string): Canonical {
    return canonical((block.merged(scope) as Record<string, unknown> | undefined)?.[field]);
  }

  /** The scope of a setting. */
  scope(number: number): NumberedScope<ClientTask> {
    return this.loaded.registry.scopes[number]!;
  }

  /**
   * The directives behind the settings in force in a block, by shared/config's `settingKey`: its own, or those of the block around it.
   * Where a list goes on from the outer block's, both.
   */
  effective(block: Block): ReadonlyMap<string, readonly DirectiveNode[]> {
    const known = this.#effective.get(block);
    if (known !== undefined) {
      return known;
    }
    const outer = block.parent === undefined ? NOTHING : this.effective(block.parent);
    const own = this.#provenance.settings(block);
    let all = outer;
    if (own.size > 0) {
      const together = new Map(outer);
      for (const [key, nodes] of own) {
        const kept = nodes.filter((node) => isSetting(node) && !isTable(node.name));
        const inherited = outer.get(key) ?? [];
        together.set(key, this.#goesOn(block, key, kept, inherited) ? [...kept, ...inherited] : kept);
      }
      all = together;
    }
    this.#effective.set(block, all);
    return all;
  }

  #goesOn(block: Block, key: string, own: readonly DirectiveNode[], inherited: readonly DirectiveNode[]): boolean {
    if (inherited.length === 0) {
      return false;
    }
    const [scope, field] = key.split(' ') as [string, string];
    const value = (block.merged(Number(scope)) as Record<string, unknown> | undefined)?.[field];
    return Array.isArray(value) && value.length === own.length + inherited.length;
  }

  /** Directives of a block whose effect is no setting of it: definitions such as maps and zones, and what answers in a location. */
  others(block: Block): readonly DirectiveNode[] {
    const tables = new Set<DirectiveNode>();
    for (const nodes of this.#provenance.settings(block).values()) {
      for (const node of nodes) {
        if (isTable(node.name)) {
          tables.add(node);
        }
      }
    }
    return [...this.#provenance.others(block), ...tables].filter(isSetting);
  }

  /** What is written in a block itself, in short. */
  own(block: Block): readonly DirectiveNode[] {
    const nodes = new Set([...this.#provenance.settings(block).values()].flat());
    return [...nodes, ...this.#provenance.others(block)].filter(isSetting);
  }

  /** The lines of a table such as `map`, those of included files among them. */
  entries(node: DirectiveNode): readonly DirectiveNode[] {
    const found: DirectiveNode[] = [];
    const add = (nodes: readonly Node[]): void => {
      for (const line of nodes) {
        if ('syntaxError' in line) {
          continue;
        }
        if (line.name === 'include' && line.args.length === 1) {
          for (const file of this.loaded.sources.include(line.args[0]!, line.pos)) {
            add(this.loaded.sources.parse(file));
          }
        } else {
          found.push(line);
        }
      }
    };
    add(node.block ?? []);
    return found;
  }
}

/** What a configuration of an earlier time found when it was read. */
export interface Past {
  readonly named: Readonly<Record<string, NamedDigest>>;
  readonly hosts: Readonly<Record<string, readonly string[]>>;
}

const NOTHING: ReadonlyMap<string, readonly DirectiveNode[]> = new Map();

/** Tables that define a variable: what they say is in no setting. */
export const isTable = (name: string): boolean => name === 'map' || name === 'geo' || name === 'split_clients' || name === 'charset_map';

/** Neither a block that is compared as such nor what says which server this is. */
const isSetting = ({ name, block }: DirectiveNode): boolean => !IDENTITY.has(name) && (block === undefined || !STRUCTURE.has(name));

/** Reports of what loading has reported already. */
const SILENT = {
  fail: (message: string): never => {
    throw new Error(message);
  },
  warn: () => {},
};

function serverSide(protocol: 'http' | 'stream', server: ServerInfo, addresses: readonly ListenAddress[]): ServerSide {
  const listens = new Map<string, string>();
  for (const address of addresses) {
    if (address.servers.includes(server)) {
      const words = [address.ssl && 'ssl', address.http2 && 'http2', address.proxyProtocol && 'proxy_protocol', address.udp && 'udp'];
      listens.set(address.key + (address.udp || address.quic ? ' udp' : ''), words.filter((word) => word !== false).join(' '));
    }
  }
  return { protocol, block: server.block, names: server.names.map(({ text }) => text).filter((text) => text !== ''), listens };
}
