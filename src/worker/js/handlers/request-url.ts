import { INFO } from '../../../shared/log/level.js';
import type { Request } from '../../http/request/request.js';
import { nameSlot } from '../../http/request/server-names.js';
import { METHOD } from '../../http/syntax/method.js';
import { escapeUri, unescapeUri } from '../../http/syntax/uri-escape.js';
import type { Result } from '../../task/codes.js';

/** A path that reads the same to everybody has none of these: escapes, what `URL` takes for a slash, empty segments and those of dots. */
const AMBIGUOUS = /[%\\#\x80-\xff]|\/\/|\/\.{1,2}(?:\/|$)/;
/** Segments of dots, which nothing can say in a URL that has to be one. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=\/|$)/i;
const DOTS = /^\.{1,2}$/;
/** What an argument may not have as it is. */
const NOT_IN_ARGS = /[\x00-\x20#\x7f-\xff]/;
const ALL_NOT_IN_ARGS = new RegExp(NOT_IN_ARGS, 'g');

/**
 * The target that handlers get: path and arguments as the client sent them where every reader of URLs takes the path for the one by which
 * the location was found, and otherwise that path itself. An application that looks at the path so decides on the same path as the server.
 */
export function handlerTarget(r: Request): string {
  const { unparsedUri } = r;
  if (!r.validUnparsedUri || unparsedUri === '') {
    return ownPath(r.uri) + ownArgs(r.args);
  }
  const question = unparsedUri.indexOf('?');
  const path = question === -1 ? unparsedUri : unparsedUri.slice(0, question);
  if (!(path === r.uri && !AMBIGUOUS.test(path)) && !isSame(path, r.uri)) {
    return ownPath(r.uri) + ownArgs(r.args);
  }
  if (question === -1) {
    return unparsedUri;
  }
  return NOT_IN_ARGS.test(unparsedUri) ? path + ownArgs(r.args) : unparsedUri;
}

/** Whether a path as sent says to everybody what the server made of it. */
const isSame = (path: string, uri: string): boolean =>
  !/[\\#\x80-\xff]/.test(path) && !DOT_SEGMENT.test(path) && unescapeUri(path, 'all') === uri;

/** The path as it is told when what the client sent could be misread. */
function ownPath(uri: string): string {
  // A rewrite may leave one without a slash, which must not become part of the host.
  const escaped = escapeUri(uri.startsWith('/') ? uri : `/${uri}`, 'uri');
  if (!DOT_SEGMENT.test(escaped)) {
    return escaped;
  }
  // Only a rewrite leaves segments of dots. With escaped slashes around them they are no segments, and still the same path.
  const [first = '', ...segments] = escaped.split('/');
  return segments.reduce(
    (path, segment, i) => path + (i > 0 && (DOTS.test(segment) || DOTS.test(segments[i - 1]!)) ? '%2F' : '/') + segment,
    first,
  );
}

const ownArgs = (args: string): string =>
  args === '' ? '' : `?${args.replace(ALL_NOT_IN_ARGS, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)}`;

/** The host with its port by which the server was chosen; empty for none. That of the request line comes before the header. */
const authorityOf = ({ head }: Request): string => (head.port === 0 ? head.host : `${head.host}:${head.port}`);

/** The headers that handlers get, names and values by turns: as sent, with the host of the request line if that names another one. */
export function handlerHeaders(r: Request): readonly string[] {
  const { headers, host } = r.head;
  if (host === '') {
    return headers;
  }
  const sent = r.header('host');
  if (sent === undefined) {
    return ['Host', authorityOf(r), ...headers];
  }
  if (sent === host || saysHost(sent, host)) {
    return headers;
  }
  const own = headers.slice();
  for (let i = 0; i < own.length; i += 2) {
    if (own[i]!.toLowerCase() === 'host') {
      own[i + 1] = authorityOf(r);
    }
  }
  return own;
}

/** Whether a Host header names a host, which is in lower case and has no port. */
function saysHost(sent: string, host: string): boolean {
  const next = sent.charAt(host.length);
  return (next === '' || next === ':' || next === '.') && sent.toLowerCase().startsWith(host);
}

/** The URL of a request: its host is the one by which the server was chosen, its path the one by which the location was. */
export function handlerUrl(r: Request): string {
  const { serverName } = r.server.conf(nameSlot);
  const host = r.head.host === '' ? (isPlainHost(serverName) ? serverName : 'localhost') : authorityOf(r);
  return `${r.connection.tls === undefined ? 'http' : 'https'}://${host}${handlerTarget(r)}`;
}

/** Most hosts, whose text no reader of URLs changes: those whose last label begins with no digit, and without labels in Punycode. */
const PLAIN_HOST = /^(?:(?!xn--)[a-z0-9_-]+\.)*(?!xn--)[a-z_-][a-z0-9_-]*$/;
const isPlainHost = (host: string): boolean => PLAIN_HOST.test(host);

/** Whether a URL can have the host, and means no other by it. Those of IPv6 may be written in several ways. */
function isUrlHost(host: string): boolean {
  const url = `http://${host}/`;
  return URL.canParse(url) && (host.startsWith('[') || new URL(url).hostname === host);
}

/** Methods that the Fetch standard has no requests for. */
const NO_FETCH = new Set(['CONNECT', 'TRACE', 'TRACK']);
const RARE = METHOD.UNKNOWN | METHOD.TRACE | METHOD.CONNECT;

/** Whether handlers can be told of a request. Returns 0, or the status for one whose host no URL can have, or whose method no Request. */
export function checkForHandler(r: Request, asFetch: boolean): Result {
  const { host } = r.head;
  if (host !== '' && !isPlainHost(host) && !isUrlHost(host)) {
    r.log(INFO, 'client sent invalid host header');
    return 400;
  }
  return asFetch && (r.methodBit & RARE) !== 0 && NO_FETCH.has(r.method) ? 405 : 0;
}
