import type { Block } from '../shared/config/block.js';
import { In } from '../shared/config/context.js';
import { blockIn, type Loaded } from '../shared/config/load.js';
import { DEBUG } from '../shared/log/level.js';
import { SettingsLists, settingsOf } from './build-settings.js';
import type { WorkerEnv } from './env.js';
import { HttpTlsAddress } from './http/listening/tls-address.js';
import type { AddressRuntime } from './http/request/address-runtime.js';
import type { BodyFilter, HeaderFilter } from './http/request/body-stage.js';
import { HttpRuntime, LocationRuntime, ServerRuntime } from './http/request/http-runtime.js';
import type { LocationInfo } from './http/request/location-info.js';
import { LocationTree } from './http/request/location-tree.js';
import type { PhaseHandler } from './http/request/phase-handler.js';
import { requestLife } from './http/request/request-life.js';
import { tracedFilter } from './http/request/trace-headers.js';
import { traceVariables } from './http/trace/begin-trace.js';
import { collectAddresses, collectSockets, type ListenAddress, NameTable, type ServerInfo, serversOf } from './listening/listeners.js';
import type { AnyModule, Phase } from './module.js';
import { namesScope } from './modules/server/index.js';
import type { ClientTask } from './task/client-task.js';
import { AddressHandshakes } from './tls/address-handshakes.js';

const LOCATION_BLOCKS: number = In.LOCATION | In.SERVER_IF | In.LOCATION_IF | In.LIMIT_EXCEPT;

/** Reports of what the master has reported already. */
const SILENT = {
  fail: (message: string): never => {
    throw new Error(message);
  },
  warn: () => {},
};

/** Compiles the merged configuration of an `http` block to what runs. Nothing in here may fail on a checked configuration. */
export function buildRuntime(loaded: Loaded<ClientTask>, modules: readonly AnyModule[], env: WorkerEnv): HttpRuntime | undefined {
  const block = blockIn(loaded.root, In.HTTP);
  if (block === undefined) {
    return undefined;
  }
  const http = new HttpRuntime(loaded.tables.http, env, requestLife, loaded.settings, block);
  const builder = new Builder(loaded, modules, env, http);
  builder.main(block);
  if (http.tracer !== null) {
    traceVariables(http);
  }
  const servers = serversOf(block, (server) => loaded.settings(namesScope, server));
  const runtimes = new Map<ServerInfo, ServerRuntime>();
  for (const server of servers) {
    const runtime = builder.server(server.block);
    runtimes.set(server, runtime);
    http.servers.push(runtime);
  }
  for (const socket of collectSockets(collectAddresses(servers, SILENT))) {
    http.listeners.push({
      key: socket.spec.key,
      unix: socket.spec.family === 'unix',
      quic: socket.spec.quic === true,
      soKeepalive: socket.addresses[socket.addresses.length - 1]!.options.soKeepalive,
      addresses: socket.addresses.map((address) => addressRuntime(address, socket.spec.key, (server) => runtimes.get(server)!)),
    });
  }
  return http;
}

function addressRuntime(address: ListenAddress, listener: string, runtimeOf: (server: ServerInfo) => ServerRuntime): AddressRuntime {
  const names = new NameTable(address, runtimeOf, SILENT);
  let tlsAddress: HttpTlsAddress | undefined;
  const runtime: AddressRuntime = {
    address: address.any ? undefined : address.address,
    port: address.port,
    listener,
    tls: address.ssl ? new AddressHandshakes(() => (tlsAddress ??= new HttpTlsAddress(runtime))) : undefined,
    http2: address.http2,
    proxyProtocol: address.proxyProtocol,
    defaultServer: runtimeOf(address.defaultServer),
    single: names.trivial,
    patterns: names.patterns,
    find: (host, r) => names.find(host, r),
  };
  return runtime;
}

/**
 * The module whose content handler a block uses. `if` and `limit_except` go on with that of their location, with their
 * own settings.
 */
function claimedBy(block: Block): string | undefined {
  for (let at: Block | undefined = block; at !== undefined; at = at.parent) {
    const info = at.info as LocationInfo;
    if (info.handler !== undefined || info.kind !== 'nameless') {
      return info.handler;
    }
  }
  return undefined;
}

const PHASES = ['postRead', 'serverRewrite', 'rewrite', 'preaccess', 'access', 'precontent', 'content', 'log'] as const;

/** What nothing was built of: most locations have no handler in most phases. */
const NOTHING: readonly never[] = [];

// biome-ignore lint/suspicious/noExplicitAny: settings types are known to each module only
type BuildPart<T> = (conf: any, env: WorkerEnv, location: LocationRuntime) => T | undefined;

/** A module that makes a part of a location, and how. */
interface Maker<T> {
  readonly module: AnyModule;
  readonly build: BuildPart<T>;
}

/** All that make parts of one sort, and the list that they made last. */
interface Makers<T> {
  readonly each: readonly Maker<T>[];
  last: readonly T[];
}

/** The modules that make a part of this sort, in their order. */
function makers<T>(modules: readonly AnyModule[], pick: (module: AnyModule) => BuildPart<T> | undefined): Makers<T> {
  const each = modules.flatMap((module) => {
    const build = pick(module);
    return build === undefined ? [] : [{ module, build }];
  });
  return { each, last: NOTHING };
}

/** True when both have the same parts. */
function same<T>(some: readonly T[], others: readonly T[]): boolean {
  return some.length === others.length && some.every((part, i) => part === others[i]);
}

/**
 * Compiles one `http` block. There may be fifty thousand locations and there are a hundred modules, most of which take part in one or two
 * steps: so each step knows its modules before the first location comes.
 */
class Builder {
  readonly #loaded: Loaded<ClientTask>;
  readonly #modules: readonly AnyModule[];
  readonly #env: WorkerEnv;
  readonly #http: HttpRuntime;
  readonly #serverInstallers: readonly AnyModule[];
  readonly #serverLists: SettingsLists;
  readonly #locationLists: SettingsLists;
  /** The settings outside all locations of the server before, whose list the next one has, too, where they are the same. */
  #last: readonly unknown[] | undefined;
  readonly #locationInstallers: readonly AnyModule[];
  readonly #finishers: readonly AnyModule[];
  readonly #phases: { readonly [X in Phase]: Makers<PhaseHandler> };
  readonly #headerFilters: Makers<HeaderFilter>;
  readonly #bodyFilters: Makers<BodyFilter>;

  constructor(loaded: Loaded<ClientTask>, modules: readonly AnyModule[], env: WorkerEnv, http: HttpRuntime) {
    this.#loaded = loaded;
    this.#modules = modules;
    this.#env = env;
    this.#http = http;
    this.#serverInstallers = modules.filter(({ server, installServer }) => server !== undefined && installServer !== undefined);
    this.#serverLists = new SettingsLists(modules, ({ serverSlot }) => serverSlot, env, http);
    this.#locationLists = new SettingsLists(modules, ({ slot }) => slot, env, http);
    this.#locationInstallers = modules.filter(({ location, installLocation }) => location !== undefined && installLocation !== undefined);
    this.#finishers = modules.filter(({ finishLocation }) => finishLocation !== undefined);
    this.#phases = Object.fromEntries(PHASES.map((name) => [name, makers(modules, ({ phases }) => phases?.[name])])) as {
      readonly [X in Phase]: Makers<PhaseHandler>;
    };
    this.#headerFilters = makers(modules, ({ headerFilter }) => headerFilter);
    this.#bodyFilters = makers(modules, ({ bodyFilter }) => bodyFilter);
  }

  main(block: Block): void {
    for (const module of this.#modules) {
      if (module.main !== undefined) {
        module.installMain?.(this.#loaded.settings(module.main, block), this.#http, this.#env);
      }
    }
    for (const child of block.children) {
      if (child.context !== In.UPSTREAM) {
        continue;
      }
      for (const module of this.#modules) {
        if (module.upstream !== undefined) {
          module.installUpstream?.(this.#loaded.settings(module.upstream, child), this.#http, this.#env);
        }
      }
    }
  }

  server(block: Block): ServerRuntime {
    const server = new ServerRuntime(this.#http, block.info as LocationInfo);
    server.confs = this.#serverLists.list((module) => this.#loaded.settings(module.server!, block), undefined);
    for (const module of this.#serverInstallers) {
      module.installServer!(this.#loaded.settings(module.server!, block), server, this.#env);
    }
    this.#last = this.#install(block, server.root, this.#last);
    const locations = this.#children(block, server, server.root, this.#last);
    const named = locations.filter(({ info }) => info.kind === 'named');
    if (named.length > 0) {
      server.named = new Map(named.map((location) => [location.info.name, location]));
    }
    server.locations = new LocationTree(locations);
    this.#finish(block, server.root);
    return server;
  }

  /** Makes the locations inside a block, with all that is inside them. */
  #children(block: Block, server: ServerRuntime, parent: LocationRuntime, around: readonly unknown[]): LocationRuntime[] {
    const locations: LocationRuntime[] = [];
    for (const child of block.children) {
      if ((child.context & LOCATION_BLOCKS) === 0) {
        continue;
      }
      const location = new LocationRuntime(child.info as LocationInfo, server, parent);
      const inner = this.#children(child, server, location, this.#install(child, location, around));
      if (inner.length > 0) {
        const tree = new LocationTree(inner);
        location.children = tree.empty ? undefined : tree;
      }
      this.#finish(child, location);
      if (location.info.kind === 'nameless') {
        parent.nameless.push(location);
      } else {
        locations.push(location);
      }
    }
    return locations;
  }

  /** Gives a location its settings; `around`: the list of the location or server around it. Returns its own, which it may share. */
  #install(block: Block, location: LocationRuntime, around: readonly unknown[] | undefined): readonly unknown[] {
    this.#http.locationOf.set(block, location);
    const confs = this.#locationLists.list((module) => settingsOf(this.#loaded, module, block), around);
    location.confs = confs;
    for (const module of this.#locationInstallers) {
      module.installLocation!(this.#loaded.settings(module.location!, block), location, this.#env);
    }
    if (location.log.level >= DEBUG) {
      this.#http.debugs = true;
    }
    return confs;
  }

  /** Builds handlers and filters, innermost blocks first, so that `rewrite` finds the locations of its `if` blocks made. */
  #finish(block: Block, location: LocationRuntime): void {
    for (const module of this.#finishers) {
      module.finishLocation!(settingsOf(this.#loaded, module, block), location, this.#env);
    }
    const phases = this.#phases;
    location.postRead = this.#build(block, location, phases.postRead);
    location.serverRewrite = this.#build(block, location, phases.serverRewrite);
    location.rewrite = this.#build(block, location, phases.rewrite);
    location.preaccess = this.#build(block, location, phases.preaccess);
    location.access = this.#build(block, location, phases.access);
    location.precontent = this.#build(block, location, phases.precontent);
    location.content = this.#build(block, location, phases.content);
    location.logPhase = this.#build(block, location, phases.log);
    location.headerFilters =
      this.#http.tracer === null ? this.#build(block, location, this.#headerFilters) : this.#tracedFilters(block, location);
    location.bodyFilters = this.#build(block, location, this.#bodyFilters);
    const claimed = claimedBy(block);
    const owner = claimed === undefined ? undefined : this.#modules.find(({ name }) => name === claimed);
    location.handler = owner?.handler?.(settingsOf(this.#loaded, owner, block), this.#env, location);
  }

  /** The header filters of a location in a configuration that may trace requests. */
  #tracedFilters(block: Block, location: LocationRuntime): HeaderFilter[] {
    return this.#headerFilters.each.flatMap(({ module, build }) => {
      const filter = build(settingsOf(this.#loaded, module, block), this.#env, location);
      return filter === undefined ? [] : [tracedFilter(filter, module.name)];
    });
  }

  /** Locations with the same parts share their list, and a list has no room to grow: there may be ten for each of thousands. */
  #build<T>(block: Block, location: LocationRuntime, makers: Makers<T>): readonly T[] {
    const built: T[] = [];
    for (const { module, build } of makers.each) {
      const part = build(settingsOf(this.#loaded, module, block), this.#env, location);
      if (part !== undefined) {
        built.push(part);
      }
    }
    if (built.length === 0) {
      return NOTHING;
    }
    if (!same(built, makers.last)) {
      makers.last = built.slice();
    }
    return makers.last;
  }
}
