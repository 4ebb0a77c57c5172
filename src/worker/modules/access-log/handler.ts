import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { fsPath } from '../../../shared/files/fs-path.js';
import { compileFormat } from '../../../shared/log/format.js';
import { ALERT, CRIT, ERROR } from '../../../shared/log/level.js';
import { openSyslog } from '../../../shared/log/syslog-peer.js';
import { type OpenLogFileCache, VariableLogFiles } from '../../../shared/log/variable-log-files.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { WorkerEnv } from '../../env.js';
import { climbsByVariables } from '../../http/request/map-path.js';
import type { Request } from '../../http/request/request.js';
import type { ClientTask } from '../../task/client-task.js';
import { OK, type Result } from '../../task/codes.js';
import type { ProtocolRuntime } from '../../task/protocol-runtime.js';
import type { AccessLog, LogFormat, LogSettings } from './settings.js';

/** Variables whose values are made by the server and hold nothing to escape. nginx: ngx_http_log_vars. */
const VERBATIM: ReadonlySet<string> = new Set([
  'pipe',
  'time_local',
  'time_iso8601',
  'msec',
  'request_time',
  'status',
  'bytes_sent',
  'body_bytes_sent',
  'request_length',
]);

type Write = (r: ClientTask) => void;
/** Gives the folder without which a log whose name has variables is not written; undefined where there is no such thing. */
type RootOf = (r: ClientTask) => string | undefined;

/** What the access logs of one `http` or `stream` block share. */
export class LogWriters {
  readonly #env: WorkerEnv;
  readonly #runtime: ProtocolRuntime;
  readonly #rootOf: RootOf;
  readonly #formats = new Map<LogFormat, (r: ClientTask) => string>();
  readonly #writers = new Map<AccessLog, Write>();
  readonly #variableFiles = new Map<OpenLogFileCache | undefined, VariableLogFiles>();

  constructor(env: WorkerEnv, runtime: ProtocolRuntime, rootOf: RootOf) {
    this.#env = env;
    this.#runtime = runtime;
    this.#rootOf = rootOf;
  }

  /** The log phase handler of a location or server, or undefined when nothing is logged there. nginx: ngx_http_log_handler. */
  handler({ access, cache }: LogSettings): ((r: ClientTask) => Result) | undefined {
    if (access === undefined || access.off) {
      return undefined;
    }
    const writes = access.logs.map((log) => filtered(log.filter, this.#writer(log, cache === 'off' ? undefined : cache)));
    const [only] = writes;
    if (only !== undefined && writes.length === 1) {
      return (r) => {
        only(r);
        return OK;
      };
    }
    return (r) => {
      for (let i = 0; i < writes.length; i++) {
        (writes[i] as Write)(r);
      }
      return OK;
    };
  }

  #writer(log: AccessLog, cache: OpenLogFileCache | undefined): Write {
    const line = this.#format(log.format);
    const { to } = log;
    if (this.#env.rehearsing) {
      return (r) => foresee(r, to, line(r));
    }
    switch (to.kind) {
      case 'file': {
        const file = this.#env.logFiles.open(to.path);
        return (r) => file.write(`${line(r)}\n`);
      }
      case 'variable': {
        const files = this.#files(cache);
        return (r) => writeVariable(r, this.#rootOf(r), to.path, files, line);
      }
      case 'syslog': {
        const known = this.#writers.get(log);
        if (known !== undefined) {
          return known;
        }
        const peer = openSyslog(to.syslog, to.host?.addresses[0] ?? '', this.#report);
        this.#env.onClose(() => peer.close());
        const write: Write = (r) => peer.send(to.syslog.severity, line(r));
        this.#writers.set(log, write);
        return write;
      }
    }
  }

  #format(format: LogFormat): (r: ClientTask) => string {
    let compiled = this.#formats.get(format);
    if (compiled === undefined) {
      const { variables } = this.#runtime;
      compiled = compileFormat<ClientTask>(format.parts, format.escaping, (name) => {
        const slot = variables.slot(name);
        return { get: (r) => variables.fresh(r, slot), verbatim: VERBATIM.has(name) };
      });
      this.#formats.set(format, compiled);
    }
    return compiled;
  }

  #files(cache: OpenLogFileCache | undefined): VariableLogFiles {
    let files = this.#variableFiles.get(cache);
    if (files === undefined) {
      files = new VariableLogFiles(cache, this.#report);
      this.#variableFiles.set(cache, files);
      this.#env.onClose(() => files?.close());
    }
    return files;
  }

  readonly #report = (message: string): void => this.#env.log.log(ALERT, message);
}

function filtered(filter: ComplexValue<ClientTask> | undefined, write: Write): Write {
  if (filter === undefined) {
    return write;
  }
  return (r) => {
    const value = filter.eval(r);
    if (value !== '' && value !== '0') {
      write(r);
    }
  };
}

/** Says which line would be written where, when a request is only tried out. */
function foresee(r: ClientTask, to: AccessLog['to'], line: string): void {
  const { trace } = r as Request;
  if (trace == null) {
    return;
  }
  const path = to.kind === 'file' ? to.path : to.kind === 'variable' ? to.path.eval(r) : `syslog:${to.syslog.host}`;
  trace.add(r as Request, 'log', `${path}: ${line}`, { in: (r as Request).location, directive: 'access_log' }, { path, line });
}

/** nginx: ngx_http_log_script_write, ngx_stream_log_script_write. */
function writeVariable(
  r: ClientTask,
  root: string | undefined,
  path: ComplexValue<ClientTask>,
  files: VariableLogFiles,
  line: (r: ClientTask) => string,
): void {
  if (root !== undefined && !exists(r, root)) {
    return;
  }
  const name = path.eval(r);
  if (climbsByVariables(path, name)) {
    r.log(ERROR, `"${name}" leads out of "${path.text}"`);
    return;
  }
  try {
    files.write(name, `${line(r)}\n`);
  } catch (error) {
    r.log(CRIT, `open() "${name}" failed (${errnoText(error)})`);
  }
}

/** A name that comes from the request is only trusted below a root that exists. */
function exists(r: ClientTask, root: string): boolean {
  try {
    if (statSync(fsPath(root)).isDirectory()) {
      return true;
    }
    r.log(ERROR, `testing "${root}" existence failed (${errnoText(constants.errno.ENOTDIR)})`);
  } catch (error) {
    r.log(ERROR, `testing "${root}" existence failed (${errnoText(error)})`);
  }
  return false;
}
