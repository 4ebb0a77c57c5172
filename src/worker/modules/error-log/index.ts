import { append } from '../../../shared/collection/append.js';
import { In } from '../../../shared/config/context.js';
import { type HostRef, inherit } from '../../../shared/config/define.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import type { ErrorLog } from '../../../shared/log/error-log.js';
import { type ErrorLogSpec, openErrorLog, parseErrorLog } from '../../../shared/log/error-log-spec.js';
import type { SyslogSpec } from '../../../shared/log/syslog.js';
import type { WorkerEnv } from '../../env.js';
import { defineModule, defineSharedScope, type SharedContext } from '../../module.js';
import { SERVER_NAME } from '../../version.js';

interface ErrorLogs {
  /** Undefined: the logs of the main context. */
  logs: readonly ErrorLogSpec[] | undefined;
}

/** What the syslog servers of the directives are resolved to. */
const hosts = new WeakMap<SyslogSpec, HostRef>();
const opened = new WeakMap<readonly ErrorLogSpec[], ErrorLog>();

function addLog(conf: Partial<ErrorLogs>, node: DirectiveNode, ctx: SharedContext): void {
  const spec = parseErrorLog(node.args, {
    file: node.pos.file,
    line: node.endLine,
    tag: SERVER_NAME,
    fullPath: (path) => ctx.path(path),
    fail: (message) => ctx.fail(message),
  });
  if (spec.to.kind === 'file') {
    ctx.logFile(spec.to.path);
  }
  if (spec.to.kind === 'syslog' && spec.to.syslog.path === undefined) {
    hosts.set(spec.to.syslog, ctx.host(spec.to.syslog.host, 'syslog server'));
  }
  conf.logs = append(conf.logs, spec);
}

/** The error logs of the main context, for the code that opens them first. */
export const mainErrorLogs = defineSharedScope<ErrorLogs>({
  fields: { logs: inherit<readonly ErrorLogSpec[] | undefined>(undefined) },
  directives: { error_log: { in: In.MAIN, args: { min: 1 }, set: addLog } },
});

/** The error logs of `http` and `stream`, servers and locations. */
const locationErrorLogs = defineSharedScope<ErrorLogs>({
  fields: { logs: inherit<readonly ErrorLogSpec[] | undefined>(undefined) },
  directives: { error_log: { in: In.HTTP | In.SERVER | In.LOCATION | In.STREAM | In.STREAM_SERVER, args: { min: 1 }, set: addLog } },
});

/** The log of one list of directives, which all locations that inherit it share. */
function openOnce(specs: readonly ErrorLogSpec[], env: WorkerEnv): ErrorLog {
  let log = opened.get(specs);
  if (log === undefined) {
    const made = openErrorLog(specs, env.logFiles, (syslog) => hosts.get(syslog)?.addresses[0] ?? syslog.host);
    env.onClose(() => made.close());
    opened.set(specs, made);
    log = made;
  }
  return log;
}

/** Where errors are written, and from which level on. nginx: ngx_errlog_module, ngx_http_core_error_log. */
export const errorLogModule = defineModule({
  name: 'error_log',
  process: mainErrorLogs,
  location: locationErrorLogs,
  installLocation(conf, location, env) {
    location.log = conf.logs === undefined || env.rehearsing ? env.log : openOnce(conf.logs, env);
  },
  stream: {
    installLocation(conf, server, env) {
      server.log = conf.logs === undefined ? env.log : openOnce(conf.logs, env);
    },
  },
});
