import {
  ConfigErrors,
  type Configuration,
  type Finding,
  type LoadConfiguration,
  type LoadOptions,
  type ProcessConf,
} from '../shared/config/configuration.js';
import { In } from '../shared/config/context.js';
import type { Scope } from '../shared/config/define.js';
import { type Diagnostic, diagnosticDetail, placedMessage } from '../shared/config/errors.js';
import { blockIn, type Loaded, LoadFailure, loadFromDisk } from '../shared/config/load.js';
import { defaultStatePath, HISTORY_FOLDER, resolvePath } from '../shared/config/paths.js';
import type { Sources } from '../shared/config/sources.js';
import { withDefaultErrorLog } from '../shared/log/error-log-spec.js';
import { EMERG, levelByName } from '../shared/log/level.js';
import { groupId } from '../shared/system/user-ids.js';
import { ordersOf } from '../worker/acme/orders.js';
import { acmeScope, givesOnDemand } from '../worker/acme/scopes.js';
import { INTERNAL_ROOT, type Order } from '../worker/acme/settings.js';
import { cachePathScope } from '../worker/cache/cache-paths.js';
import { language } from '../worker/language.js';
import { collectAddresses, collectSockets, type ListenAddress, type ServerNames, serversOf } from '../worker/listening/listeners.js';
import { mainErrorLogs } from '../worker/modules/error-log/index.js';
import { processScope } from '../worker/modules/process/index.js';
import { namesScope } from '../worker/modules/server/index.js';
import { sslScope } from '../worker/modules/ssl/directives.js';
import { streamNamesScope } from '../worker/modules/stream-server/index.js';
import type { ClientTask } from '../worker/task/client-task.js';
import { ringNeeds } from './ring-needs.js';
import { undecidedDefaults } from './undecided.js';

/** Reads and checks a configuration, and takes out of it what the master works with. */
export const loadConfiguration: LoadConfiguration = async (options) => {
  let loaded: Loaded<ClientTask>;
  try {
    loaded = await loadFromDisk<ClientTask>(language, options);
  } catch (error) {
    if (!(error instanceof LoadFailure)) {
      throw error;
    }
    throw new ConfigErrors(
      [...error.errors, ...error.warnings].map((finding) => finished(finding, error.sources)),
      error.parsed,
    );
  }
  const { root } = loaded;
  const settings = loaded.settings(processScope, root);
  const isRoot = process.getuid?.() === 0;
  const conf: ProcessConf = {
    daemon: settings.daemon,
    masterProcess: settings.masterProcess,
    workerProcesses: Math.max(settings.workerProcesses, 1),
    user: isRoot ? (settings.user ?? 'nobody') : undefined,
    // What nobody's group is called depends on the system. nginx asks that when it is built.
    group: isRoot
      ? (settings.group ?? (settings.user === undefined && groupId('nogroup') !== undefined ? 'nogroup' : undefined))
      : undefined,
    pid: settings.pid ?? resolvePath(options.pid, options.prefix),
    lockFile: resolvePath(settings.lockFile, options.prefix),
    workerConnections: settings.workerConnections,
    rlimitNofile: settings.rlimitNofile,
    rlimitCore: settings.rlimitCore,
    priority: settings.priority,
    cpuAffinity: settings.cpuAffinity,
    shutdownTimeout: settings.shutdownTimeout,
    workingDirectory: settings.workingDirectory,
    env: settings.env,
    zoneDirectory: settings.zoneDirectory,
    canary: settings.canary,
    history: settings.history === 'off' ? undefined : (settings.history ?? defaultStatePath(HISTORY_FOLDER, options.prefix)),
    ring: settings.netEngine !== 'libuv',
    transparent: loaded.transparent,
    nginxCompatibility: settings.compatibility,
  };
  const { listens, urls } = listensOf(loaded);
  const orders = ordersIn(loaded);
  const internal = orders.find(({ issuer }) => issuer.kind === 'internal')?.issuer;
  const warnings = loaded.warnings.map((finding) => finished(finding, loaded.sources));
  const missed = settings.netEngine === 'libuv' ? ringNeeds(loaded) : undefined;
  if (missed !== undefined) {
    warnings.push(missed);
  }
  const enough = checkConnections(settings.workerConnections, listens.length);
  if (enough !== undefined) {
    throw new ConfigErrors([enough, ...warnings], true);
  }
  return {
    snapshot: loaded.sources.snapshot(loaded.hosts),
    inheritable: settings.inheritable ? loaded.sources.named.versions : new Map(),
    process: conf,
    listens,
    urls,
    errorLogs: errorLogs(loaded, options),
    logFiles: loaded.logFiles,
    tempPaths: loaded.folders,
    cachePaths: cachePathsOf(loaded),
    acme: orders.length > 0 || givesToScripts(loaded),
    internalRoot: internal?.statePath && `${internal.statePath}/${INTERNAL_ROOT}`,
    zones: loaded.zones.all(),
    warnings,
    advice: options.testing === true ? undecidedDefaults(loaded) : undefined,
  } satisfies Configuration;
};

/** What is wrong with `worker_connections`, which nginx wants for its listening sockets too. nginx: ngx_event_init_conf. */
function checkConnections(connections: number, sockets: number): Finding | undefined {
  if (connections > sockets) {
    return undefined;
  }
  const message = `${connections} worker_connections are not enough for ${sockets} listening sockets`;
  return { level: EMERG, message, detail: '' };
}

function errorLogs(loaded: Loaded<ClientTask>, options: LoadOptions): Configuration['errorLogs'] {
  const given = loaded.settings(mainErrorLogs, loaded.root).logs ?? [];
  if (options.errorLog !== '') {
    return withDefaultErrorLog(given, resolvePath(options.errorLog, options.prefix));
  }
  return given.length > 0 ? given : [{ to: { kind: 'stderr' }, level: 4, json: false }];
}

function cachePathsOf(loaded: Loaded<ClientTask>): Configuration['cachePaths'] {
  const http = blockIn(loaded.root, In.HTTP);
  if (http === undefined) {
    return [];
  }
  return loaded.settings(cachePathScope, http).paths.map(({ family, zone: { name, bytes, data } }) => ({
    path: data.path,
    manager: true,
    loader: true,
    zone: { family, name, bytes, data },
  }));
}

/** Whether an issuer gives certificates to names that scripts ask for. */
function givesToScripts(loaded: Loaded<ClientTask>): boolean {
  const http = blockIn(loaded.root, In.HTTP);
  return http !== undefined && givesOnDemand(loaded.settings(acmeScope, http));
}

function ordersIn(loaded: Loaded<ClientTask>): Order[] {
  const http = blockIn(loaded.root, In.HTTP);
  return http === undefined ? [] : [...ordersOf(http, loaded, { names: namesScope, tls: sslScope }).values()];
}

function listensOf(loaded: Loaded<ClientTask>): Pick<Configuration, 'listens' | 'urls'> {
  const http = addressesOf(loaded, In.HTTP, namesScope);
  const stream = addressesOf(loaded, In.STREAM, streamNamesScope);
  return {
    listens: [...collectSockets(http), ...collectSockets(stream)].map(({ spec }) => spec),
    urls: http.filter(({ quic }) => !quic).map(urlOf),
  };
}

/** The addresses that the servers of an `http` or `stream` block listen on. */
function addressesOf<C extends ServerNames>(loaded: Loaded<ClientTask>, context: number, names: Scope<C, ClientTask>): ListenAddress[] {
  const block = blockIn(loaded.root, context);
  if (block === undefined) {
    return [];
  }
  const servers = serversOf(block, (server) => loaded.settings(names, server));
  const silent = {
    fail: (message: string): never => {
      throw new Error(message);
    },
    warn: () => {},
  };
  return collectAddresses(servers, silent);
}

/** Every interface is reached as localhost, too. */
function urlOf({ family, any, key, port, ssl }: ListenAddress): string {
  const scheme = ssl ? 'https' : 'http';
  if (family === 'unix') {
    return key;
  }
  return `${scheme}://${any ? `localhost:${port}` : key}/`;
}

/** Puts a finding in its final words. */
function finished(finding: Diagnostic, sources: Sources): Finding {
  return {
    level: levelByName(finding.level) ?? 1,
    message: placedMessage(finding),
    detail: diagnosticDetail(finding, (file) => sources.text(file)),
  };
}
