// Bodies of many exchanges at the same time, each of other bytes: connections read into memory that they share, so that a mistake about
// whose it is sends one client's bytes to another.
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { createServer as createNetServer, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { certs } from '../support/certs.js';
import { type Server, serverConf, startServer } from '../support/server.js';

/** Around the sizes of the buffers in between. */
const SIZES = [1, 100, 4000, 8192, 16_000, 16_384, 33_000, 61_440, 61_441, 65_536, 65_700, 300_000, 3_000_000];
/** Of each size. */
const COPIES = 2;

interface Body {
  readonly size: number;
  readonly copy: number;
}

const bodies: readonly Body[] = SIZES.flatMap((size) => Array.from({ length: COPIES }, (_, copy) => ({ size, copy })));

const bytesOf = ({ size, copy }: Body): Buffer => Buffer.alloc(size, `${size} bytes, copy ${copy}, `);

/** Answers GET /SIZE/COPY with that body and anything else with its own; with `?chunked` without a length. Returns its port. */
async function startBackend(t: { teardown(end: () => void): void }): Promise<number> {
  const server = createServer((incoming, response) => {
    if (incoming.method !== 'GET') {
      incoming.pipe(response);
      return;
    }
    const [, size, copy, query] = incoming.url!.split(/[/?]/);
    const body = bytesOf({ size: Number(size), copy: Number(copy) });
    if (query === 'chunked') {
      // In pieces that fall across the buffers in between.
      for (let at = 0; at < body.length; at += 5000) {
        response.write(body.subarray(at, at + 5000));
      }
      response.end();
    } else {
      response.setHeader('Content-Length', body.length);
      response.end(body);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as { port: number }).port;
}

/** Begins all exchanges, reads nothing until all answers have begun, then reads all. Returns which bodies came wrong. */
async function exchangeAll(s: Server, tls: boolean, path: (body: Body) => string, method: 'GET' | 'POST'): Promise<string[]> {
  const agent = tls ? new TlsAgent() : new Agent();
  const headers = { 'Accept-Encoding': 'gzip' };
  const answers = await Promise.all(
    bodies.map(async (body) => {
      const options = { host: '127.0.0.1', port: s.port(tls ? 1 : 0), path: path(body), method, agent, headers, rejectUnauthorized: false };
      const sent = tls ? tlsRequest(options) : request(options);
      sent.end(method === 'POST' ? bytesOf(body) : undefined);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return { body, answer };
    }),
  );
  const wrong: string[] = [];
  await Promise.all(
    answers.map(async ({ body, answer }) => {
      const pieces: Buffer[] = [];
      for await (const piece of answer) {
        pieces.push(piece as Buffer);
      }
      const whole = Buffer.concat(pieces);
      const plain = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole;
      if (!plain.equals(bytesOf(body))) {
        wrong.push(path(body));
      }
    }),
  );
  agent.destroy();
  return wrong;
}

t.test('every body is its own', async (t) => {
  const backend = await startBackend(t);
  const pass = `proxy_pass http://127.0.0.1:${backend}/; proxy_http_version 1.1; client_max_body_size 0;`;
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: serverConf(`listen 127.0.0.1:%%PORT_1%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
      location / { ${pass} }
      location /unbuffered/ { ${pass} proxy_buffering off; proxy_request_buffering off; }
      location /files/ { ${pass} proxy_buffers 2 4k; proxy_busy_buffers_size 4k; client_body_buffer_size 4k; }
      location /gzip/ { ${pass} gzip on; gzip_types *; gzip_proxied any; }
      location /limited/ { ${pass} limit_rate 100m; }`),
  });
  for (const tls of [false, true]) {
    for (const place of ['/', '/unbuffered/', '/files/', '/gzip/', '/limited/']) {
      const about = `${tls ? 'TLS ' : ''}${place}`;
      t.same(await exchangeAll(s, tls, ({ size, copy }) => `${place}${size}/${copy}`, 'GET'), [], `GET ${about}`);
      t.same(await exchangeAll(s, tls, ({ size, copy }) => `${place}${size}/${copy}?chunked`, 'GET'), [], `GET ${about} in chunks`);
      t.same(await exchangeAll(s, tls, ({ size, copy }) => `${place}${size}/${copy}`, 'POST'), [], `POST ${about}`);
    }
  }
});

t.test('every tunnel is its own', async (t) => {
  const echo = createNetServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: bytes\r\n\r\n');
      socket.pipe(socket);
    });
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  t.teardown(() => echo.close());
  const { port } = echo.address() as { port: number };
  const s = await startServer(t, {
    conf: serverConf(`location / { proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection upgrade; }`),
  });
  const wrong: string[] = [];
  await Promise.all(
    bodies.map(async (body) => {
      const sent = request({ host: '127.0.0.1', port: s.port(0), path: '/', headers: { Connection: 'Upgrade', Upgrade: 'bytes' } });
      sent.end();
      const [, socket, first] = (await once(sent, 'upgrade')) as [IncomingMessage, Socket, Buffer];
      const bytes = bytesOf(body);
      const pieces = [first];
      let length = first.length;
      socket.write(bytes);
      while (length < bytes.length) {
        const [piece] = (await once(socket, 'data')) as [Buffer];
        pieces.push(piece);
        length += piece.length;
      }
      socket.destroy();
      if (!Buffer.concat(pieces).equals(bytes)) {
        wrong.push(`${body.size}/${body.copy}`);
      }
    }),
  );
  t.same(wrong, []);
});
