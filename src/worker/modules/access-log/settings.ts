import type { HostRef } from '../../../shared/config/define.js';
import { type FormatPart, type LogEscape, parseFormat } from '../../../shared/log/format.js';
import type { LogBuffering } from '../../../shared/log/log-file.js';
import type { SyslogSpec } from '../../../shared/log/syslog.js';
import type { OpenLogFileCache } from '../../../shared/log/variable-log-files.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { ClientTask } from '../../task/client-task.js';

/** A `log_format`. */
export interface LogFormat {
  readonly name: string;
  readonly escaping: LogEscape;
  readonly parts: readonly FormatPart[];
}

/** An `access_log`. */
export interface AccessLog {
  readonly to:
    | { readonly kind: 'file'; readonly path: string }
    /** A file whose full path has variables. */
    | { readonly kind: 'variable'; readonly path: ComplexValue<ClientTask> }
    | { readonly kind: 'syslog'; readonly syslog: SyslogSpec; readonly host: HostRef | undefined };
  readonly format: LogFormat;
  /** The condition of `if=`. */
  readonly filter: ComplexValue<ClientTask> | undefined;
}

/** The access logs of one level: `off` wins over logs beside it. */
export interface AccessLogs {
  readonly off: boolean;
  readonly logs: readonly AccessLog[];
}

/** Settings of the `http` level. */
export interface FormatSettings {
  formats: readonly LogFormat[];
  /** How files are buffered, by full path: a file has one buffer, whichever directives name it. */
  buffers: ReadonlyMap<string, LogBuffering>;
}

/** Settings of `http`, servers and locations. */
export interface LogSettings {
  /** Undefined where neither this level nor one around it says anything. */
  access: AccessLogs | undefined;
  cache: OpenLogFileCache | 'off' | undefined;
}

/** The format that is always there. */
export const COMBINED: LogFormat = {
  name: 'combined',
  escaping: 'default',
  parts: [
    { variable: 'remote_addr' },
    { text: ' - ' },
    { variable: 'remote_user' },
    { text: ' [' },
    { variable: 'time_local' },
    { text: '] "' },
    { variable: 'request' },
    { text: '" ' },
    { variable: 'status' },
    { text: ' ' },
    { variable: 'body_bytes_sent' },
    { text: ' "' },
    { variable: 'http_referer' },
    { text: '" "' },
    { variable: 'http_user_agent' },
    { text: '"' },
  ],
};

/** The format `json`, which is there unless the configuration defines one of this name. Its line is what the guide of logs shows. */
export const JSON_LINES: LogFormat = {
  name: 'json',
  escaping: 'json',
  parts: parseFormat(
    '{"time":"$time_iso8601","client":"$remote_addr","method":"$request_method","uri":"$request_uri","status":$status,' +
      '"bytes":$body_bytes_sent,"took":$request_time,"backend_took":"$upstream_response_time","why":"$error_reason",' +
      '"host":"$host","referer":"$http_referer","agent":"$http_user_agent"}',
    (message) => {
      throw new Error(message);
    },
  ),
};
