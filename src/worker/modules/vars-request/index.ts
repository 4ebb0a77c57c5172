import { randomPiece } from '../../digest/random-bytes.js';
import { basicCredentials } from '../../http/headers/basic-credentials.js';
import { cookieValue } from '../../http/headers/cookie.js';
import type { Request } from '../../http/request/request.js';
import { nameSlot } from '../../http/request/server-names.js';
import { argValue } from '../../http/syntax/uri-args.js';
import { defineModule, type Variable } from '../../module.js';

/** A variable that keeps what it was when it was asked for first, even if it was nothing then. */
const fixed = (name: string, get: (r: Request) => string | undefined): Variable => ({ name, get });
/** A variable whose value may change while the request runs. */
const live = (name: string, get: (r: Request) => string | undefined): Variable => ({ name, cacheable: false, get });

/** All values of the headers that `$http_` and a name stand for; `-` and `_` are the same. nginx: ngx_http_variable_unknown_header. */
function headerValue(r: Request, suffix: string): string | undefined {
  const { names, headers } = r.head;
  let value: string | undefined;
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    if (name.length !== suffix.length || (name !== suffix && name.replaceAll('-', '_') !== suffix)) {
      continue;
    }
    value = value === undefined ? headers[2 * i + 1] : `${value}${suffix === 'cookie' ? '; ' : ', '}${headers[2 * i + 1]}`;
  }
  return value;
}

/** What the header says, but not to those who would wait for a body that is lost. */
function contentLength(r: Request): string | undefined {
  if (r.internal && !r.main.logged && (r.main.body?.lost || (r !== r.main && r.main.requestBodyNoBuffering))) {
    return '0';
  }
  const sent = r.header('content-length');
  if (sent !== undefined) {
    return sent;
  }
  if (r !== r.main && r.contentLength >= 0) {
    // A script has given it a body.
    return String(r.contentLength);
  }
  const body = r.main.body;
  if (body !== null && r.main.requestBodyNoBuffering && !body.complete) {
    // It is passed on as it comes, and nobody knows its length before its end.
    return body.came >= 0 ? String(body.came) : undefined;
  }
  if (body !== null && r.chunkedIn) {
    return String(body.length);
  }
  if (body?.lost && r.head.chunked && body.came >= 0) {
    return String(body.came);
  }
  return undefined;
}

function requestTime(r: Request): string {
  const ms = Math.max(0, Math.round(performance.now() - r.startTime));
  return `${Math.floor(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`;
}

/** A URI that could not be made is empty; of a line that could not be read there is none. */
const uriOf = (r: Request): string | undefined => (r.uri === '' && r.main.method === '' ? undefined : r.uri);

function setArgs(r: Request, value: string): void {
  r.args = value;
  r.validUnparsedUri = false;
}

const variables: readonly Variable[] = [
  // HTTP/2 has no line but what is made of a request that could be read.
  fixed('request', (r) =>
    r.main.line === '' && (r.head.protocol === 'HTTP/2.0' || r.head.protocol === 'HTTP/3.0') ? undefined : r.main.line,
  ),
  live('request_method', (r) => r.main.method || undefined),
  fixed('request_uri', (r) => r.unparsedUri || undefined),
  live('uri', uriOf),
  live('document_uri', uriOf),
  { name: 'args', cacheable: false, changeable: true, get: (r) => (r.args === '' ? undefined : r.args), set: setArgs },
  live('query_string', (r) => (r.args === '' ? undefined : r.args)),
  live('is_args', (r) => (r.args === '' ? '' : '?')),
  fixed('server_protocol', (r) => r.head.protocol),
  fixed('host', (r) => (r.head.host !== '' ? r.head.host : r.server.conf(nameSlot).serverName)),
  fixed('request_port', (r) => (r.head.port > 0 && r.head.port < 65536 ? String(r.head.port) : '')),
  fixed('is_request_port', (r) => (r.head.port === 0 ? '' : ':')),
  live('content_length', contentLength),
  fixed('content_type', (r) => r.head.joined('content-type', ', ')),
  fixed('remote_user', (r) => basicCredentials(r)?.user),
  { name: 'http_', prefix: true, get: headerValue },
  { name: 'arg_', prefix: true, cacheable: false, get: (r, suffix) => argValue(r.args, suffix) },
  { name: 'cookie_', prefix: true, get: (r, suffix) => cookieValue(r, suffix) },
  fixed('request_body', (r) => {
    const body = r.body ?? r.main.body;
    return body === null || !body.complete || body.length === 0 ? undefined : body.inMemory()?.toString('latin1');
  }),
  fixed('request_body_file', (r) => (r.body ?? r.main.body)?.file?.path),
  // A subrequest was sent by nobody, and is never the one that is complete.
  live('request_length', (r) => (r.main === r ? String(r.requestLength) : '0')),
  live('request_time', requestTime),
  fixed('request_completion', (r) => (r.main === r && r.main.finished && !r.main.aborted ? 'OK' : '')),
  fixed('request_id', (r) => randomPiece(r.http.env.compatible ? 16 : 8).toString('hex')),
  fixed('server_name', (r) => r.server.conf(nameSlot).serverName),
  live('pipe', (r) => (r.pipelined ? 'p' : '.')),
];

/** Variables about the request and its head. nginx: ngx_http_core_variables. */
export const varsRequestModule = defineModule({ name: 'vars_request', variables });
