// More clients than worker_connections: those on which nothing is under way make room, the one that has been idle longest first.
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { http, RawClient, requestText } from '../support/raw-client.js';
import { type Server, startServer } from '../support/server.js';

const LIMIT = 20;
const CROWD = 25;
const REQUEST = requestText('GET', '/', { Connection: 'close' });
const KEPT = requestText('GET', '/');
const TLS = { tls: {} };

async function start(t: Test): Promise<Server> {
  const server = await startServer(t, {
    conf: `events { worker_connections ${LIMIT}; }
      http {
        access_log off;
        server {
          listen 127.0.0.1:%%PORT_0%%;
          listen 127.0.0.1:%%PORT_1%% ssl; ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};
          lingering_close always;
          return 200 answer;
        }
        server {
          listen 127.0.0.1:%%PORT_2%% proxy_protocol;
          listen 127.0.0.1:%%PORT_3%% proxy_protocol ssl; ssl_certificate ${certs().rsa.cert}; ssl_certificate_key ${certs().rsa.key};
          return 200 answer;
        }
      }`,
  });
  return server;
}

/** Opens connections and says nothing on them; what becomes of them is of no interest. */
async function crowd(t: Test, server: Server, port: number, first = ''): Promise<void> {
  const clients: RawClient[] = [];
  t.teardown(() => clients.forEach((client) => void client.destroy()));
  for (let i = 0; i < CROWD; i++) {
    clients.push(await RawClient.connect(server.port(port), port === 1 ? TLS : {}));
    if (first !== '') {
      await clients[i]!.send(first).response();
    }
  }
}

async function answers(t: Test, server: Server, what: string): Promise<void> {
  const found: string[] = [];
  for (let i = 0; i < 5; i++) {
    found.push((await http(server, REQUEST)).text, (await http(server.port(1), REQUEST, TLS)).text);
  }
  t.strictSame(found, Array(10).fill('answer'), what);
}

t.test('connections that never sent a byte', async (t) => {
  for (const port of [0, 1, 2, 3]) {
    const server = await start(t);
    await crowd(t, server, port);
    await answers(t, server, `port ${port}`);
    await server.logged(`${LIMIT} worker_connections are not enough, reusing connections`);
  }
});

t.test('connections that were answered and closed, and whose clients stay', async (t) => {
  const server = await start(t);
  await crowd(t, server, 0, REQUEST);
  await answers(t, server, 'lingering ones');
  await crowd(t, server, 0, KEPT);
  await answers(t, server, 'kept ones');
});

t.test('a request and a handshake under way are left alone', async (t) => {
  const server = await start(t);
  const request = (await RawClient.connect(server)).send(REQUEST.slice(0, 10));
  const { secured, goOn } = await halfHandshake(server.port(1));
  // Who came first is read first, so that the worker knows of both beginnings once these are answered.
  await answers(t, server, 'both are read');
  for (let i = 0; i < 2; i++) {
    await crowd(t, server, 0);
  }
  t.equal((await request.send(REQUEST.slice(10), 'GET').response()).text, 'answer');
  goOn();
  t.match(await secured, 'answer');
  request.destroy();
});

// nginx closes several at a time.
t.test('the one that has been idle longest goes first', { skip: againstNginx }, async (t) => {
  const server = await start(t);
  const [first, second] = [await RawClient.connect(server), await RawClient.connect(server)];
  for (const client of [first, second, first]) {
    await client.send(KEPT).response();
  }
  const others: RawClient[] = [];
  while (!second.ended) {
    others.push(await RawClient.connect(server));
    // The worker has accepted it, and closed another if it had to.
    if (others.length > LIMIT - 4) {
      await others.at(-1)!.send(KEPT).response();
    }
  }
  t.equal((await first.send(KEPT).response()).text, 'answer', 'it was used later, though it is older');
  for (const client of [first, second, ...others]) {
    client.destroy();
  }
});

/** Begins a handshake and sends half of the hello; `secured` resolves with the answer to a request, once `goOn` was called. */
async function halfHandshake(port: number): Promise<{ secured: Promise<string>; goOn: () => void }> {
  const below = await RawClient.connect(port);
  let rest: Buffer = Buffer.alloc(0);
  let sent = (): void => {};
  let goOn = (): void => {};
  const begun = new Promise<void>((done) => (sent = done));
  const stream: Duplex = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      if (rest.length > 0 || below.socket.bytesWritten > 0) {
        below.send(bytes);
      } else {
        const half = bytes.length >> 1;
        rest = bytes.subarray(half);
        below.send(bytes.subarray(0, half));
        goOn = () => {
          below.send(rest);
          rest = Buffer.alloc(0);
          done();
        };
        sent();
        return;
      }
      done();
    },
  });
  below.socket.on('data', (bytes) => stream.push(bytes));
  below.socket.on('close', () => stream.push(null));
  const secured = new Promise<string>((done, fail) => {
    const client = connectTls({ socket: stream, rejectUnauthorized: false });
    client.on('error', fail);
    client.on('data', (bytes) => {
      done(bytes.toString('latin1'));
      below.destroy();
    });
    client.write(REQUEST);
  });
  await begun;
  return { secured, goOn: () => goOn() };
}
