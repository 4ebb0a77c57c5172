// Clients that ask for what nobody else asks for, several requests at once on each connection, and compare every byte of the answers. Now
// and then they read nothing for a while, or reset the connection. In a process of their own: the parent sends { port, connections,
// requests, files }; 'report' is answered with the counts so far, as is 'end', which stops.
import { connect } from 'node:net';

/** Requests on their way on a connection, at most. */
const PIPELINED = 8;
/** One in so many answers has the client reset the connection; or read nothing for a moment. */
const [RESETS, RESTS] = [200, 300];

const counts = { answered: 0, wrong: 0, cut: 0, resets: 0, connections: 0, bytes: 0, why: /** @type {string[]} */ ([]) };
let asked = 0;
let settings;
let stopped = false;
let stopping;

const random = (below) => Math.floor(Math.random() * below);

/** What is asked, and what the answer has to be. */
const kinds = [
  (own) => ({ head: `GET /r/${own}`, body: `/r/${own}` }),
  (own) => ({ head: `GET /much/${own}`, body: `/much/${own}`.repeat(500) }),
  (own) => ({ head: `GET /proxy/${own}`, body: `body of /proxy/${own}` }),
  (own) => ({ head: `GET /proxy/own/${own}?n=2000`, body: `/proxy/own/${own}`.repeat(2000) }),
  () => {
    const file = random(settings.files.length);
    return { head: `GET /files/${file}`, body: settings.files[file] };
  },
  (own) => ({ head: 'POST /proxy/echo', body: own.repeat(1 + random(20)), posted: true }),
];
/** How often each is asked for. */
const shares = [0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 3, 4, 4, 5, 5];

function ask(number, nth) {
  const own = `client-${number}-request-${nth}-${'x'.repeat(nth % 50)}`;
  const { head, body, posted = false } = kinds[shares[random(shares.length)]](own);
  const rest = posted ? `Content-Length: ${body.length}\r\n\r\n${body}` : '\r\n';
  return { request: `${head} HTTP/1.1\r\nHost: localhost\r\n${rest}`, head, body };
}

function client() {
  const number = counts.connections++;
  const socket = connect({ port: settings.port, host: '127.0.0.1', noDelay: true });
  const waiting = [];
  let nth = 0;
  let pieces = [];
  let size = 0;
  let left = false;
  const more = () => {
    let text = '';
    while (waiting.length < PIPELINED && asked < settings.requests && !stopped) {
      asked++;
      const one = ask(number, nth++);
      waiting.push(one);
      text += one.request;
    }
    if (text !== '') {
      socket.write(text, 'latin1');
    } else if (waiting.length === 0) {
      left = true;
      socket.destroy();
    }
  };
  const answer = (bytes) => {
    const text = bytes.latin1Slice();
    const end = text.indexOf('\r\n\r\n');
    const length = end < 0 ? undefined : /\r\nContent-Length: (\d+)/i.exec(text.slice(0, end));
    if (!length || text.length < end + 4 + Number(length[1])) {
      return undefined;
    }
    const { head, body } = waiting.shift();
    if (/\r\nConnection: close/i.test(text.slice(0, end))) {
      // What was asked behind it is asked again on another connection.
      asked -= waiting.splice(0).length;
      left = true;
    }
    const got = text.slice(end + 4, end + 4 + Number(length[1]));
    counts.bytes += got.length;
    if (text.startsWith('HTTP/1.1 200 ') && got === body) {
      counts.answered++;
    } else if (/^HTTP\/1\.1 50[24] /.test(text)) {
      counts.cut++;
    } else {
      counts.wrong++;
      counts.why.push(`${head}: ${text.slice(0, 15)}, ${got.length} bytes, not ${body.length}: ${got.slice(0, 60)}`);
    }
    return bytes.subarray(end + 4 + Number(length[1]));
  };
  socket.on('connect', more);
  socket.on('data', (piece) => {
    // Node resets once what was written has left.
    if (left) {
      return;
    }
    pieces.push(piece);
    size += piece.length;
    // What is long is looked at in one go.
    if (waiting.length > 0 && size < waiting[0].body.length) {
      return;
    }
    let bytes = Buffer.concat(pieces);
    while (waiting.length > 0 && bytes.length > 0) {
      const rest = answer(bytes);
      if (rest === undefined) {
        break;
      }
      bytes = rest;
      if (left) {
        socket.end();
        return;
      }
      if (random(RESETS) === 0) {
        counts.resets++;
        asked -= waiting.length;
        left = true;
        socket.resetAndDestroy();
        return;
      }
      if (random(RESTS) === 0) {
        socket.pause();
        setTimeout(() => socket.resume(), 50);
      }
    }
    if (waiting.length === 0 && bytes.length > 0) {
      counts.wrong++;
      counts.why.push(`bytes that nobody asked for: ${bytes.latin1Slice(0, 60)}`);
      bytes = Buffer.alloc(0);
    }
    pieces = [bytes];
    size = bytes.length;
    more();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (!left) {
      counts.cut += waiting.length;
    }
    if (asked < settings.requests && !stopped) {
      setTimeout(client, left ? 0 : 20);
    } else if (--running === 0) {
      stopping?.();
    }
  });
}

let running = 0;
process.on('message', (/** @type {any} */ message) => {
  if (message === 'report' || message === 'end') {
    stopped ||= message === 'end';
    if (message === 'end' && running > 0) {
      stopping = () => process.send?.(counts);
    } else {
      process.send?.({ ...counts, running });
    }
    return;
  }
  settings = message;
  running = settings.connections;
  for (let i = 0; i < settings.connections; i++) {
    client();
  }
  process.send?.('begun');
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
