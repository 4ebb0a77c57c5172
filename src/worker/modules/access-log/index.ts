import { In } from '../../../shared/config/context.js';
import { inherit } from '../../../shared/config/define.js';
import { defaultLogPath } from '../../../shared/config/paths.js';
import type { HttpRuntime } from '../../http/request/http-runtime.js';
import { defineModule, defineScope } from '../../module.js';
import { setAccessLog, setFormat, setOpenLogFileCache } from './directives.js';
import { LogWriters } from './handler.js';
import { COMBINED, type FormatSettings, type LogSettings } from './settings.js';

const SERVER_OR_INSIDE = In.SERVER | In.LOCATION | In.SERVER_IF | In.LOCATION_IF | In.LIMIT_EXCEPT;
const LOCATION_LEVEL = In.HTTP | In.SERVER | In.LOCATION;

const formatScope = defineScope<FormatSettings>({
  fields: {
    formats: inherit<FormatSettings['formats']>([]),
    buffers: inherit<FormatSettings['buffers']>(new Map()),
  },
  directives: {
    log_format: { in: In.HTTP, args: { min: 2 }, set: setFormat },
  },
});

const logScope = defineScope<LogSettings>({
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

const writers = new WeakMap<HttpRuntime, LogWriters>();

/** Writes a line for each request. nginx: ngx_http_log_module. */
export const accessLogModule = defineModule({
  name: 'access_log',
  main: formatScope,
  location: logScope,
  installMain(conf, http, env) {
    writers.set(http, new LogWriters(env, http));
    for (const [path, buffering] of conf.buffers) {
      env.logFiles.open(path).buffer(buffering);
    }
  },
  phases: {
    log: (conf, _env, location) => writers.get(location.server.http)?.handler(conf),
  },
});
