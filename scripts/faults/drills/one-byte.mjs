import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { cpuOf } from '../../bench/measure.mjs';
import { drip, dripping, dripRelay, dripServer, leave, open } from '../drip.mjs';
import { clients, recovered, usual } from '../stage.mjs';

const latin1 = (text) => Buffer.from(text, 'latin1');
const record = (type, text, padding = 0) =>
  Buffer.concat([Buffer.from([1, type, 0, 1, text.length >> 8, text.length & 255, padding, 0]), latin1(text), Buffer.alloc(padding)]);
const GET = 'GET /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const PROXY_1 = 'PROXY TCP4 192.0.2.1 192.0.2.2 1234 5678\r\n';
const PROXY_2 = `${latin1('\r\n\r\n\0\r\nQUIT\n').latin1Slice()}\x21\x11\0\x0f\xc0\0\x02\x01\xc0\0\x02\x02\x04\xd2\x16\x2e\x04\0\0`;

/** What clients send, to which of the ports, and what comes back when it is complete. */
/** @type {Record<string, Input>} */
const inputs = {
  head: { port: 0, bytes: GET, body: 'a small file' },
  'HTTP/0.9': { port: 0, bytes: 'GET /small\r\n', body: 'a small file' },
  body: { port: 0, bytes: `POST /upload HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 9\r\n\r\nsome body`, body: 'got 9' },
  chunks: {
    port: 0,
    bytes: `POST /upload HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nsome \r\n4\r\nbody\r\n0\r\nX-A: b\r\n\r\n`,
    body: 'got 9',
  },
  'PROXY 1': { port: 2, bytes: PROXY_1 + GET, body: 'a small file' },
  'PROXY 2': { port: 2, bytes: PROXY_2 + GET, body: 'a small file' },
  TLS: { port: 1, tls: true, bytes: GET, body: 'a small file' },
  'PROXY 1, TLS': { port: 3, tls: true, before: PROXY_1, bytes: GET, body: 'a small file' },
};

/** What backends answer. `how` is the rest of their location. */
const answers = {
  length: { how: 'proxy_pass http://%%', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-A: b\r\n\r\nbody' },
  close: { how: 'proxy_pass http://%%', bytes: 'HTTP/1.0 200 Fine\r\nX-A: b\r\n\r\nbody' },
  'early hints': {
    how: 'proxy_pass http://%%; early_hints 1',
    bytes: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody',
  },
  chunked: {
    how: 'proxy_pass http://%%; proxy_http_version 1.1; proxy_pass_trailers on',
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nbo\r\n2\r\ndy\r\n0\r\nX-T: t\r\n\r\n',
  },
  unbuffered: {
    how: 'proxy_pass http://%%; proxy_http_version 1.1; proxy_buffering off',
    bytes: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n',
  },
  upgrade: {
    how: 'proxy_pass http://%%; proxy_http_version 1.1; proxy_set_header Upgrade echo; proxy_set_header Connection upgrade',
    bytes: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\nbody',
  },
  TLS: { how: 'proxy_pass https://%%', tls: true, bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody' },
  fastcgi: {
    how: 'fastcgi_pass %%; fastcgi_param A b',
    bytes: Buffer.concat([
      record(7, 'a note', 3),
      record(6, 'Status: 200 Fi', 5),
      record(6, 'ne\r\nX-A: b\r\n\r\nbo'),
      record(6, 'dy', 1),
      record(6, ''),
      record(3, '\0\0\0\0\0\0\0\0'),
    ]),
  },
  scgi: { how: 'scgi_pass %%; scgi_param A b', bytes: 'Status: 200 OK\r\nContent-Length: 4\r\n\r\nbody' },
  uwsgi: { how: 'uwsgi_pass %%; uwsgi_param A b', bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody' },
  memcached: { how: 'set $memcached_key k; memcached_pass %%', bytes: 'VALUE k 0 4\r\nbody\r\nEND\r\n' },
};

/** Milliseconds that an answer may take. */
const PATIENCE = 30_000;
const WAYS = ['end', 'reset'];

/**
 * @typedef {{ count?: number, how?: string, stay?: boolean }} Cut
 * @typedef {{ port: number, tls?: boolean, before?: string, bytes: string, body: string }} Input
 */

/**
 * Sends what a client sends, up to `count` bytes of it. Resolves with what came back until the server closed the connection, with nothing
 * if it did not, or with the socket if that is to `stay`.
 * @param {import('../stage.mjs').Stage} stage
 * @param {Input} input
 * @param {Cut} cut
 */
async function send(stage, { port, tls, before = '', bytes }, { count = Number.POSITIVE_INFINITY, how, stay } = {}) {
  const socket = open(stage.port(port));
  let text = '';
  const closed = new Promise((done) => socket.once('close', done));
  if (!tls) {
    socket.on('data', (piece) => (text += piece.latin1Slice()));
    await drip(socket, latin1(bytes), Math.min(count, bytes.length));
  } else {
    await drip(socket, latin1(before), Math.min(count, before.length));
    const stream = dripping(socket, Math.max(count - before.length, 0));
    const secured = connectTls({ socket: stream, rejectUnauthorized: false });
    const spent = new Promise((done) => {
      stream.once('spent', done);
      secured.once('close', done);
    });
    secured.on('error', () => {});
    secured.on('data', (piece) => (text += piece.latin1Slice()));
    secured.write(bytes);
    if (count !== Number.POSITIVE_INFINITY) {
      await Promise.race([spent, closed]);
    }
  }
  if (stay) {
    return socket;
  }
  if (how !== undefined) {
    leave(socket, how);
  }
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    socket.destroy();
  }, PATIENCE);
  await closed;
  clearTimeout(timer);
  return late ? undefined : text;
}

/** How many bytes a client sends; those of a handshake are not known before. */
const sizeOf = (/** @type {Input} */ { tls, before = '', bytes }) => (tls ? before.length + 600 : bytes.length);

/** A name server that has room for the answer over TCP only. Names say how much of it comes. */
async function nameServer() {
  const udp = createSocket('udp4');
  const tcp = await dripServer((query) => answerTo(query.subarray(2)));
  udp.on('message', (query, { port, address }) => {
    const truncated = Buffer.from(query);
    truncated.writeUInt16BE(0x8380, 2);
    udp.send(truncated, port, address);
  });
  await new Promise((done) => udp.bind(tcp.port, '127.0.0.1', () => done(undefined)));
  return { port: tcp.port, server: tcp, close: () => [udp.close(), tcp.close()] };
}

function answerTo(query) {
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(1, 6);
  const end = query.indexOf(0, 12) + 5;
  const address = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
  const all = Buffer.concat([head, query.subarray(12, end), address]);
  return Buffer.concat([Buffer.from([all.length >> 8, all.length & 255]), all]);
}

/** A response without the framing of chunks, which are short here. */
const unframed = (text) => text.replace(/\d\r\n|\r\n/g, '');

/** Every `step`-th place at which bytes can end too early, the way of leaving in turns. */
const cuts = (size, step) => Array.from({ length: Math.ceil(size / step) }, (_, i) => ({ count: i * step, how: WAYS[i % 2] }));

/**
 * Everything one byte at a time, from clients and from backends, whole and broken off at each place: no spin, and good clients are
 * answered.
 */
export default {
  id: 'F30',
  what: 'every protocol one byte at a time, and broken off at each byte: answered when whole, no spin, good clients are answered',
  async run(stage, expect) {
    const step = stage.short ? 11 : 1;
    const names = await nameServer();
    const tls = createTlsServer({ key: readFileSync(`${stage.dir}/tls.key`), cert: readFileSync(`${stage.dir}/tls.crt`) }, (socket) =>
      socket.on('error', () => {}).once('data', () => socket.end(answers.TLS.bytes)),
    );
    tls.on('tlsClientError', () => {});
    await new Promise((done) => tls.listen(0, '127.0.0.1', () => done(undefined)));
    const backends = {};
    for (const [name, { tls: relayed, bytes }] of Object.entries(answers)) {
      backends[name] = relayed
        ? await dripRelay(/** @type {import('node:net').AddressInfo} */ (tls.address()).port)
        : await dripServer(Buffer.isBuffer(bytes) ? bytes : latin1(bytes));
    }
    const locations = Object.entries(answers).map(
      ([name, { how }], i) => `location /${i}/ { ${how.replace('%%', `127.0.0.1:${backends[name].port}`)}; }`,
    );
    await stage.start(`client_header_timeout 60s; client_body_timeout 60s; resolver 127.0.0.1:${names.port} ipv6=off; resolver_timeout 2s;
      ${usual.replace(
        'location /proxy/',
        `${locations.join('\n')} location ~ ^/dns/(?<name>.*) { proxy_pass http://$name:${stage.originPort}/small; } location /proxy/`,
      )}
      server { listen 127.0.0.1:%%PORT_2%% proxy_protocol; }
      server { listen 127.0.0.1:%%PORT_3%% ssl proxy_protocol; ssl_certificate %%DIR%%/tls.crt; ssl_certificate_key %%DIR%%/tls.key; }`);
    const workers = stage.workers();
    const load = stage.load(clients.close(stage, 1, { pause: 50 }), clients.keepAlive(stage, 1, { pause: 50 }));
    await load.answered(10);

    const wrong = [];
    const kept = [];
    let whole = 0;
    let broken = 0;
    const check = (name, text, body) => {
      whole++;
      if (!unframed(text ?? '').includes(body)) {
        wrong.push(`${name}: ${JSON.stringify(text?.slice(0, 60))}`);
      }
    };
    const fromClients = Object.entries(inputs).map(async ([name, input]) => {
      check(name, await send(stage, input), input.body);
      await inParts(cuts(sizeOf(input), step), 20, async (cut) => {
        broken++;
        if ((await send(stage, input, cut)) === undefined) {
          kept.push(`${name} at ${cut.count}`);
        }
      });
      check(name, await send(stage, input), input.body);
    });
    const fromBackends = Object.entries(answers).map(async ([name, { bytes }], i) => {
      const ask = () => stage.get(`/${i}/`, { patience: PATIENCE });
      check(name, await ask(), 'body');
      for (const cut of cuts(bytes.length, step)) {
        broken++;
        backends[name].next = cut;
        await ask();
      }
      backends[name].next = {};
      check(name, await ask(), 'body');
    });
    let serial = 0;
    const lookUp = () => stage.get(`/dns/n${serial++}.test`, { patience: PATIENCE });
    const fromNames = (async () => {
      check('DNS', await lookUp(), 'body of /small');
      for (const cut of cuts(50, 10 * step)) {
        broken++;
        names.server.next = cut;
        await lookUp();
      }
      names.server.next = {};
      check('DNS', await lookUp(), 'body of /small');
    })();
    await Promise.all([...fromClients, ...fromBackends, fromNames]);

    // Those that stay, and say nothing more.
    const stalled = await Promise.all(
      Object.values(inputs).flatMap((input) => cuts(sizeOf(input), 7 * step).map(({ count }) => send(stage, input, { count, stay: true }))),
    );
    const before = cpuOf(stage.pid);
    await sleep(2000);
    const cpu = (cpuOf(stage.pid) - before) / 2_000_000;
    for (const socket of stalled) {
      /** @type {import('node:net').Socket} */ (socket).destroy();
    }

    const among = await load.stop();
    for (const server of [...Object.values(backends), names, tls]) {
      server.close();
    }
    const { answered, failed } = await recovered(stage, expect);
    expect(wrong.length === 0, `${wrong.length} of ${whole} whole ones were not answered: ${wrong.join('; ')}`);
    expect(kept.length === 0, `connections whose client left were kept: ${kept.join(', ')}`);
    expect(among.failed === 0 && among.answered > 0, `${among.failed} good requests failed: ${JSON.stringify(among.why)}`);
    expect(stage.short || among.slowest < 1000, `a good request took ${Math.round(among.slowest)} ms`);
    expect(cpu < 0.5, `it spins: ${Math.round(cpu * 100)} % of a core`);
    expect(stage.serve(workers), 'a worker died');
    return {
      whole,
      wrong: wrong.length,
      broken,
      stalled: stalled.length,
      cpu: Math.round(cpu * 100) / 100,
      meanwhile: among.answered,
      slowest: Math.round(among.slowest),
      answered,
      failed,
    };
  },
};

/** Works on all items, on so many of them at a time. */
async function inParts(items, atOnce, work) {
  for (let i = 0; i < items.length; i += atOnce) {
    await Promise.all(items.slice(i, i + atOnce).map(work));
  }
}
