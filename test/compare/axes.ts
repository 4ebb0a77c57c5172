import { type Case, isStream } from './case.js';
import type { Form } from './configuration.js';
import { meansTheSame } from './requests.js';

/** How one run of a case is made. */
export interface Run {
  /** Which server process serves it. */
  readonly site: 'libuv' | 'uring' | 'workers' | 'reloading' | 'nginx';
  readonly form: Form;
  readonly tls: boolean;
  readonly http2: boolean;
  readonly http3: boolean;
  readonly bytewise: boolean;
  /** Somebody before the server says whose connection it is. */
  readonly proxied?: true;
  /** The client's first bytes are early data. */
  readonly early?: true;
  /** Which of two same runs, one after the other. */
  readonly nth: 1 | 2;
}

/** Two runs of a case that must show the same. */
export interface Axis {
  readonly name: string;
  readonly left: Run;
  readonly right: Run;
  /** Whether the two are to be the same for a case. */
  readonly applies: (one: Case) => boolean;
  /** It is played to servers of `stream`, too. */
  readonly streams?: true;
  /** Whether what has this name is the same. */
  readonly compares: (what: string) => boolean;
  /** It is played where it is asked for by name. */
  readonly asked?: true;
  /** What of a text is the same; all of it unless told. */
  readonly common?: (text: string, what: string) => string;
}

// A run that several axes have in common is made once.
const BASE: Run = { site: 'libuv', form: 'plain', tls: false, http2: false, http3: false, bytewise: false, nth: 1 };
const HTTP2: Run = { ...BASE, http2: true };
const HTTP3: Run = { ...BASE, http3: true, tls: true };
const EARLY: Run = { ...BASE, tls: true, site: 'uring', early: true };
const HTTP3_URING: Run = { ...HTTP3, site: 'uring' };
const HTTP3_EARLY: Run = { ...HTTP3_URING, early: true };
const CACHED: Run = { ...BASE, form: 'cached' };

/** Whether a part of one of these names takes part in a case. */
const uses = ({ parts }: Pick<Case, 'parts'>, names: RegExp): boolean => parts.some(({ name }) => names.test(name));
const notEarly = (what: string): boolean => what !== 'early data';
/** Only who comes over TLS can be asked for a certificate; who sends early data is not, and none is sent over HTTP/3 here. */
const asksClients = (one: Case): boolean => uses(one, /^client-certificate$/);
const always = (): boolean => true;
/** Whether nginx takes a case. */
export const isCommon = ({ parts }: Pick<Case, 'parts'>): boolean => parts.every(({ ours }) => !ours);

/** A client that still sends to a connection that was closed may lose the response. */
const readToTheEnd = (one: Case): boolean =>
  !one.client.requests.some(({ body }) => body?.framing.startsWith('bad')) && !/lingering_close off/.test(JSON.stringify(one.parts));

/** The framing of a protocol, and the variables that count its bytes. */
const FRAMING =
  /: version$|: header (connection|keep-alive|transfer-encoding|upgrade)$|\$(server_protocol|http[23]|scheme|request_length|bytes_sent|body_bytes_sent|pipe|sent_http_connection|sent_http_transfer_encoding|upstream_bytes_sent|connection_requests)$|^end$|: trailers$|: complete$/;

const COOKIE = 'cookie: ';

/** A request of CGI without the parameter that says that its client came by TLS. */
const withoutHttps = (text: string): string => text.replace(/^HTTPS=on\n/m, '');

/** What a request is without what HTTP/2 and HTTP/3 write otherwise. */
const inAnyVersion = (text: string, what: string): string => {
  const same = withoutHttps(text)
    .replace(/ HTTP\/(1\.1|[23]\.0)/g, ' HTTP/N')
    .replaceAll('https:', 'http:')
    .replaceAll('HTTPS', 'HTTP');
  if (!/^request .*to the backend$/.test(what)) {
    // White space around a value is no part of it in HTTP/1.
    return /: header /.test(what) ? same.trim() : same;
  }
  const [head = '', body = ''] = same.split(/\r?\n\r?\n/, 2);
  const lines = head.split(/\r?\n/).map((line) => line.replace(/^[^:= ]+:/, (name) => name.toLowerCase()));
  // HTTP/2 makes one line of several cookies.
  const cookies = lines.filter((line) => line.startsWith(COOKIE)).map((line) => line.slice(COOKIE.length));
  return `${[...lines.filter((line) => !line.startsWith(COOKIE)), `${COOKIE}${cookies.join('; ')}`]
    .filter((line) => !/^HTTP_TRANSFER_ENCODING=/.test(line))
    .sort()
    .join('\n')}\n\n${body}`;
};

/** A case whose requests do not meet where streams bring them at one time, as they would in a cache. */
const apart = (one: Case): boolean =>
  one.client.requests.length === 1 || !uses(one, /^(stale|proxy-cache|slice-cache|our-cache|proxy-sticky)$/);

const simple = (one: Case): boolean => one.client.leave === undefined && !one.client.slow && inHttp3(one);

/** A case that HTTP/3 can say, in which the client may leave, too. */
const inHttp3 = (one: Case): boolean => one.client.requests.every(meansTheSame) && apart(one);

/** A case whose requests may be early data of TLS. */
const mayBeEarly = ({ client }: Case): boolean => client.leave === undefined && !client.waits && client.cancel === undefined;

/** A case that says the same in each protocol. */
const inAnyProtocol = (one: Case): boolean =>
  simple(one) &&
  one.client.cancel === undefined &&
  !(uses(one, /^limits$/) && one.client.requests.length > 1) &&
  !/\$server_protocol|early_hints \$http2/.test(JSON.stringify(one.parts));

/** For whom a response is not the same a second time: what counts requests or writes files. */
const REPEATABLE = /^(limits|dav|userid|proxy_store|store|slice|slice-cache|proxy-cache|our-cache|stale|proxy-sticky)$/;

const all: readonly Axis[] = [
  {
    name: 'http2',
    left: BASE,
    right: HTTP2,
    applies: inAnyProtocol,
    compares: (what) => !FRAMING.test(what),
    common: inAnyVersion,
  },
  {
    name: 'tls',
    left: BASE,
    right: { ...BASE, tls: true },
    streams: true,
    applies: ({ client, parts }) =>
      client.leave === undefined && client.through === undefined && !uses({ parts }, /^stream-(map|preread|pass)$/),
    compares: (what) => !/\$(scheme|request_length|bytes_sent)$|^end$/.test(what),
    common: (text) => withoutHttps(text).replaceAll('https:', 'http:'),
  },
  {
    name: 'http2-tls',
    left: HTTP2,
    right: { ...HTTP2, tls: true },
    applies: simple,
    compares: (what) => !/\$(scheme|request_length|bytes_sent)$|^end$|\$http2$/.test(what),
    common: (text) => withoutHttps(text).replaceAll('https:', 'http:'),
  },
  {
    name: 'early',
    left: { ...BASE, tls: true, site: 'uring' },
    right: EARLY,
    applies: (one) => mayBeEarly(one) && !uses(one, /^early$/),
    compares: notEarly,
  },
  // nginx takes no early data of QUIC with most libraries of TLS.
  {
    name: 'http3-early',
    left: HTTP3_URING,
    right: HTTP3_EARLY,
    applies: (one) => simple(one) && mayBeEarly(one) && !uses(one, /^early$/),
    compares: notEarly,
  },
  {
    name: 'nginx-early',
    left: EARLY,
    right: { ...EARLY, site: 'nginx' },
    applies: (one) => mayBeEarly(one) && isCommon(one),
    compares: always,
  },
  {
    name: 'http3',
    left: BASE,
    right: HTTP3,
    applies: inAnyProtocol,
    compares: (what) => !FRAMING.test(what),
    common: inAnyVersion,
  },
  { name: 'http3-engine', left: HTTP3, right: HTTP3_URING, applies: inHttp3, compares: always },
  {
    name: 'tls-engine',
    left: { ...BASE, tls: true },
    right: { ...BASE, tls: true, site: 'uring' },
    applies: asksClients,
    compares: always,
  },
  { name: 'engine', left: BASE, right: { ...BASE, site: 'uring' }, streams: true, applies: always, compares: always },
  { name: 'workers', left: BASE, right: { ...BASE, site: 'workers' }, streams: true, applies: always, compares: always },
  {
    name: 'reload',
    left: BASE,
    right: { ...BASE, site: 'reloading' },
    streams: true,
    // A new configuration ends connections that wait for a next request.
    applies: ({ client }) => client.requests.length === 1 && client.leave === undefined,
    compares: always,
    asked: true,
  },
  {
    name: 'buffering',
    left: BASE,
    right: { ...BASE, form: 'unbuffered' },
    // Without buffers nothing is cached.
    applies: ({ parts }) => !/_cache (?!off)/.test(JSON.stringify(parts)),
    compares: (what) => !/\$upstream_(bytes_received|response_length)$|error log/.test(what),
  },
  {
    name: 'pieces',
    left: BASE,
    right: { ...BASE, bytewise: true },
    streams: true,
    applies: (one) => readToTheEnd(one) && one.client.through === undefined && !(one.client.waits && one.client.requests.length > 1),
    compares: always,
  },
  {
    name: 'proxied',
    left: BASE,
    right: { ...BASE, proxied: true },
    streams: true,
    applies: (one) => !uses(one, /^(realip|stream-realip|response|stream-pass)$/) && one.client.through !== 'udp',
    compares: (what) => !/: proxy_protocol_addr$/.test(what),
  },
  {
    name: 'cached',
    left: CACHED,
    right: { ...CACHED, nth: 2 },
    applies: (one) =>
      one.client.leave === undefined &&
      one.client.requests.length === 1 &&
      !one.client.requests.some(({ method, body }) => !/^(GET|HEAD)$/.test(method) || body !== undefined) &&
      !uses(one, REPEATABLE),
    compares: (what) =>
      /^response \d+: /.test(what) && !/: (interim|trailers|header (transfer-encoding|content-length|connection))$/.test(what),
  },
  { name: 'nginx', left: BASE, right: { ...BASE, site: 'nginx' }, streams: true, applies: isCommon, compares: always },
  {
    name: 'nginx-tls',
    left: { ...BASE, tls: true },
    right: { ...BASE, tls: true, site: 'nginx' },
    applies: (one) => isCommon(one) && asksClients(one),
    compares: always,
  },
  {
    name: 'nginx-http2',
    left: HTTP2,
    right: { ...HTTP2, site: 'nginx' },
    applies: (one) => simple(one) && isCommon(one),
    compares: always,
  },
  {
    name: 'nginx-http3',
    left: HTTP3,
    right: { ...HTTP3, site: 'nginx' },
    applies: (one) => inHttp3(one) && isCommon(one),
    compares: always,
  },
];

/** Axes on which both sides are asked for certificates, or neither is. */
const ASKING = /^(nginx-tls|tls-engine|http2|engine|workers|reload|buffering|pieces|proxied|cached|nginx|nginx-http[23]|http3-engine)$/;

export const axes: readonly Axis[] = all.map((axis) => ({
  ...axis,
  applies: (one) => (axis.streams || !isStream(one)) && (!asksClients(one) || ASKING.test(axis.name)) && axis.applies(one),
}));

/** Axes that this machine has. `ring`, `quic`: whether it has io_uring, and the functions of OpenSSL for QUIC and for early data. */
export const axesWith = (ring: boolean, quic: boolean): readonly Axis[] =>
  axes.filter(({ left, right }) =>
    [left, right].every(({ site, http3, early }) => (ring || site !== 'uring') && (quic || !(http3 || early))),
  );
