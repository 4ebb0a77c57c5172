import type { Client, Field, Request } from './case.js';
import { SECRET_LINK } from './features-files.js';
import { API_KEY, TOKEN } from './features-ours.js';
import type { Random } from './random.js';

const METHODS = [
  'GET',
  'GET',
  'GET',
  'GET',
  'GET',
  'HEAD',
  'HEAD',
  'POST',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'MKCOL',
  'PATCH',
  'PROPFIND',
];

const TARGETS = [
  '/at/file.txt',
  '/at/file.txt',
  '/at/page.html',
  '/at/large.txt',
  '/at/empty',
  '/at/folder',
  '/at/folder/',
  '/at/missing',
  '/at/',
  '/at/file.txt?x=1',
  '/at/a%20b%3f?x=word&y=%2F%0d%0aX:y',
  '/at//double/../file.txt',
  '/at/x/old',
  '/at/file.txt/',
  '/at/file.txt%00',
  '/at/%2e%2e/at/page.html?',
  '/',
  '/at',
  '/error',
  '/nothing/here',
  `/at/page.html?${'long='.repeat(130)}`,
  `/at/file.txt?${'longer='.repeat(300)}`,
  '/at/one/',
  '/at/film.mp4?start=0.6',
  '/at/film.mp4?start=0.2&end=1.1',
  '/at/clip.flv?start=6',
  '/at/picture.png',
  '/at/folder/?callback=called',
  SECRET_LINK,
];

/** Fields that ask for something. */
const FIELDS: readonly Field[] = [
  ['Range', 'bytes=0-3'],
  ['Range', 'bytes=-5'],
  ['Range', 'bytes=5-'],
  ['Range', 'bytes=0-1,4-5,9-'],
  ['Range', 'bytes=999999-'],
  ['Range', 'bytes=3-1'],
  ['Range', 'bytes=0-9223372036854775807'],
  ['Range', 'chars=0-3'],
  ['If-Range', '"etag"'],
  ['If-Range', 'Thu, 01 Jan 2015 00:00:00 GMT'],
  ['If-None-Match', '*'],
  ['If-None-Match', '"etag"'],
  ['If-None-Match', 'W/"etag", "x"'],
  ['If-Match', '"other"'],
  ['If-Match', '*'],
  ['If-Modified-Since', 'Thu, 01 Jan 2015 00:00:00 GMT'],
  ['If-Modified-Since', 'Thu, 01 Jan 1970 00:00:10 GMT'],
  ['If-Unmodified-Since', 'Thu, 01 Jan 2015 00:00:00 GMT'],
  ['If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:10 GMT'],
  ['Accept-Encoding', 'gzip'],
  ['Accept-Encoding', 'gzip;q=0, br'],
  ['Authorization', 'Basic dXNlcjpzZWNyZXQ='],
  ['Authorization', 'Basic dXNlcjp3cm9uZw=='],
  ['Expect', '100-continue'],
  ['Authorization', `Bearer ${TOKEN}`],
  ['Authorization', `Bearer ${TOKEN.slice(0, -3)}xyz`],
  ['X-API-Key', API_KEY],
  ['Accept-Encoding', 'gzip, br'],
  ['Accept-Encoding', 'zstd, br;q=0.5'],
  ['Cookie', 'a=1'],
  ['X-Own', 'own value'],
  ['X_Under', 'score'],
  ['Content-Type', 'text/plain'],
  ['Destination', '/at/copied'],
  ['Depth', 'infinity'],
  ['Overwrite', 'F'],
  ['User-Agent', 'compare'],
  ['User-Agent', 'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)'],
  ['User-Agent', 'Mozilla/5.0 (Windows; U; rv:1.8.0.1) Gecko/20060111 Firefox/1.5'],
  ['User-Agent', 'Mozilla/5.0 (Macintosh; Intel Mac OS X) AppleWebKit/412 (KHTML, like Gecko) Safari/412'],
  ['User-Agent', 'Mozilla/4.5 [en] (X11; U)'],
  ['Cookie', 'a=2; uid=fwAAAWdHAABlAAAAAwMDAw==; id=fwAAAWdHAABlAAAAAwMDAg==; b='],
  ['Cookie', `uid=short; long=${'c'.repeat(280)}`],
  ['X-Long', 'l'.repeat(700)],
  ['X-Longer', 'm'.repeat(2100)],
  ['Referer', 'http://other.test/'],
  ['TE', 'trailers'],
  ['Via', '1.1 proxy'],
  ['X-Forwarded-For', '10.0.0.1'],
  ['Upgrade', 'other'],
];

const BODIES = [
  { text: '' },
  { text: 'x' },
  { text: 'body=value' },
  { text: '0123456789', times: 100 },
  { text: 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n' },
  { text: '0123456789abcdef', times: 2500 },
];

function request(random: Random): Request {
  const method = random.oneOf(METHODS);
  const version = random.once(6) ? '1.0' : '1.1';
  const fields = random.some(FIELDS, 3);
  const framing = random.oneOf([
    'length',
    'length',
    'chunked',
    'chunked',
    'bad-chunk',
    'bad-chunk-later',
    'chunk-trailers',
    'short',
  ] as const);
  const withBody = /^P/.test(method) ? !random.once(4) : random.once(8);
  return {
    method,
    target: random.oneOf(TARGETS),
    version: withBody && framing !== 'length' ? '1.1' : version,
    fields:
      withBody && random.once(8)
        ? [...fields, ['Expect', '100-continue']]
        : random.once(3)
          ? [...fields, ['Connection', random.oneOf(['close', 'keep-alive', 'upgrade'])]]
          : fields,
    ...(withBody ? { body: { ...random.oneOf(BODIES), framing } } : {}),
  };
}

/** One connection of a client. */
export function client(random: Random): Client {
  const first = request(random);
  const requests = [first, ...(random.once(5) ? [random.once(3) ? first : request(random)] : [])];
  const bodies = requests.some(({ body }) => body !== undefined);
  const expects = requests.some(({ body, fields }) => body !== undefined && fields.some(([name]) => name === 'Expect'));
  return {
    requests,
    ...(expects && !random.once(3) ? { waits: true as const } : {}),
    ...(bodies && random.once(12) ? { cancel: { after: random.oneOf([0, 1, 10, 1000]) } } : {}),
    ...(requests.length > 1 && random.once(2) ? { pipelined: true as const } : {}),
    ...(random.once(20) ? { slow: true as const } : {}),
    ...(random.once(14) ? { leave: leaving(random, requests) } : {}),
  };
}

/** What a client that may be asked for a certificate says over TLS. */
export const identity = (random: Random): Pick<Client, 'certificate' | 'named'> => ({
  ...(random.once(3) ? {} : { certificate: random.oneOf(['client', 'client', 'other', 'revoked'] as const) }),
  ...(random.once(3) ? {} : { named: true as const }),
});

/** The same of a client of `stream`, whose backend must be able to read to the end of its requests. */
export function throughStream({ cancel: _cancel, waits: _waits, ...client }: Client, through: Client['through']): Client {
  const requests = client.requests.map(({ body, ...request }) => ({
    ...request,
    ...(body === undefined ? {} : { body: { ...body, framing: body.framing === 'length' ? body.framing : ('chunked' as const) } }),
  }));
  const own = { ...client, requests };
  if (through !== 'udp') {
    return { ...own, ...(through === undefined ? {} : { through }) };
  }
  return { requests, through };
}

/** More than any request has. */
const ALL = 1_000_000;

/** Where a client ends its side: within the head, or behind all that it has; a request that is whole by then is not given up. */
function leaving(random: Random, requests: readonly Request[]): NonNullable<Client['leave']> {
  const cut = requests.at(-1)!.body?.framing === 'short';
  const how = random.oneOf(['half', 'half', 'close'] as const);
  const after = random.oneOf([4, 20, 30]);
  return { after: cut || (how === 'half' && random.once(2)) ? ALL : after, of: 'sent', how };
}

/** True for a request that says the same over HTTP/2. */
export const meansTheSame = ({ version, body, fields }: Request): boolean =>
  version === '1.1' &&
  (body === undefined || body.framing === 'length' || body.framing === 'chunked') &&
  !fields.some(([name]) => /^(upgrade|connection|te|expect)$/i.test(name));

/** The bytes of a request over HTTP/1. */
export function requestBytes({ method, target, version, fields, body }: Request, host: string): Buffer {
  const head = [`${method} ${target} HTTP/${version}`, `Host: ${host}`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  if (body === undefined) {
    return Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
  }
  const text = body.text.repeat(body.times ?? 1);
  const half = Math.ceil(text.length / 2);
  const chunk = (piece: string): string => (piece === '' ? '' : `${piece.length.toString(16)}\r\n${piece}\r\n`);
  const chunks = `${chunk(text.slice(0, half))}${chunk(text.slice(half))}`;
  const framed = {
    length: [`Content-Length: ${text.length}`, text],
    short: [`Content-Length: ${text.length + 10}`, text],
    chunked: ['Transfer-Encoding: chunked', `${chunks}0\r\n\r\n`],
    'chunk-trailers': ['Transfer-Encoding: chunked', `${chunks}0\r\nX-Trailer: 1\r\n\r\n`],
    'bad-chunk': ['Transfer-Encoding: chunked', `g\r\n${chunks}0\r\n\r\n`],
    'bad-chunk-later': ['Transfer-Encoding: chunked', `${chunks}z\r\n\r\n`],
  }[body.framing] as [string, string];
  return Buffer.from(`${[...head, framed[0]].join('\r\n')}\r\n\r\n${framed[1]}`, 'latin1');
}
