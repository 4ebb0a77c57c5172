import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { RawClient } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** More than the kernel takes for a client that does not read. */
const MUCH = 24 * 1024 * 1024;
/** A record of TLS holds as much, and it is known only of whole ones whether they have left. */
const RECORD = 16384;

/** A request for a path over HTTP/2 by a client with large windows. */
function http2Request(path: string): Buffer {
  const frame = (type: number, flags: number, id: number, payload: Buffer): Buffer =>
    Buffer.concat([Buffer.from([0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, id]), payload]);
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  const head = Buffer.concat([Buffer.from([0x82, 0x86, 0x04]), text(path), Buffer.from([0x01]), text('h')]);
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])),
    frame(8, 0, 0, Buffer.from([0x7f, 0, 0, 0])),
    frame(1, 5, 1, head),
  ]);
}

/** What a way to the server comes to: who asks, and how many bytes the count may differ from what the client gets. */
interface Way {
  readonly port: number;
  readonly tls?: boolean;
  readonly http2?: boolean;
  readonly off: number;
}

const WAYS: Readonly<Record<string, Way>> = {
  'HTTP/1': { port: 0, off: 0 },
  // One record may be half-way when the connection ends.
  TLS: { port: 1, tls: true, off: 2 * RECORD },
  // SETTINGS and the like belong to no request.
  'HTTP/2': { port: 2, http2: true, off: 200 },
  stream: { port: 3, off: 0 },
  'stream with TLS': { port: 4, tls: true, off: 2 * RECORD },
};

async function start(t: Test, sendTimeout = '300ms'): Promise<Server> {
  // Sends much to whoever connects.
  const backend = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(Buffer.alloc(MUCH, 'm'));
  });
  await new Promise<void>((resolve) => void backend.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void backend.close());
  const { rsa } = certs();
  const { port } = backend.address() as { port: number };
  const s = await startServer(t, {
    conf: `worker_processes 2; events {}
      http {
        log_format sent "$arg_id $status $bytes_sent $body_bytes_sent"; access_log %%DIR%%/sent.log sent;
        ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; send_timeout ${sendTimeout}; root %%DIR%%;
        server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; listen 127.0.0.1:%%PORT_2%%; http2 on;
          location /proxied { proxy_pass http://127.0.0.1:%%PORT_5%%/much; proxy_buffers 8 256k; proxy_buffer_size 256k; proxy_max_temp_file_size 0; }
          location /chunked { sub_filter mmm nnn; sub_filter_types *; proxy_pass http://127.0.0.1:%%PORT_5%%/much; }
        }
        server { listen 127.0.0.1:%%PORT_5%%; access_log off; send_timeout 60s; }
      }
      stream {
        log_format sent "$server_port $status $bytes_sent"; access_log %%DIR%%/stream.log sent;
        ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; proxy_timeout 300ms;
        server { listen 127.0.0.1:%%PORT_3%%; proxy_pass 127.0.0.1:${port}; }
        server { listen 127.0.0.1:%%PORT_4%% ssl; proxy_pass 127.0.0.1:${port}; }
      }`,
  });
  writeFileSync(`${s.dir}/much`, '');
  truncateSync(`${s.dir}/much`, MUCH);
  return s;
}

/** A connection whose client has asked for a path and reads nothing. */
async function ask(t: Test, s: Server, way: Way, path: string): Promise<[socket: Socket, plain: Socket]> {
  const port = s.port(way.port);
  const plain = connect(port, '127.0.0.1');
  const socket = way.tls === true ? tlsConnect({ socket: plain, rejectUnauthorized: false }) : plain;
  socket.on('error', () => {});
  t.teardown(() => void plain.destroy());
  await new Promise<void>((resolve) => void socket.once(way.tls === true ? 'secureConnect' : 'connect', resolve));
  plain.pause();
  socket.pause();
  if (way.port < 3) {
    socket.write(way.http2 === true ? http2Request(path) : `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
  }
  return [socket, plain];
}

const received = (socket: Socket): Promise<number> =>
  new Promise((resolve) => {
    let bytes = 0;
    socket.on('data', (piece: Buffer) => void (bytes += piece.length));
    socket.on('close', () => resolve(bytes));
    socket.resume();
  });

t.test('what a client did not take is not counted as sent', async (t) => {
  const s = await start(t);
  const logged = (file: string, begin: string): number[] | undefined => {
    const line = existsSync(`${s.dir}/${file}`)
      ? s
          .read(file)
          .split('\n')
          .find((text) => text.startsWith(`${begin} `))
      : undefined;
    return line?.split(' ').slice(2).map(Number);
  };
  let id = 0;
  for (const [name, way] of Object.entries(WAYS)) {
    for (const path of way.port < 3 ? ['/much', '/proxied', '/chunked'] : ['/']) {
      const own = `i${++id}`;
      const [socket] = await ask(t, s, way, `${path}?id=${own}`);
      const begin = way.port < 3 ? own : String(s.port(way.port));
      const file = way.port < 3 ? 'sent.log' : 'stream.log';
      const [sent, body] = await waitFor(() => logged(file, begin), { what: `${name} ${path}: the log` });
      const got = await received(socket);
      t.ok(got < MUCH, `${name} ${path}: it was not sent in full`);
      t.ok(Math.abs(got - sent!) <= way.off, `${name} ${path}: ${sent} bytes were counted, and ${got} came`);
      if (body !== undefined) {
        t.ok(body < sent! && sent! - body < 1000 + (way.http2 === true ? sent! / 100 : 0), `${name} ${path}: the body alone is ${body}`);
      }
    }
  }
});

t.test('nor what a reset has cut off', async (t) => {
  // On a busy machine a client may read later than the server would wait.
  const s = await start(t, '60s');
  let id = 0;
  for (const [name, way] of Object.entries(WAYS).filter(([, { port }]) => port < 3)) {
    for (const path of ['/much', '/proxied', '/chunked']) {
      const own = `r${++id}`;
      const [socket, plain] = await ask(t, s, way, `${path}?id=${own}`);
      // As soon as some of it has come, of which the kernel holds less than all.
      await new Promise<void>((resolve) => {
        let bytes = 0;
        socket.on('data', (piece: Buffer) => {
          bytes += piece.length;
          if (bytes > 100_000) {
            resolve();
          }
        });
        socket.resume();
      });
      socket.pause();
      plain.resetAndDestroy();
      const line = await waitFor(
        () =>
          existsSync(`${s.dir}/sent.log`) &&
          s
            .read('sent.log')
            .split('\n')
            .find((text) => text.startsWith(`${own} `)),
        {
          what: `${name} ${path}: the log`,
        },
      );
      const sent = Number(line.split(' ')[2]);
      t.ok(sent > 0 && sent < MUCH, `${name} ${path}: ${line}`);
    }
  }
});

t.test('what leaves with the end of a response that broke off is counted', async (t) => {
  const packed = gzipSync('zipped text '.repeat(50));
  const backend = createServer((socket) => {
    socket.on('error', () => {});
    // A byte less is announced than comes, so that it breaks off where it was to end.
    const head = `Status: 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length - 1}\r\n\r\n`;
    socket.end(Buffer.concat([Buffer.from(head), packed]));
  });
  await new Promise<void>((resolve) => void backend.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void backend.close());
  const { port } = backend.address() as { port: number };
  const s = await startServer(t, {
    conf: serverConf(
      `location / { scgi_pass 127.0.0.1:${port}; gunzip on; } access_log %%DIR%%/sent.log sent;`,
      'log_format sent $bytes_sent;',
    ),
  });
  const client = await RawClient.connect(s.port(0));
  client.send('GET / HTTP/1.0\r\n\r\n');
  const got = await client.rest();
  await s.stop();
  t.match(got, 'zipped text');
  t.equal(s.read('sent.log').trim(), String(got.length));
});
