import { STREAM_CONTEXTS } from '../../../shared/config/context.js';
import type { DirectiveNode } from '../../../shared/config/language/ast.js';
import { parseNumber, parseSize, parseTime } from '../../../shared/config/language/units.js';
import { type LogEscape, parseFormat } from '../../../shared/log/format.js';
import type { LogBuffering } from '../../../shared/log/log-file.js';
import { parseSyslog } from '../../../shared/log/syslog.js';
import type { SharedContext } from '../../module.js';
import { SERVER_NAME } from '../../version.js';
import { type AccessLog, COMBINED, type FormatSettings, JSON_LINES, type LogFormat, type LogSettings } from './settings.js';

const ESCAPES: readonly string[] = ['default', 'json', 'none'] satisfies LogEscape[];
/** Bytes that `gzip` buffers when no `buffer=` is given, and its level when none is given. */
const GZIP_BUFFER = 64 * 1024;
const GZIP_LEVEL = 1;

const inStream = ({ block }: SharedContext): boolean => (block.context & STREAM_CONTEXTS) !== 0;

/** Sessions have no format of their own. */
const defaultFormat = (ctx: SharedContext): string | undefined => (inStream(ctx) ? undefined : COMBINED.name);

/** `log_format NAME [escape=default|json|none] TEXT ...`. nginx: ngx_http_log_set_format. */
export function setFormat(conf: Partial<FormatSettings>, node: DirectiveNode, ctx: SharedContext): void {
  const [name = '', ...rest] = node.args;
  const formats = conf.formats ?? [];
  if ((name === COMBINED.name && !inStream(ctx)) || formats.some((format) => format.name === name)) {
    const hint =
      formats.includes(JSON_LINES) && name === JSON_LINES.name ? 'a line above uses the built-in one: put this line before it' : undefined;
    ctx.fail(`duplicate "log_format" name "${name}"`, hint === undefined ? { arg: 0 } : { arg: 0, hint });
  }
  let escaping = 'default';
  if (rest[0]?.startsWith('escape=')) {
    escaping = rest.shift()?.slice('escape='.length) ?? '';
    if (!ESCAPES.includes(escaping)) {
      ctx.fail(`unknown log format escaping "${escaping}"`, { arg: 1, hint: 'it is one of default, json, none' });
    }
  }
  const parts = rest.flatMap((text) => parseFormat(text, (message) => ctx.fail(message, { arg: node.args.indexOf(text) })));
  const format: LogFormat = { name, escaping: escaping as LogEscape, parts };
  useVariables(format, ctx);
  conf.formats = [...formats, format];
}

/** Has the variables of a format bound, or complained about, when the configuration is complete. */
function useVariables(format: LogFormat, ctx: SharedContext): void {
  for (const part of format.parts) {
    if ('variable' in part) {
      ctx.variables.slot(part.variable, ctx.node.pos);
    }
  }
}

/** `access_log PATH|syslog:... [FORMAT [buffer=] [gzip[=]] [flush=] [if=]]` or `access_log off`. nginx: ngx_http_log_set_log. */
export function setAccessLog(
  conf: Partial<LogSettings>,
  formatConf: Partial<FormatSettings>,
  node: DirectiveNode,
  ctx: SharedContext,
): void {
  const [target = '', formatName = defaultFormat(ctx), ...parameters] = node.args;
  const { off, logs } = conf.access ?? { off: false, logs: [] };
  if (target === 'off') {
    conf.access = { off: true, logs };
    if (node.args.length > 1) {
      ctx.fail(`invalid parameter "${node.args[1]}"`, { arg: 1 });
    }
    return;
  }
  const to = parseTarget(target, ctx);
  const format = findFormat(formatName ?? ctx.fail('log format is not specified'), formatConf, ctx);
  const { buffering, filter } = parseParameters(target, parameters, ctx);
  if (buffering !== undefined) {
    if (to.kind === 'variable') {
      ctx.fail('buffered logs cannot have variables in name');
    } else if (to.kind === 'syslog') {
      ctx.fail('logs to syslog cannot be buffered');
    } else {
      setBuffering(target, to.path, buffering, formatConf, ctx);
    }
  }
  conf.access = { off, logs: [...logs, { to, format, filter }] };
}

function parseTarget(target: string, ctx: SharedContext): AccessLog['to'] {
  if (target.startsWith('syslog:')) {
    const syslog = parseSyslog(target, SERVER_NAME, (message) => ctx.fail(message, { arg: 0 }));
    return { kind: 'syslog', syslog, host: syslog.path === undefined ? ctx.host(syslog.host, 'syslog server') : undefined };
  }
  const path = ctx.path(target);
  if (target.includes('$')) {
    return { kind: 'variable', path: ctx.complex(path) };
  }
  ctx.logFile(path);
  return { kind: 'file', path };
}

function findFormat(name: string, conf: Partial<FormatSettings>, ctx: SharedContext): LogFormat {
  const wanted = name.toLowerCase();
  const known = conf.formats ?? [];
  const found = (inStream(ctx) ? known : [COMBINED, ...known]).find((format) => format.name.toLowerCase() === wanted);
  if (found === undefined && wanted === JSON_LINES.name && !inStream(ctx)) {
    useVariables(JSON_LINES, ctx);
    conf.formats = [...known, JSON_LINES];
    return JSON_LINES;
  }
  if (found === undefined) {
    return ctx.fail(`unknown log format "${name}"`, { arg: 1, hint: `a log_format of that name has to stand above this line` });
  }
  if (found === COMBINED) {
    useVariables(found, ctx);
  }
  return found;
}

function parseParameters(
  target: string,
  parameters: readonly string[],
  ctx: SharedContext,
): { buffering: LogBuffering | undefined; filter: AccessLog['filter'] } {
  let size = 0;
  let flush = 0;
  let gzip = 0;
  let filter: AccessLog['filter'];
  for (const [i, parameter] of parameters.entries()) {
    const at = { arg: i + 2 };
    const equals = parameter.indexOf('=');
    const value = parameter.slice(equals + 1);
    switch (equals < 0 ? parameter : parameter.slice(0, equals + 1)) {
      case 'buffer=':
        size = parseSize(value) || ctx.fail(`invalid buffer size "${value}"`, at);
        break;
      case 'flush=':
        flush = parseTime(value, 'ms') || ctx.fail(`invalid flush time "${value}"`, at);
        break;
      case 'gzip':
        size ||= GZIP_BUFFER;
        gzip = GZIP_LEVEL;
        break;
      case 'gzip=':
        size ||= GZIP_BUFFER;
        gzip = /^0*[1-9]$/.test(value) ? Number(value) : ctx.fail(`invalid compression level "${value}"`, at);
        break;
      case 'if=':
        filter = ctx.complex(value);
        break;
      default:
        ctx.fail(`invalid parameter "${parameter}"`, at);
    }
  }
  if (flush > 0 && size === 0) {
    ctx.fail(`no buffer is defined for access_log "${target}"`);
  }
  return { buffering: size === 0 ? undefined : { size, flush, gzip }, filter };
}

function setBuffering(target: string, path: string, buffering: LogBuffering, conf: Partial<FormatSettings>, ctx: SharedContext): void {
  const known = conf.buffers?.get(path);
  if (known === undefined) {
    conf.buffers = new Map(conf.buffers).set(path, buffering);
  } else if (known.size !== buffering.size || known.flush !== buffering.flush || known.gzip !== buffering.gzip) {
    ctx.fail(`access_log "${target}" already defined with conflicting parameters`);
  }
}

/** `open_log_file_cache off | max=N [inactive=TIME] [min_uses=N] [valid=TIME]`. nginx: ngx_http_log_open_file_cache. */
export function setOpenLogFileCache(conf: Partial<LogSettings>, node: DirectiveNode, ctx: SharedContext): void {
  if (conf.cache !== undefined) {
    ctx.reject('is duplicate');
  }
  let max = 0;
  let inactive = 10;
  let valid = 60;
  let minUses = 1;
  let off = false;
  for (const [i, parameter] of node.args.entries()) {
    const value = parameter.slice(parameter.indexOf('=') + 1);
    const invalid = (): never => ctx.fail(`invalid "open_log_file_cache" parameter "${parameter}"`, { arg: i });
    if (parameter.startsWith('max=')) {
      max = parseNumber(value) ?? invalid();
    } else if (parameter.startsWith('inactive=')) {
      inactive = parseTime(value, 's') ?? invalid();
    } else if (parameter.startsWith('min_uses=')) {
      minUses = parseNumber(value) ?? invalid();
    } else if (parameter.startsWith('valid=')) {
      valid = parseTime(value, 's') ?? invalid();
    } else if (parameter === 'off') {
      off = true;
    } else {
      invalid();
    }
  }
  if (!off && max === 0) {
    ctx.fail('"open_log_file_cache" must have "max" parameter');
  }
  conf.cache = off ? 'off' : { max, inactive, valid, minUses };
}
