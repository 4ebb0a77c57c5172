import { hostname } from 'node:os';
import { LONGEST_SOCKET_PATH } from '../address/socket-path.js';
import { nowLocal } from '../time/time-format.js';
import { levelNames } from './level.js';

/** RFC 3164's facilities by number, with nginx's names. */
const FACILITIES =
  'kern user mail daemon auth intern lpr news uucp clock authpriv ftp ntp audit alert cron local0 local1 local2 local3 local4 local5 local6 local7'.split(
    ' ',
  );
const DEFAULT_PORT = 514;

/** The arguments of `syslog:`. */
export interface SyslogSpec {
  /** The server as it was written, for messages. */
  readonly server: string;
  /** Path of a UNIX-domain socket, or undefined for a server at an address. */
  readonly path: string | undefined;
  /** Reached by TCP (`server=tcp:HOST:PORT`) instead of UDP. */
  readonly tcp: boolean;
  /** Name or address of the server; an IPv6 address is without its brackets. */
  readonly host: string;
  readonly port: number;
  readonly facility: number;
  /** Severity (0-7) of access log lines; error log lines have their own. */
  readonly severity: number;
  readonly tag: string;
  readonly nohostname: boolean;
}

/**
 * Reads the value of an `error_log` or `access_log` that starts with `syslog:`. `fail` receives nginx's message and does not return.
 * nginx: ngx_syslog_parse_args.
 */
export function parseSyslog(value: string, defaultTag: string, fail: (message: string) => never): SyslogSpec {
  let server: ServerAddress | undefined;
  let facility: number | undefined;
  let severity: number | undefined;
  let tag: string | undefined;
  let nohostname = false;
  const word = (list: readonly string[], text: string, what: string): number => {
    const index = list.indexOf(text);
    return index >= 0 ? index : fail(`unknown syslog ${what} "${text}"`);
  };
  for (const parameter of value.slice('syslog:'.length).split(',')) {
    if (parameter.startsWith('server=')) {
      if (server !== undefined) {
        fail('duplicate syslog "server"');
      }
      server = parseServer(parameter.slice(7), fail);
    } else if (parameter.startsWith('facility=')) {
      if (facility !== undefined) {
        fail('duplicate syslog "facility"');
      }
      facility = word(FACILITIES, parameter.slice(9), 'facility');
    } else if (parameter.startsWith('severity=')) {
      if (severity !== undefined) {
        fail('duplicate syslog "severity"');
      }
      severity = word(levelNames.slice(1), parameter.slice(9), 'severity');
    } else if (parameter.startsWith('tag=')) {
      if (tag !== undefined) {
        fail('duplicate syslog "tag"');
      }
      tag = parameter.slice(4);
      if (tag.length > 32) {
        fail('syslog tag length exceeds 32');
      }
      if (/[^0-9A-Za-z_]/.test(tag)) {
        fail('syslog "tag" only allows alphanumeric characters and underscore');
      }
    } else if (parameter === 'nohostname') {
      nohostname = true;
    } else {
      fail(`unknown syslog parameter "${parameter}"`);
    }
  }
  if (server === undefined) {
    fail('no syslog server specified');
  }
  return { ...server, facility: facility ?? 23, severity: severity ?? 6, tag: tag ?? defaultTag, nohostname };
}

type ServerAddress = Pick<SyslogSpec, 'server' | 'path' | 'tcp' | 'host' | 'port'>;

/** `HOST[:PORT]`, `unix:PATH` and, which nginx does not have, `tcp:HOST[:PORT]`. nginx: ngx_parse_url, without its resolving. */
function parseServer(written: string, fail: (message: string) => never): ServerAddress {
  const bad = (what: string): never => fail(`${what} in syslog server "${written}"`);
  const tcp = /^tcp:/i.test(written);
  const text = tcp ? written.slice(4) : written;
  if (/^unix:/i.test(written)) {
    const path = text.slice(5);
    if (path === '') {
      bad('no path in the unix domain socket');
    }
    if (path.length > LONGEST_SOCKET_PATH) {
      bad('too long path in the unix domain socket');
    }
    return { server: text, path, tcp, host: '', port: 0 };
  }
  const bracketed = /^\[([^\]]*)\](.*)$/s.exec(text);
  if (/[/?]/.test(text) || (text.startsWith('[') && (bracketed === null || !/^(:.*)?$/s.test(bracketed[2] ?? '')))) {
    bad('invalid host');
  }
  const colon = bracketed === null ? text.indexOf(':') : text.indexOf(':', text.indexOf(']'));
  const host = bracketed?.[1] ?? (colon < 0 ? text : text.slice(0, colon));
  const port = colon < 0 ? DEFAULT_PORT : Number(/^\d+$/.exec(text.slice(colon + 1))?.[0] ?? 0);
  if (port < 1 || port > 65535) {
    bad('invalid port');
  }
  if (host === '') {
    bad('no host');
  }
  return { server: colon < 0 ? `${written}:${port}` : written, path: undefined, tcp, host, port };
}

const HOSTNAME = hostname().toLowerCase();

/** What stands before the text of each message. nginx: ngx_syslog_add_header. */
export function syslogHeader(spec: SyslogSpec, severity: number): string {
  const host = spec.nohostname ? '' : `${HOSTNAME} `;
  return `<${spec.facility * 8 + severity}>${nowLocal().syslog} ${host}${spec.tag}: `;
}
