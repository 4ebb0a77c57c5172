// A backend of HTTP/2 behind the server under test, in a process of its own: small answers, answers that wait, answers without an end.
// It says its port to the parent, which sends 'goaway' (every connection takes no further streams) and 'release' (what waits ends).
import { createServer } from 'node:http2';

const piece = Buffer.alloc(64 * 1024, 'endless');
const sessions = new Set();
let waiting = [];

const server = createServer({ settings: { maxConcurrentStreams: 100 } });

const endless = (stream) => {
  while (!stream.destroyed) {
    if (!stream.write(piece)) {
      return stream.once('drain', () => endless(stream));
    }
  }
};

server.on('session', (session) => {
  sessions.add(session);
  session.on('error', () => {});
  session.on('close', () => sessions.delete(session));
});
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  const path = headers[':path'] ?? '';
  stream.respond({ ':status': 200 });
  if (path.startsWith('/endless')) {
    endless(stream);
  } else if (path.startsWith('/hold')) {
    stream.write('begun ');
    waiting.push(stream);
  } else {
    stream.end(`body of ${path}`);
  }
});

process.on('message', (message) => {
  if (message === 'goaway') {
    for (const session of sessions) {
      session.close();
    }
  } else if (message === 'release') {
    for (const stream of waiting) {
      stream.end('and ended');
    }
    waiting = [];
  }
});
process.on('disconnect', () => process.exit());
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () =>
  process.send?.(/** @type {import('node:net').AddressInfo} */ (server.address()).port),
);
