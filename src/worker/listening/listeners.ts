import type { Block } from '../../shared/config/block.js';
import type { ListenSpec, SocketExtras } from '../../shared/config/configuration.js';
import { In } from '../../shared/config/context.js';
import type { LinkContext } from '../../shared/config/define.js';
import type { Pos, RelatedPosition } from '../../shared/config/language/ast.js';
import { listenKey } from '../../shared/net/listen-key.js';
import type { RegexValue } from '../../shared/value/regex-value.js';
import { WildcardHash } from '../lookup/wildcard-hash.js';
import { whyNoQuic } from '../net/openssl/quic-library.js';
import type { ClientTask } from '../task/client-task.js';

/** Options that belong to a socket, whichever server names it. Undefined: not said. */
export interface SocketOptions {
  readonly backlog: number | undefined;
  readonly ipv6only: boolean | undefined;
  readonly reuseport: boolean;
  readonly soKeepalive: boolean | undefined;
  readonly extras: SocketExtras | undefined;
  readonly bind: boolean;
  /** Some option was given that only one `listen` of the socket may give. */
  readonly set: boolean;
}

/** What a `listen` directive says, as far as sorting servers needs it. */
export interface ListenInfo {
  readonly pos: Pos;
  readonly text: string;
  readonly family: 'ipv4' | 'ipv6' | 'unix';
  /** Numeric address, `*` for any IPv4 address, a socket's path; or a name that is resolved before linking. */
  readonly address: string;
  readonly host: { readonly addresses: readonly string[] } | undefined;
  readonly ports: readonly number[];
  readonly defaultServer: boolean;
  readonly ssl: boolean;
  readonly http2: boolean;
  readonly quic: boolean;
  /** Datagrams of `stream` are served. */
  readonly udp: boolean;
  readonly proxyProtocol: boolean;
  readonly options: SocketOptions;
}

/** A server's listens and names, as far as sorting needs them. */
export interface ServerInfo {
  readonly block: Block;
  readonly listens: readonly ListenInfo[];
  readonly names: readonly {
    readonly kind: 'exact' | 'wildcard' | 'regex';
    readonly text: string;
    readonly name: string;
    readonly regex?: RegexValue<ClientTask>;
    /** Where it is written; undefined for the name of a server that has none. */
    readonly pos?: Pos;
  }[];
}

/** What a server's own directives say about listens and names. */
export type ServerNames = Omit<ServerInfo, 'block'>;

/** One address with the servers on it. nginx: ngx_http_conf_addr_t. */
export class ListenAddress {
  readonly key: string;
  readonly family: 'ipv4' | 'ipv6' | 'unix';
  readonly address: string;
  readonly port: number;
  readonly any: boolean;
  /** Connections of QUIC come. */
  readonly quic: boolean;
  /** Datagrams of `stream` are served. */
  readonly udp: boolean;
  /** The socket is of UDP. */
  readonly datagrams: boolean;
  readonly servers: ServerInfo[] = [];
  defaultServer: ServerInfo;
  hasDefault = false;
  /** Where that is said. */
  defaultPos: Pos | undefined = undefined;
  options: SocketOptions;
  ssl = false;
  http2 = false;
  proxyProtocol = false;

  constructor(family: 'ipv4' | 'ipv6' | 'unix', address: string, port: number, server: ServerInfo, listen: ListenInfo) {
    this.family = family;
    this.any = address === '*' || address === '::';
    this.address = address === '*' ? '0.0.0.0' : address;
    this.port = port;
    this.quic = listen.quic;
    this.udp = listen.udp;
    this.datagrams = listen.udp || listen.quic;
    this.key = family === 'unix' ? `unix:${address}` : family === 'ipv6' ? `[${address}]:${port}` : `${this.address}:${port}`;
    this.defaultServer = server;
    this.options = listen.options;
  }
}

/** A socket to bind, and the addresses it serves. */
export interface AddressSocket {
  readonly spec: ListenSpec;
  readonly addresses: readonly ListenAddress[];
}

/** Reports about listens; a build in a worker ignores what the master has reported already. */
export type Reports = Pick<LinkContext<ClientTask>, 'fail' | 'warn'>;

/** nginx's default backlog on Linux. */
const BACKLOG = 511;

const SERVERS: number = In.SERVER | In.STREAM_SERVER;

/** The server blocks of an `http` or `stream` block with what their directives say. */
export function serversOf(main: Block, infoOf: (server: Block) => ServerNames): ServerInfo[] {
  return main.children.filter((child) => (child.context & SERVERS) !== 0).map((block) => ({ block, ...infoOf(block) }));
}

/** The addresses of an `http` or `stream` block, as far as its listens were added. nginx: ngx_http_add_listen, ngx_http_add_addresses. */
export class AddressBook {
  readonly #addresses = new Map<string, ListenAddress>();

  get all(): ListenAddress[] {
    return [...this.#addresses.values()];
  }

  /** Adds what one `listen` of a server names. A server's listens come one after the other. */
  add(server: ServerInfo, listen: ListenInfo, reports: Reports): void {
    const hosts = listen.host === undefined ? [listen.address] : listen.host.addresses;
    for (const host of hosts) {
      for (const port of listen.ports) {
        const family = listen.family === 'unix' ? 'unix' : host.includes(':') ? 'ipv6' : 'ipv4';
        const fresh = new ListenAddress(family, host, port, server, listen);
        // One address has a socket of each type.
        const key = listenKey(fresh.key, listen.quic || listen.udp);
        const address = this.#addresses.get(key) ?? fresh;
        if (address.servers.at(-1)?.block === server.block) {
          reports.fail(`a duplicate listen ${fresh.key}`, listen.pos);
        }
        this.#addresses.set(key, address);
        addServer(address, server, listen, reports);
      }
    }
  }
}

/** Sorts servers by the addresses they listen on. */
export function collectAddresses(servers: readonly ServerInfo[], reports: Reports): ListenAddress[] {
  const book = new AddressBook();
  for (const server of servers) {
    for (const listen of server.listens) {
      book.add(server, listen, reports);
    }
  }
  return book.all;
}

function addServer(address: ListenAddress, server: ServerInfo, listen: ListenInfo, reports: Reports): void {
  if (address.servers.length > 0 && listen.options.set) {
    if (address.options.set) {
      reports.fail(`duplicate listen options for ${address.key}`, listen.pos);
    }
    address.options = listen.options;
  }
  if (listen.defaultServer) {
    if (address.hasDefault) {
      const first = address.defaultPos;
      const related =
        first === undefined ? [] : [{ pos: first, text: 'this one is the default already: take `default_server` off one of them' }];
      reports.fail(`a duplicate default server for ${address.key}`, listen.pos, related);
    }
    address.hasDefault = true;
    address.defaultPos = listen.pos;
    address.defaultServer = server;
  }
  if (address.servers.length > 0) {
    warnAboutProtocols(address, listen, reports);
  }
  address.ssl ||= listen.ssl;
  address.http2 ||= listen.http2;
  address.proxyProtocol ||= listen.proxyProtocol;
  address.servers.push(server);
}

// nginx: the protocol options of an address are those of all its listens together.
function warnAboutProtocols(address: ListenAddress, listen: ListenInfo, reports: Reports): void {
  const said = listen.ssl || listen.http2 || listen.proxyProtocol;
  const differs = (listen.ssl && !address.ssl) || (listen.http2 && !address.http2) || (listen.proxyProtocol && !address.proxyProtocol);
  if (said && differs) {
    reports.warn(`protocol options redefined for ${address.key}`, listen.pos);
  }
}

/**
 * Groups addresses into the sockets to bind: a wildcard socket also serves the addresses that need none of their own. For UDP each address
 * has its own, since libuv does not tell to which one a datagram came. nginx: ngx_http_init_listening.
 */
export function collectSockets(all: readonly ListenAddress[]): AddressSocket[] {
  const addresses = all.filter(({ quic, family }) => !quic || (family !== 'unix' && whyNoQuic() === ''));
  const sockets: AddressSocket[] = [];
  for (const address of addresses) {
    const wildcard = addresses.find((other) => other.any && other !== address && sameKind(other, address));
    if (wildcard !== undefined && !address.options.bind && address.family !== 'unix' && !address.datagrams) {
      continue;
    }
    const covered =
      address.any && !address.datagrams
        ? addresses.filter((other) => other !== address && sameKind(other, address) && !other.options.bind)
        : [];
    const { options } = address;
    sockets.push({
      spec: {
        key: listenKey(address.key, address.datagrams),
        text: address.key,
        family: address.family,
        address: address.address,
        port: address.port,
        backlog: options.backlog ?? BACKLOG,
        ipv6only: address.family === 'ipv6' && (options.ipv6only ?? true),
        // What belongs to a connection comes to the worker that has it.
        reuseport: options.reuseport || address.quic,
        udp: address.datagrams,
        quic: address.quic,
        extras: options.extras,
      },
      addresses: [...covered, address],
    });
  }
  return sockets;
}

/** Whether one wildcard could stand for both. */
const sameKind = (a: ListenAddress, b: ListenAddress): boolean => a.family === b.family && a.port === b.port && a.datagrams === b.datagrams;

/** How to find the server for a host name on one address. nginx: ngx_http_server_names, ngx_http_find_virtual_server. */
export class NameTable<T> {
  readonly #hash: WildcardHash<T>;
  readonly #regexes: { readonly regex: RegexValue<ClientTask>; readonly value: T }[] = [];
  /** No name needs looking up: the default server answers for all. */
  readonly trivial: boolean;

  constructor(address: ListenAddress, value: (server: ServerInfo) => T, reports: Reports) {
    // nginx does not look at the names of a server that is alone, unless a pattern of its own captures something.
    const alone = address.servers.length === 1 && !address.servers[0]!.names.some(({ kind }) => kind === 'regex');
    this.#hash = new WildcardHash<T>();
    for (const server of address.servers) {
      for (const { kind, name, regex, pos } of server.names) {
        if (kind === 'regex' && regex !== undefined) {
          this.#regexes.push({ regex, value: value(server) });
          continue;
        }
        const added = this.#hash.add(name, value(server), true);
        if (alone) {
          continue;
        }
        if (added === 'invalid') {
          reports.fail(`invalid server name or wildcard "${name}" on ${address.key}`);
        }
        if (added === 'conflict') {
          reports.warn(`conflicting server name "${name}" on ${address.key}, ignored`, null, conflictPlaces(address, name, pos));
        }
      }
    }
    this.trivial = alone;
  }

  /** Some name is a regular expression. */
  get patterns(): boolean {
    return this.#regexes.length > 0;
  }

  /** Named groups of a regular expression are kept on `task`, which may be null where there are no {@link patterns}. */
  find(host: string, task: ClientTask | null): T | undefined {
    if (this.trivial) {
      return undefined;
    }
    const found = this.#hash.find(host);
    if (found !== undefined) {
      return found;
    }
    for (let i = 0; i < this.#regexes.length; i++) {
      if (this.#regexes[i]!.regex.exec(task as ClientTask, host)) {
        return this.#regexes[i]!.value;
      }
    }
    return undefined;
  }
}

/** Where a name stands that another server has, and where the one that counts stands. */
function conflictPlaces({ servers }: ListenAddress, name: string, pos: Pos | undefined): RelatedPosition[] {
  const first = servers.flatMap(({ names }) => names).find((other) => other.name === name && other.kind !== 'regex');
  return [
    ...(pos === undefined ? [] : [{ pos, text: 'this one is ignored' }]),
    ...(first?.pos === undefined || first.pos === pos ? [] : [{ pos: first.pos, text: 'this one counts' }]),
  ];
}

/** Checks all listens and names of an `http` or `stream` block. */
export function checkListeners(servers: readonly ServerInfo[], reports: Reports): void {
  for (const address of collectAddresses(servers, reports)) {
    new NameTable(address, (server) => server, reports);
  }
}
