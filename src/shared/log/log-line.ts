import { byteText } from '../text/native-text.js';
import { nowLocal } from '../time/time-format.js';
import { utf8Only } from './escape.js';
import { DEBUG, type Level, levelNames } from './level.js';

/** What a line says about the connection or request it belongs to; every part that is unknown is left out. */
export interface LogContext {
  /** What was being done, as in "while reading client request line". */
  readonly action?: string | undefined;
  readonly client?: string | undefined;
  /** The client sends datagrams. */
  readonly udp?: boolean | undefined;
  readonly server?: string | undefined;
  readonly request?: string | undefined;
  readonly subrequest?: string | undefined;
  readonly upstream?: string | undefined;
  /** How much went each way between client and backend, as text. */
  readonly transferred?: string | undefined;
  readonly host?: string | undefined;
  readonly referrer?: string | undefined;
}

/** A connection, or the request on it: asked for its context only when a line is really written. */
export interface LogSubject {
  /** Number of the connection, shown as `*17`; 0 when there is none to show. */
  readonly connectionId: number;
  logContext(): LogContext;
}

/** The longest line of the error log, line feed included. nginx: NGX_MAX_ERROR_STR. */
const MAX_LINE = 2048;

const UNSAFE = /[\x00-\x1f\x7f]|[^\x00-\xff]/;
const EACH_UNSAFE = /[\x00-\x1f\x7f]|[^\x00-\xff]+/g;

/**
 * The text with control characters as `\x0A`, so that nothing a client sends starts a line of its own or reaches a terminal as a command,
 * and with characters that do not fit in a byte as their UTF-8 bytes.
 */
function safeText(text: string): string {
  return UNSAFE.test(text) ? text.replace(EACH_UNSAFE, escapeUnsafe) : text;
}

function escapeUnsafe(found: string): string {
  const code = found.charCodeAt(0);
  return code > 0x7f ? byteText(found) : `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
}

/** A line's context as nginx appends it to the message. nginx: ngx_http_log_error, ngx_http_log_error_handler. */
function contextText(context: LogContext): string {
  let text = context.action === undefined ? '' : ` while ${context.action}`;
  if (context.client !== undefined) {
    text += `, ${context.udp ? 'udp ' : ''}client: ${context.client}`;
  }
  if (context.server !== undefined) {
    text += `, server: ${context.server}`;
  }
  if (context.request !== undefined) {
    text += `, request: "${context.request}"`;
  }
  if (context.subrequest !== undefined) {
    text += `, subrequest: "${context.subrequest}"`;
  }
  if (context.upstream !== undefined) {
    text += `, upstream: "${context.upstream}"`;
  }
  if (context.transferred !== undefined) {
    text += `, ${context.transferred}`;
  }
  if (context.host !== undefined) {
    text += `, host: "${context.host}"`;
  }
  if (context.referrer !== undefined) {
    text += `, referrer: "${context.referrer}"`;
  }
  return text;
}

/**
 * One line in nginx's form, line feed included: time, level, process, connection, message and, except at level debug, the context.
 * nginx: ngx_log_error_core.
 */
export function textLine(level: Level, message: string, subject: LogSubject | undefined): string {
  let text = `${nowLocal().errorLog} [${levelNames[level]}] ${process.pid}#${process.pid}: `;
  if (subject !== undefined && subject.connectionId !== 0) {
    text += `*${subject.connectionId} `;
  }
  text += subject === undefined || level === DEBUG ? message : message + contextText(subject.logContext());
  text = safeText(text);
  return `${text.length < MAX_LINE ? text : text.slice(0, MAX_LINE - 1)}\n`;
}

/**
 * One line as a JSON object, line feed included: time (with milliseconds), level, pid, connection, client, server, request, subrequest,
 * upstream, host, referrer and message, those that are known.
 */
export function jsonLine(level: Level, message: string, subject: LogSubject | undefined): string {
  const { iso8601 } = nowLocal();
  const milliseconds = `${Date.now() % 1000}`.padStart(3, '0');
  const context = subject?.logContext();
  const object = {
    time: `${iso8601.slice(0, 19)}.${milliseconds}${iso8601.slice(19)}`,
    level: levelNames[level],
    pid: process.pid,
    connection: subject === undefined || subject.connectionId === 0 ? undefined : subject.connectionId,
    client: context?.client,
    server: context?.server,
    request: context?.request,
    subrequest: context?.subrequest,
    upstream: context?.upstream,
    host: context?.host,
    referrer: context?.referrer,
    message: context?.action === undefined ? message : `${message} while ${context.action}`,
  };
  return `${utf8Only(JSON.stringify(object))}\n`;
}
