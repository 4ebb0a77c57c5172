// One request, and its answer without what differs at each run.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What a server calls itself. */
const SERVER = /(?:nginx|sluice)\/\d+\.\d+\.\d+/g;

/** Sends the request as it is, and waits until the server closes or the time is over. */
function bytesOf({ port, tls, raw, method, path, host, headers, body, servername }) {
  const payload =
    raw ??
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}${body ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : ''}\r\n${body}`;
  return new Promise((resolve) => {
    const pieces = [];
    const done = (end) => resolve({ bytes: Buffer.concat(pieces), end });
    const socket = tls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, servername: servername ?? host, ...certificate(tls) })
      : connect(port, '127.0.0.1');
    const patience = setTimeout(
      () => {
        socket.destroy();
        done('waits');
      },
      raw === undefined ? 15_000 : 3_000,
    );
    socket.on(tls ? 'secureConnect' : 'connect', () => socket.write(Buffer.from(payload, raw === undefined ? 'utf8' : 'latin1')));
    socket.on('data', (data) => pieces.push(data));
    const finish = (end) => {
      clearTimeout(patience);
      done(end);
    };
    socket.once('end', () => {
      socket.destroy();
      finish('closed');
    });
    socket.once('error', (error) => finish(error.code === 'ECONNRESET' ? 'closed' : String(error.code ?? error.message)));
  });
}

/** The client's certificate and key: both are in one file. */
function certificate({ pemFile }) {
  const pem = pemFile === undefined ? undefined : readFileSync(pemFile);
  return pem === undefined ? {} : { cert: pem, key: pem };
}

function unchunked(body) {
  let at = 0;
  let text = '';
  for (;;) {
    const end = body.indexOf('\r\n', at);
    const size = end < 0 ? Number.NaN : Number.parseInt(body.slice(at, end), 16);
    if (Number.isNaN(size)) {
      return `${text}(broken off)`;
    }
    if (size === 0) {
      return text;
    }
    text += body.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}

/** The answer: status, headers and body, or the bytes of what is no HTTP. */
export async function exchange(request, masks) {
  const { bytes, end } = await bytesOf(request);
  const text = bytes.toString('latin1');
  // The words of an error are each engine's own, and so are the frames of its stack.
  const Engine = [/(?:Syntax|Type|Reference|Range)Error: [^\n<]*/g, /(?:(?:\n|\\n) +at [^\n\\"]*)+\n?/g];
  const mask = (given) =>
    masks.reduce(
      (now, pattern) => now.replaceAll(new RegExp(pattern, 'g'), '*'),
      Engine.reduce((now, pattern) => now.replaceAll(pattern, '(engine)'), given)
        .replace(/(?:\(engine\))+/g, '(engine)')
        .replaceAll(SERVER, 'SERVER'),
    );
  if (!text.startsWith('HTTP/1.')) {
    return { end, text: mask(text) };
  }
  const split = text.indexOf('\r\n\r\n');
  const [status, ...lines] = text.slice(0, split).split('\r\n');
  const headers = lines
    .filter((line) => !/^(?:date|server|last-modified|etag):/i.test(line))
    .map((line) => mask(line.replace(/^[^:]*/, (name) => name.toLowerCase())))
    .sort();
  const chunked = headers.some((line) => /^transfer-encoding: *chunked/.test(line));
  const body = text.slice(split + 4);
  const whole = chunked ? unchunked(body) : body;
  const masked =
    mask(whole) !== whole.replaceAll(SERVER, 'SERVER')
      ? headers.map((line) => line.replace(/^content-length:.*/, 'content-length: *'))
      : headers;
  return { status, headers: masked, body: mask(whole), end };
}
