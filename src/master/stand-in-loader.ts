// Stands here until the real loader lands.
import { commandLine, type Node } from '../shared/config/ast.js';
import { ConfigErrors, type ListenSpec, type LoadConfiguration } from '../shared/config/configuration.js';
import { ConfigError, diagnosticDetail, placedMessage, syntaxError } from '../shared/config/errors.js';
import { diskSources } from '../shared/config/sources.js';
import { type ErrorLogSpec, parseErrorLog, withDefaultErrorLog } from '../shared/log/error-log-spec.js';
import { levelByName } from '../shared/log/level.js';

export const loadConfiguration: LoadConfiguration = (options) => {
  const sources = diskSources(options);
  const values = new Map<string, readonly string[]>();
  const errorLogs: ErrorLogSpec[] = [];
  const listens: ListenSpec[] = [];
  const logFiles: string[] = [];
  const env: string[] = [];
  const full = (path: string) => (path.startsWith('/') ? path : options.prefix + path);
  const visit = (nodes: readonly Node[], depth: number): void => {
    for (const node of nodes) {
      if ('syntaxError' in node) {
        throw syntaxError(node);
      }
      if (node.name === 'error_log' && depth === 0) {
        errorLogs.push(
          parseErrorLog(node.args, {
            file: node.pos.file,
            line: node.endLine,
            tag: 'sluice',
            fullPath: full,
            fail: (message) => {
              throw new ConfigError(message, node.pos);
            },
          }),
        );
      } else if (node.name === 'env') {
        env.push(node.args[0] ?? '');
      } else if (node.name === 'access_log' && node.args[0] !== 'off') {
        logFiles.push(full(node.args[0] ?? ''));
      } else if (node.name === 'broken') {
        throw new ConfigError(`unknown directive "${node.name}"`, node.pos);
      } else if (node.name === 'listen') {
        const text = node.args[0] ?? '';
        const unix = text.startsWith('unix:');
        const six = text.startsWith('[');
        const at = text.lastIndexOf(':');
        const [host, port] = at < 0 ? ['0.0.0.0', text] : [text.slice(0, at), text.slice(at + 1)];
        const address = unix ? text.slice(5) : host.replace(/[[\]]/g, '').replace('*', '0.0.0.0');
        listens.push({
          key: unix ? text : six ? `[${address}]:${port}` : `${address}:${port}`,
          family: unix ? 'unix' : six ? 'ipv6' : 'ipv4',
          address,
          port: unix ? 0 : Number(port),
          backlog: 511,
          ipv6only: true,
          reuseport: false,
          udp: false,
        });
      } else if (depth === 0) {
        values.set(node.name, node.args);
      }
      visit(node.block ?? [], depth + 1);
    }
  };
  try {
    for (const file of [commandLine, options.entry]) {
      visit(sources.parse(file), 0);
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    const message = placedMessage(error);
    const detail = diagnosticDetail(error, (file) => sources.text(file));
    throw new ConfigErrors([{ level: levelByName(error.level) ?? 1, message, detail }]);
  }
  const value = (name: string) => values.get(name)?.[0];
  const root = process.getuid?.() === 0;
  return {
    snapshot: sources.snapshot({}),
    process: {
      daemon: value('daemon') !== 'off',
      masterProcess: value('master_process') !== 'off',
      workerProcesses: Number(value('worker_processes') ?? 1),
      user: root ? (value('user') ?? 'nobody') : undefined,
      group: root ? (values.get('user')?.[1] ?? (value('user') ? undefined : 'nogroup')) : undefined,
      pid: full(value('pid') ?? options.pid),
      lockFile: '',
      workerConnections: 512,
      rlimitNofile: value('worker_rlimit_nofile') === undefined ? undefined : Number(value('worker_rlimit_nofile')),
      rlimitCore: undefined,
      priority: Number(value('worker_priority') ?? 0),
      cpuAffinity: values.get('worker_cpu_affinity'),
      shutdownTimeout: Number(value('worker_shutdown_timeout')?.replace('ms', '') ?? 0),
      workingDirectory: value('working_directory'),
      env,
      zoneDirectory: '',
      nginxCompatibility: false,
    },
    listens,
    errorLogs:
      options.errorLog === '' && errorLogs.length === 0
        ? [{ to: { kind: 'stderr' }, level: 4, json: false }]
        : withDefaultErrorLog(errorLogs, full(options.errorLog)),
    logFiles,
    tempPaths: [],
    cachePaths: [],
    warnings: [],
  };
};
