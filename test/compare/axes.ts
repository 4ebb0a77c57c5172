import type { Case } from './case.js';
import type { Form } from './configuration.js';
import { meansTheSame } from './requests.js';

/** How one run of a case is made. */
export interface Run {
  /** Which server process serves it. */
  readonly site: 'libuv' | 'uring' | 'workers' | 'nginx';
  readonly form: Form;
  readonly tls: boolean;
  readonly http2: boolean;
  readonly bytewise: boolean;
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
  /** Whether what has this name is the same. */
  readonly compares: (what: string) => boolean;
  /** What of a text is the same; all of it unless told. */
  readonly common?: (text: string, what: string) => string;
}

const BASE: Run = { site: 'libuv', form: 'plain', tls: false, http2: false, bytewise: false, nth: 1 };

/** Whether a part of one of these names takes part in a case. */
const uses = ({ parts }: Case, names: RegExp): boolean => parts.some(({ name }) => names.test(name));
const always = (): boolean => true;

/** A client that still sends to a connection that was closed may lose the response. */
const readToTheEnd = (one: Case): boolean =>
  !one.client.requests.some(({ body }) => body?.framing.startsWith('bad')) && !/lingering_close off/.test(JSON.stringify(one.parts));

/** The framing of a protocol, and the variables that count its bytes. */
const FRAMING =
  /: version$|: header (connection|keep-alive|transfer-encoding|upgrade)$|\$(server_protocol|http2|request_length|bytes_sent|body_bytes_sent|pipe|sent_http_connection|sent_http_transfer_encoding|upstream_bytes_sent|connection_requests)$|^end$|: trailers$|: complete$/;

/** What a request is without what HTTP/2 writes otherwise. */
const inAnyVersion = (text: string, what: string): string => {
  const same = text
    .replace(/ HTTP\/(1\.1|2\.0)/g, ' HTTP/N')
    .replaceAll('https:', 'http:')
    .replaceAll('HTTPS', 'HTTP');
  if (!/^request .*to the backend$/.test(what)) {
    return same;
  }
  const [head = '', body = ''] = same.split(/\r?\n\r?\n/, 2);
  const lines = head.split(/\r?\n/).map((line) => line.replace(/^[^:= ]+:/, (name) => name.toLowerCase()));
  return `${lines
    .filter((line) => !/^HTTP_TRANSFER_ENCODING=/.test(line))
    .sort()
    .join('\n')}\n\n${body}`;
};

const simple = ({ client: { requests, leave, slow } }: Case): boolean => leave === undefined && !slow && requests.every(meansTheSame);

/** For whom a response is not the same a second time: what counts requests or writes files. */
const REPEATABLE = /^(limits|dav|proxy_store|slice)$/;

export const axes: readonly Axis[] = [
  {
    name: 'http2',
    left: BASE,
    right: { ...BASE, http2: true },
    applies: (one) =>
      simple(one) && !(uses(one, /^limits$/) && one.client.requests.length > 1) && !/\$server_protocol/.test(JSON.stringify(one.parts)),
    compares: (what) => !FRAMING.test(what),
    common: inAnyVersion,
  },
  {
    name: 'tls',
    left: BASE,
    right: { ...BASE, tls: true },
    applies: ({ client }) => client.leave === undefined,
    compares: (what) => !/\$(scheme|request_length|bytes_sent)$|^end$/.test(what),
    common: (text) => text.replaceAll('https:', 'http:'),
  },
  {
    name: 'http2-tls',
    left: { ...BASE, http2: true },
    right: { ...BASE, http2: true, tls: true },
    applies: simple,
    compares: (what) => !/\$(scheme|request_length|bytes_sent)$|^end$|\$http2$/.test(what),
    common: (text) => text.replaceAll('https:', 'http:'),
  },
  { name: 'engine', left: BASE, right: { ...BASE, site: 'uring' }, applies: always, compares: always },
  { name: 'workers', left: BASE, right: { ...BASE, site: 'workers' }, applies: always, compares: always },
  {
    name: 'buffering',
    left: BASE,
    right: { ...BASE, form: 'unbuffered' },
    applies: always,
    compares: (what) => !/\$upstream_(bytes_received|response_length)$|error log/.test(what),
  },
  { name: 'pieces', left: BASE, right: { ...BASE, bytewise: true }, applies: readToTheEnd, compares: always },
  {
    name: 'cached',
    left: { ...BASE, form: 'cached' },
    right: { ...BASE, form: 'cached', nth: 2 },
    applies: (one) =>
      one.client.leave === undefined &&
      one.client.requests.length === 1 &&
      !one.client.requests.some(({ method, body }) => !/^(GET|HEAD)$/.test(method) || body !== undefined) &&
      !uses(one, REPEATABLE),
    compares: (what) =>
      /^response \d+: /.test(what) && !/: (interim|trailers|header (transfer-encoding|content-length|connection))$/.test(what),
  },
  { name: 'nginx', left: BASE, right: { ...BASE, site: 'nginx' }, applies: always, compares: always },
  {
    name: 'nginx-http2',
    left: { ...BASE, http2: true },
    right: { ...BASE, http2: true, site: 'nginx' },
    applies: simple,
    compares: always,
  },
];
