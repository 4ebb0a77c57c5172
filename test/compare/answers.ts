import { type Answer, bytesOf, type Content, type Field } from './case.js';
import { PICTURE } from './features-files.js';
import type { Random } from './random.js';

const FIELDS: readonly Field[] = [
  ['Content-Type', 'text/html'],
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Last-Modified', 'Thu, 01 Jan 2015 00:00:00 GMT'],
  ['ETag', '"etag"'],
  ['ETag', 'W/"etag"'],
  ['Location', 'http://backend.test/there'],
  ['Location', '/relative'],
  ['Refresh', '1; url=http://backend.test/x'],
  ['Set-Cookie', 'a=1; Path=/; Domain=backend.test'],
  ['Cache-Control', 'max-age=60'],
  ['Cache-Control', 'no-store'],
  ['Expires', 'Thu, 01 Jan 2037 00:00:00 GMT'],
  ['Vary', 'Accept'],
  ['X-Own', 'of the backend'],
  ['X-Who', 'somebody'],
  ['X-Accel-Redirect', '/accel/file.txt'],
  ['X-Accel-Redirect', '@failed'],
  ['X-Accel-Redirect', '/nothing'],
  ['X-Accel-Expires', '10'],
  ['X-Accel-Buffering', 'no'],
  ['X-Accel-Charset', 'koi8-r'],
  ['Accept-Ranges', 'bytes'],
  ['Content-Encoding', 'other'],
  ['WWW-Authenticate', 'Basic realm=backend'],
  ['Link', '</style.css>; rel=preload'],
  ['Connection', 'X-Hop'],
  ['X-Empty', ''],
  ['Upgrade', 'other'],
  ['Server', 'theirs'],
  ['Date', 'Thu, 01 Jan 1970 00:00:10 GMT'],
];

const STATUSES = [200, 200, 200, 200, 200, 200, 201, 204, 206, 301, 302, 304, 400, 401, 403, 404, 404, 410, 416, 418, 500, 502, 503, 504];

const BODIES: readonly Content[] = [
  { text: '' },
  { text: 'x' },
  { text: 'the text of the backend\n' },
  { text: '<p><!--#echo var="uri" --> text <!--#include virtual="/at/empty" --></p>' },
  { text: '0123456789', times: 100 },
  { text: 'eight characters', times: 4000 },
  { text: 'zipped text ', times: 50, gzip: true },
  { text: PICTURE.toString('latin1') },
];

const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </early.css>; rel=preload\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
];

const RAW = [
  '',
  'x',
  'HTTP/1.1 200',
  'HTTP/1.1 2000 OK\r\n\r\n',
  'HTTP/1.1 200 OK\r\nNo colon\r\n\r\nbody',
  'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nbody',
  'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nbody',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n4\r\nbody\r\n0\r\n\r\n',
  'HTTP/1.0 200 OK\n\nbody',
  'HTTP/1.1 101 Switching\r\nUpgrade: other\r\n\r\nbody',
  'Status: 404\r\nContent-Type: text/plain\r\n\r\nbody of CGI',
];

/** What the backend answers in a case. */
export function answer(random: Random): Answer {
  const content = random.oneOf(BODIES);
  const packed: Field[] = content.gzip ? [['Content-Encoding', 'gzip']] : [];
  return {
    status: random.oneOf(STATUSES),
    fields: [...packed, ...random.some(content.gzip ? FIELDS.filter(([name]) => name !== 'Content-Encoding') : FIELDS, 4)],
    body: content,
    framing: random.oneOf(['length', 'length', 'length', 'chunked', 'chunked', 'close', 'short', 'long', 'bad-chunk', 'trailers'] as const),
    ...(random.once(12) ? { interim: [random.oneOf(INTERIM)] } : {}),
    ...(random.once(16) ? { bytewise: true as const } : {}),
    ...(random.once(6) ? { ranges: true as const } : {}),
    ...(random.once(30)
      ? { leave: { after: random.oneOf([1, 10, 40, 150, 1000]), how: random.oneOf(['close', 'close', 'reset'] as const) } }
      : {}),
    ...(random.once(25) ? { raw: random.oneOf(RAW) } : {}),
    ...(random.once(20) ? { handshake: random.oneOf(['plain', 'closes', 'resets'] as const) } : {}),
  };
}

/** The bytes of a response of HTTP/1, and whether the connection ends after it. `head`: the request's method was HEAD. */
export function answerBytes({ status, fields, body, framing, interim = [], raw }: Answer, head: boolean): { bytes: Buffer; ends: boolean } {
  if (raw !== undefined) {
    return { bytes: Buffer.from(raw, 'latin1'), ends: true };
  }
  const content = bytesOf(body);
  const bare = status === 204 || status === 304;
  const chunked = framing === 'chunked' || framing === 'trailers' || framing === 'bad-chunk';
  const length = { short: content.length + 10, long: Math.max(content.length - 1, 0) }[framing as 'short'] ?? content.length;
  const own =
    (bare || head) && framing === 'close'
      ? ['Connection: close']
      : bare || framing === 'close'
        ? []
        : [chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`];
  const lines = [`HTTP/1.1 ${status} Status`, ...fields.map(([name, value]) => `${name}: ${value}`), ...own];
  const pieces: (Buffer | string)[] = [...interim, `${lines.join('\r\n')}\r\n\r\n`];
  if (!bare && !head) {
    const half = Math.ceil(content.length / 2);
    const chunk = (piece: Buffer) => (piece.length === 0 ? [] : [`${piece.length.toString(16)}\r\n`, piece, '\r\n']);
    const end = { trailers: '0\r\nX-Trailer: of the backend\r\n\r\n', 'bad-chunk': 'nonsense\r\n' }[framing as 'trailers'] ?? '0\r\n\r\n';
    pieces.push(...(chunked ? [...chunk(content.subarray(0, half)), ...chunk(content.subarray(half)), end] : [content]));
  }
  const all = Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)));
  return { bytes: all, ends: ['close', 'short', 'long', 'bad-chunk'].includes(framing) };
}

/** The same response as a program of CGI writes it. */
export function cgiBytes({ status, fields, body, framing, raw }: Answer): Buffer {
  if (raw !== undefined) {
    return Buffer.from(raw, 'latin1');
  }
  const content = bytesOf(body);
  const length = { length: content.length, short: content.length + 10, long: Math.max(content.length - 1, 0) }[framing as 'length'];
  const own = length === undefined ? [] : [`Content-Length: ${length}`];
  const lines = [`Status: ${status} Status`, ...fields.map(([name, value]) => `${name}: ${value}`), ...own];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), content]);
}

/** What memcached says when it is asked for a key: a 404 is none. */
export function memcachedBytes({ status, body, framing, raw }: Answer, key: string): { bytes: Buffer; ends: boolean } {
  if (raw !== undefined) {
    return { bytes: Buffer.from(raw, 'latin1'), ends: true };
  }
  if (status === 404 || framing === 'bad-chunk') {
    return { bytes: Buffer.from(status === 404 ? 'END\r\n' : 'ERROR\r\n'), ends: false };
  }
  const content = bytesOf(body);
  const length = { short: content.length + 10, long: Math.max(content.length - 1, 0) }[framing as 'short'] ?? content.length;
  const head = `VALUE ${key} ${body.gzip ? 2 : 0} ${length}\r\n`;
  return { bytes: Buffer.concat([Buffer.from(head, 'latin1'), content, Buffer.from('\r\nEND\r\n')]), ends: framing !== 'length' };
}
