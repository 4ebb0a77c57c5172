import type { Block } from '../shared/config/block.js';
import { In } from '../shared/config/context.js';
import { blockIn, type Loaded } from '../shared/config/load.js';
import { DEBUG } from '../shared/log/level.js';
import { SettingsLists, settingsOf } from './build-settings.js';
import type { WorkerEnv } from './env.js';
import { collectAddresses, collectSockets, type ListenAddress, NameTable, type ServerInfo, serversOf } from './listening/listeners.js';
import type { AnyModule, BuildStream } from './module.js';
import { streamNamesScope } from './modules/stream-server/index.js';
import { StreamTlsAddress } from './stream/listening/tls-address.js';
import { PHASES, type SessionHandler, type StreamAddress, StreamRuntime, StreamServer } from './stream/session/runtime.js';
import type { ClientTask } from './task/client-task.js';
import { AddressHandshakes } from './tls/address-handshakes.js';

/** Reports of what the master has reported already. */
const SILENT = {
  fail: (message: string): never => {
    throw new Error(message);
  },
  warn: () => {},
};

/** Compiles the merged configuration of a `stream` block to what runs. Nothing in here may fail on a checked configuration. */
export function buildStreamRuntime(loaded: Loaded<ClientTask>, modules: readonly AnyModule[], env: WorkerEnv): StreamRuntime | undefined {
  const block = blockIn(loaded.root, In.STREAM);
  if (block === undefined) {
    return undefined;
  }
  const stream = new StreamRuntime(loaded.tables.stream, env, loaded.settings, block);
  const builder = new Builder(loaded, modules, env, stream);
  builder.main(block);
  const servers = serversOf(block, (server) => loaded.settings(streamNamesScope, server));
  const runtimes = new Map<ServerInfo, StreamServer>();
  for (const server of servers) {
    const runtime = builder.server(server.block);
    runtimes.set(server, runtime);
    stream.servers.push(runtime);
  }
  for (const { spec, addresses } of collectSockets(collectAddresses(servers, SILENT))) {
    stream.listeners.push({
      socketKey: spec.key,
      key: spec.text,
      unix: spec.family === 'unix',
      udp: spec.udp,
      soKeepalive: addresses[addresses.length - 1]!.options.soKeepalive,
      addresses: addresses.map((address) => addressRuntime(address, (server) => runtimes.get(server)!)),
    });
  }
  return stream;
}

function addressRuntime(address: ListenAddress, runtimeOf: (server: ServerInfo) => StreamServer): StreamAddress {
  const names = new NameTable(address, runtimeOf, SILENT);
  const runtime: StreamAddress = {
    address: address.any ? undefined : address.address,
    port: address.port,
    tls: address.ssl ? new AddressHandshakes(() => tls) : undefined,
    proxyProtocol: address.proxyProtocol,
    defaultServer: runtimeOf(address.defaultServer),
    find: (host, s) => names.find(host, s),
  };
  const tls = new StreamTlsAddress(runtime, names.trivial);
  return runtime;
}

class Builder {
  readonly #loaded: Loaded<ClientTask>;
  readonly #modules: readonly AnyModule[];
  readonly #env: WorkerEnv;
  readonly #stream: StreamRuntime;
  readonly #serverLists: SettingsLists;
  readonly #locationLists: SettingsLists;

  constructor(loaded: Loaded<ClientTask>, modules: readonly AnyModule[], env: WorkerEnv, stream: StreamRuntime) {
    this.#loaded = loaded;
    this.#modules = modules.filter((module) => module.stream !== undefined);
    this.#env = env;
    this.#stream = stream;
    this.#serverLists = new SettingsLists(this.#modules, (module) => module.stream?.serverSlot, env, stream);
    this.#locationLists = new SettingsLists(this.#modules, (module) => module.stream?.slot, env, stream);
  }

  main(block: Block): void {
    for (const { main, stream } of this.#modules) {
      stream?.installMain?.(main === undefined ? {} : this.#loaded.settings(main, block), this.#stream, this.#env);
    }
    for (const child of block.children) {
      if (child.context !== In.STREAM_UPSTREAM) {
        continue;
      }
      for (const { upstream, stream } of this.#modules) {
        if (upstream !== undefined) {
          stream?.installUpstream?.(this.#loaded.settings(upstream, child), this.#stream, this.#env);
        }
      }
    }
  }

  server(block: Block): StreamServer {
    const server = new StreamServer(this.#stream);
    const own = this.#serverLists.list((module) => this.#loaded.settings(module.server!, block), undefined);
    server.confs = Object.assign(this.#locationLists.list((module) => settingsOf(this.#loaded, module, block), undefined).slice(), own);
    for (const module of this.#modules) {
      if (module.server !== undefined) {
        module.stream?.installServer?.(this.#loaded.settings(module.server, block), server, this.#env);
      }
      module.stream?.installLocation?.(settingsOf(this.#loaded, module, block), server, this.#env);
    }
    if (server.log.level >= DEBUG) {
      this.#stream.debugs = true;
    }
    server.phases = PHASES.map((name) => this.#build(block, server, (module) => module.stream?.phases?.[name]));
    server.logPhase = this.#build(block, server, (module) => module.stream?.phases?.log);
    const { handler: claimed } = block.info as { readonly handler?: string };
    const owner = claimed === undefined ? undefined : this.#modules.find(({ name }) => name === claimed);
    server.handler = owner?.stream?.handler?.(settingsOf(this.#loaded, owner, block), this.#env, server);
    return server;
  }

  #build(
    block: Block,
    server: StreamServer,
    // biome-ignore lint/suspicious/noExplicitAny: settings types are known to each module only
    pick: (module: AnyModule) => BuildStream<any> | undefined,
  ): SessionHandler[] {
    const built: SessionHandler[] = [];
    for (const module of this.#modules) {
      const handler = pick(module)?.(settingsOf(this.#loaded, module, block), this.#env, server);
      if (handler !== undefined) {
        built.push(handler);
      }
    }
    return built;
  }
}
