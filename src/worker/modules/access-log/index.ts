import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { defaultLogPath } from '../../../shared/config/paths.js';
import type { WorkerEnv } from '../../env.js';
import { documentSlot } from '../../http/request/document-settings.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineSharedScope } from '../../module.js';
import type { ClientTask } from '../../task/client-task.js';
import type { ProtocolRuntime } from '../../task/protocol-runtime.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { setAccessLog, setFormat, setOpenLogFileCache } from './directives.js';
import { LogWriters } from './handler.js';
import { COMBINED, type FormatSettings, type LogSettings } from './settings.js';

const SERVER_OR_INSIDE = In.SERVER | In.LOCATION | In.SERVER_IF | In.LOCATION_IF | In.LIMIT_EXCEPT;
const LOCATION_LEVEL = In.HTTP | In.SERVER | In.LOCATION | In.STREAM | In.STREAM_SERVER;

const formatScope = defineSharedScope<FormatSettings>({
  fields: {
    formats: inherit<FormatSettings['formats']>([]),
    buffers: inherit<FormatSettings['buffers']>(new Map()),
  },
  directives: {
    log_format: { in: In.HTTP | In.STREAM, args: { min: 2 }, set: setFormat },
  },
});

/** The access logs of each level; for commands that read logs. */
export const accessLogScope = defineSharedScope<LogSettings>({
  fields: {
    access: inherit<LogSettings['access']>(undefined),
    cache: inherit<LogSettings['cache']>(undefined),
  },
  directives: {
    access_log: {
      in: LOCATION_LEVEL | In.LOCATION_IF | In.LIMIT_EXCEPT,
      args: { min: 1 },
      set: (conf, node, ctx) => setAccessLog(conf, ctx.conf(formatScope), node, ctx),
    },
    open_log_file_cache: { in: LOCATION_LEVEL, args: [1, 2, 3, 4], set: setOpenLogFileCache },
  },
  finish(conf, _parent, { context, prefix }) {
    // nginx: ngx_http_log_merge_loc_conf. Only a server makes use of the default, so that an http block without one opens no file.
    if (conf.access === undefined && (context & SERVER_OR_INSIDE) !== 0) {
      const to = { kind: 'file', path: defaultLogPath('access.log', prefix) } as const;
      conf.access = { off: false, logs: [{ to, format: COMBINED, filter: undefined }] };
    }
  },
  link({ access }, ctx) {
    for (const { to, format } of access?.logs ?? []) {
      if (to.kind === 'file') {
        ctx.logFile(to.path);
      }
      if (format === COMBINED) {
        for (const part of COMBINED.parts) {
          if ('variable' in part) {
            ctx.variables.slot(part.variable);
          }
        }
      }
    }
  },
});

const writersOf = runtimePart<{ writers: LogWriters | undefined }>(() => ({ writers: undefined }));

const rootOf = (r: ClientTask): string => (r as Request).location.conf(documentSlot).root.eval(r as Request);

function install(
  conf: Readonly<FormatSettings>,
  runtime: ProtocolRuntime,
  env: WorkerEnv,
  root: (r: ClientTask) => string | undefined,
): void {
  writersOf(runtime).writers = new LogWriters(env, runtime, root);
  for (const [path, buffering] of conf.buffers) {
    env.logFiles.open(path).buffer(buffering);
  }
}

/** Writes a line for each request and session. nginx: ngx_http_log_module, ngx_stream_log_module. */
export const accessLogModule = defineModule({
  name: 'access_log',
  main: formatScope,
  location: accessLogScope,
  installMain: (conf, http, env) => install(conf, http, env, rootOf),
  phases: {
    log: (conf, _env, location) => writersOf(location.server.http).writers?.handler(conf),
  },
  stream: {
    installMain: (conf, stream, env) => install(conf, stream, env, () => undefined),
    phases: {
      log: (conf, _env, server) => writersOf(server.stream).writers?.handler(conf),
    },
  },
});
