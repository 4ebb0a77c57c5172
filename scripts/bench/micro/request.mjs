// What one request costs without the kernel: the whole worker with connections whose other end is not a socket, to clients and
// to backends. Prints microseconds of CPU time a request, the best of several turns, which is steady even on a busy machine, and how many
// bytes of V8's heap a request takes until the next collection.
//
//   [STATUS=off|auto|zones] node scripts/bench/micro/request.mjs [ROW ...]
//
// STATUS: `status_zones` as it says, or a `status_zone` in server and location, too.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { bundleSources } from '../bundle.mjs';
import { files, token } from '../rows.mjs';

const CONF = new URL('../../../conf', import.meta.url).pathname;
const STATUS = process.env.STATUS ?? 'auto';
const CONNECTIONS = 64;
const TURNS = Number(process.env.TURNS ?? 60);
/** Requests on each connection in one turn, unless the row has a number of its own. */
const ROUNDS = 50;
/** Requests on each connection of which the heap's growth is read, one after another. */
const HEAP_ROUNDS = 200;

const rows = {
  return200: { conf: 'location / { return 200 ok; }', path: '/' },
  ...Object.fromEntries(
    ['small', 'jwt', 'template', 'json'].map((script) => [
      `js-${script}`,
      {
        http: 'js_import bench from handlers.js;',
        conf: `location / { js_content bench.${script}; }`,
        path: '/',
        ...(script === 'jwt' ? { headers: `Authorization: Bearer ${token}\r\n` } : {}),
        ...(script === 'template' || script === 'json' ? { rounds: 3 } : {}),
      },
    ]),
  ),
  'js-set': {
    http: 'js_import bench from handlers.js; js_set $value bench.value;',
    conf: 'location / { return 200 $value; }',
    path: '/',
  },
  static1k: { conf: 'location / { }', path: '/1k.html' },
  static64k: { conf: 'location / { }', path: '/64k.bin' },
  // As much as browsers send.
  browser: {
    conf: 'location / { }',
    path: '/1k.html',
    headers:
      'Connection: keep-alive\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36\r\n' +
      'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Encoding: gzip, deflate, br\r\n' +
      'Accept-Language: en-GB,en;q=0.9\r\nReferer: http://localhost/index.html\r\nUpgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\n' +
      'Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: same-origin\r\nCookie: session=0123456789abcdef; theme=dark\r\n',
  },
  notmod304: { conf: 'location / { }', path: '/1k.html', headers: 'If-Modified-Since: Mon, 06 May 2024 07:08:09 GMT\r\n', status: 304 },
  gzip10k: { conf: 'gzip on; location / { }', path: '/10k.html', headers: 'Accept-Encoding: gzip\r\n' },
  jsonlog: {
    conf: `access_log %%DIR%%/access.log json; location / { }`,
    http: `log_format json escape=json '{"time":"$time_iso8601","addr":"$remote_addr","request":"$request","status":$status,"bytes":$body_bytes_sent,'
      '"referer":"$http_referer","agent":"$http_user_agent","seconds":$request_time}';`,
    path: '/1k.html',
    headers: 'User-Agent: bench "quoted"\r\nReferer: http://localhost/\r\n',
  },
  // The zones are in this process's memory: a transaction on files costs more, once a turn.
  limits: {
    http: 'limit_req_zone $binary_remote_addr zone=rate:10m rate=1000000r/s; limit_conn_zone $binary_remote_addr zone=count:10m;',
    conf: 'location / { limit_req zone=rate burst=100000 nodelay; limit_conn count 10000; }',
    path: '/1k.html',
  },
  proxy: {
    http: 'upstream backend { server 127.0.0.1:2; keepalive 64; }',
    conf: 'location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; }',
    path: '/',
    answer: Buffer.from(
      'HTTP/1.1 200 OK\r\nServer: nginx/1.31.5\r\nDate: Mon, 06 May 2024 07:08:09 GMT\r\nContent-Type: text/plain\r\n' +
        'Content-Length: 16\r\nConnection: keep-alive\r\n\r\na small response',
    ),
  },
  // Nothing of these can be remembered: each answer is compressed anew.
  ...Object.fromEntries(
    ['gzip', 'brotli'].map((coding) => [
      `${coding}-proxy`,
      {
        http: 'upstream backend { server 127.0.0.1:2; keepalive 64; }',
        conf: `${coding} on; location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; }`,
        path: '/',
        headers: 'Accept-Encoding: gzip, br\r\n',
        rounds: 10,
        answer: Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10240\r\n\r\n${files['10k.html']}`),
      },
    ]),
  ),
  fastcgi: {
    http: 'upstream responder { server 127.0.0.1:2; keepalive 64; }',
    conf: `location / { include ${CONF}/fastcgi.conf; fastcgi_pass responder; fastcgi_keep_conn on; }`,
    path: '/index.php?a=b',
    answer: Buffer.concat([
      Buffer.from([1, 6, 0, 1, 0, 79, 0, 0]),
      Buffer.from('X-Powered-By: bench\r\nContent-Type: text/html; charset=UTF-8\r\n\r\na small response'),
      Buffer.from([1, 6, 0, 1, 0, 0, 0, 0, 1, 3, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ]),
  },
};

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(rows);
const work = mkdtempSync(join(tmpdir(), 'sluice-micro-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
const modified = new Date('2024-05-06T07:08:09Z');
mkdirSync(`${work}/docs`);
for (const [name, size] of Object.entries({ '1k.html': 1024, '10k.html': 10240, '64k.bin': 65536 })) {
  writeFileSync(`${work}/docs/${name}`, 'some text '.repeat(size / 10 + 1).slice(0, size));
  utimesSync(`${work}/docs/${name}`, modified, modified);
}

// What turns modules into scripts is a file of the build, which is not here.
writeFileSync(
  `${work}/handlers.js`,
  readFileSync(new URL('../handlers.js', import.meta.url), 'utf8')
    .replace(/^import (\w+) from ('.*');/m, 'const $1 = require($2);')
    .replace('export default', 'module.exports ='),
);

const outfile = await bundleSources(
  'request',
  `export { loadConfiguration } from './tools/configuration.js';
export { buildServer } from './worker/serve.js';
export { ListenSocket } from './shared/net/listen-socket.js';
export { LogFiles } from './shared/log/log-files.js';`,
);
/** Connections to backends whose answer is due. */
const asked = [];
/** What answers say first, and how many said something else. */
const expected = Buffer.alloc(12);
let wrong = 0;
let wrongText = '';
let expectedText = '';

/** libuv's handles for connections to backends give way to ours; all other bindings are Node's. */
const { binding } = process;
process.binding = (name) => (name === 'tcp_wrap' ? { TCP: BackendHandle, TCPConnectWrap: ConnectRequest } : binding.call(process, name));
const { loadConfiguration, buildServer, ListenSocket, LogFiles } = await import(outfile);
const { streamBaseState, kReadBytesOrError, kLastWriteWasAsync } = process.binding('stream_wrap');

/** Stands for libuv's handle of a listening socket. */
class ListenHandle {
  /** @type {(status: number, client: Handle) => void} The server's own. */
  onconnection = () => {};
  listen() {
    return 0;
  }
}

/** Stands for libuv's handle of a connection: takes every write at once, and reads what it is told to. */
class Handle {
  answers = 0;
  #buffer;
  /** @type {(bytes: undefined) => void} The server's own. */
  onread = () => {};
  setNoDelay() {
    return 0;
  }
  useUserBuffer(buffer) {
    this.#buffer = buffer;
  }
  readStart() {
    return 0;
  }
  readStop() {
    return 0;
  }
  getsockname(into) {
    Object.assign(into, { address: '127.0.0.1', family: 'IPv4', port: 1 });
    return 0;
  }
  getpeername(into) {
    Object.assign(into, { address: '127.0.0.1', family: 'IPv4', port: 2 });
    return 0;
  }
  send(bytes) {
    this.#buffer.set(bytes);
    streamBaseState[kReadBytesOrError] = bytes.length;
    this.onread(undefined);
  }
  writeLatin1String(_request, text) {
    return this.#written(text);
  }
  writeBuffer(_request, bytes) {
    return this.#written(bytes);
  }
  writev(_request, [first]) {
    return this.#written(first);
  }
  close() {}
  #written(data) {
    this.wrote(data);
    streamBaseState[kLastWriteWasAsync] = 0;
    return 0;
  }
  wrote(data) {
    this.answers++;
    const asExpected = typeof data === 'string' ? data.startsWith(expectedText) : expected.compare(data, 0, expected.length) === 0;
    if (!asExpected) {
      wrong++;
      wrongText = data.toString('latin1');
    }
  }
}

/** The same to a backend: whatever is written to it is a request, which is answered once all clients have asked. */
class BackendHandle extends Handle {
  connect(request) {
    process.nextTick(() => request.oncomplete(0));
    return 0;
  }
  /** @override */
  wrote() {
    asked.push(this);
  }
}

class ConnectRequest {}

for (const name of chosen) {
  const { us, bytes } = await measure(rows[name]);
  console.log(`${us.toFixed(2)} us  ${bytes.toFixed(0).padStart(6)} bytes  ${name}`);
}
process.exit(0);

function zoned(conf) {
  return STATUS === 'zones' ? `status_zone front; ${conf.replaceAll('location / {', 'location / { status_zone pages;')}` : conf;
}

async function measure(row) {
  const entry = `${work}/server.conf`;
  writeFileSync(
    entry,
    `error_log ${work}/error.log; pid ${work}/pid; net_engine libuv; events { worker_connections 1000; }
http { access_log off; status_zones ${STATUS === 'off' ? 'off' : 'auto'}; types { text/html html; } keepalive_requests 100000000; ${row.http ?? ''}
  server { listen 127.0.0.1:1; root ${work}/docs; ${zoned(row.conf)} } }`.replaceAll('%%DIR%%', work),
  );
  const configuration = await loadConfiguration({
    entry,
    prefix: `${work}/`,
    confPrefix: `${work}/`,
    errorLog: 'error.log',
    globals: '',
    pid: 'pid',
    signalling: false,
  });
  const { listens, process: settings, snapshot } = configuration;
  const listening = new ListenHandle();
  const socket = ListenSocket.from(listens[0], listening);
  buildServer({
    slot: 0,
    id: 1,
    generation: 1,
    snapshot,
    process: settings,
    zones: { directory: undefined, files: {} },
    sockets: [socket],
    log: { level: 4, log: (_level, message) => console.error(message) },
    logFiles: new LogFiles(),
  });
  await new Promise((done, fail) => socket.open((error) => (error === undefined ? done(undefined) : fail(error))));
  const clients = Array.from({ length: CONNECTIONS }, () => new Handle());
  for (const client of clients) {
    listening.onconnection(0, client);
  }
  const request = Buffer.from(`GET ${row.path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n${row.headers ?? ''}\r\n`, 'latin1');
  const rounds = row.rounds ?? ROUNDS;
  expectedText = `HTTP/1.1 ${row.status ?? 200}`;
  expected.latin1Write(expectedText);
  const ask = async () => {
    for (let i = 0; i < clients.length; i++) {
      clients[i].send(request);
    }
    await new Promise(setImmediate);
    for (let i = 0; i < asked.length; i++) {
      asked[i].send(row.answer);
    }
    asked.length = 0;
  };
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < TURNS; turn++) {
    const before = process.cpuUsage();
    for (let round = 0; round < rounds; round++) {
      await ask();
    }
    const used = process.cpuUsage(before);
    best = Math.min(best, (used.user + used.system) / (rounds * CONNECTIONS));
  }
  const bytes = await heapGrowth(ask);
  for (const { answers } of clients) {
    if (answers !== TURNS * rounds + HEAP_ROUNDS) {
      throw new Error(`${answers} answers`);
    }
  }
  if (wrong > 0) {
    throw new Error(`${wrong} answers are not ${expectedText}, the last one was: ${wrongText.slice(0, 500)}`);
  }
  return { us: best, bytes };
}

/** How many bytes the heap grows by for a request: what most rounds say, because a collection makes some of them say less. */
async function heapGrowth(ask) {
  const grown = [];
  for (let round = 0; round < HEAP_ROUNDS; round++) {
    const before = getHeapStatistics().used_heap_size;
    await ask();
    grown.push(getHeapStatistics().used_heap_size - before);
  }
  return grown.sort((a, b) => a - b)[HEAP_ROUNDS / 2] / CONNECTIONS;
}
