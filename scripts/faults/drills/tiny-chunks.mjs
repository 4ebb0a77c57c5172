import { connect, createServer } from 'node:net';
import { availableParallelism, loadavg } from 'node:os';
import { cpuOf } from '../../bench/measure.mjs';
import { clients } from '../stage.mjs';

/** What one connection sends in chunks of a byte. */
const CHUNKS = { up: 1_000_000, down: 500_000 };

const tiny = (count) => Buffer.from(`${'1\r\nt\r\n'.repeat(count)}0\r\n\r\n`);

/** A FastCGI response whose body comes in records of a byte. */
function tinyRecords(count) {
  const record = (type, content) => Buffer.concat([Buffer.from([1, type, 0, 1, content.length >> 8, content.length & 255, 0, 0]), content]);
  const one = record(6, Buffer.from('t'));
  const head = record(6, Buffer.from('Content-Type: text/plain\r\n\r\n'));
  return Buffer.concat([head, ...Array.from({ length: count }, () => one), record(3, Buffer.alloc(8))]);
}

/** Answers whatever asks, once for each connection, with the same bytes. */
async function backend(bytes) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise((/** @type {(value?: any) => void} */ done) => server.listen(0, '127.0.0.1', done));
  return { address: `127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`, close: () => server.close() };
}

const paths = {
  held: { up: '/held' },
  spooled: { up: '/spooled' },
  unbuffered: { up: '/unbuffered' },
  discarded: { up: '/discarded' },
  piped: { down: '/piped' },
  passed: { down: '/passed' },
  cached: { down: '/cached' },
  gzipped: { down: '/gzipped' },
  replaced: { down: '/replaced' },
  slowReader: { down: '/piped', slow: true },
  fastcgi: { down: '/fastcgi' },
};

/** Sends a request and reads its answer, slowly if wanted. Resolves with the status and how much came. */
function exchange(stage, head, body, slow) {
  return new Promise((done) => {
    let bytes = 0;
    let status = '';
    const socket = connect({ port: stage.port(0), host: '127.0.0.1', ...(slow ? { highWaterMark: 1 << 16 } : {}) });
    socket.on('error', () => {});
    socket.on('close', () => done({ status, bytes }));
    socket.on('data', (piece) => {
      if (status === '') {
        status = piece.latin1Slice(9, 12);
      }
      bytes += piece.length;
      if (!slow) {
        return;
      }
      socket.pause();
      setTimeout(() => socket.resume(), 5);
    });
    socket.setTimeout(20_000, () => socket.destroy());
    socket.write(head);
    if (body !== undefined) {
      socket.write(body);
    }
  });
}

/**
 * A few connections bring bodies of chunks of a byte, both ways: bystanders hardly wait, and the worker does not do much more than
 * nginx.
 */
export default {
  id: 'F34',
  what: 'bodies of a million 1-byte chunks, from clients and backends: others wait less than 100 ms',
  async run(stage, expect) {
    const short = stage.short ? 10 : 1;
    const up = tiny(CHUNKS.up / short);
    const http = await backend(
      Buffer.concat([
        Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n'),
        tiny(CHUNKS.down / short),
      ]),
    );
    const fastcgi = await backend(tinyRecords(CHUNKS.down / short));
    await stage.start(`
      proxy_http_version 1.1;
      proxy_cache_path %%DIR%%/cache keys_zone=tiny:1m;
      server {
        listen 127.0.0.1:%%PORT_0%%;
        client_max_body_size 0;
        location / { }
        location /held { client_body_buffer_size 8m; proxy_pass http://%%ORIGIN%%/upload; }
        location /spooled { proxy_pass http://%%ORIGIN%%/upload; }
        location /unbuffered { proxy_request_buffering off; proxy_pass http://%%ORIGIN%%/upload; }
        location /discarded { return 200 "dropped"; }
        location /piped { proxy_pass http://${http.address}; }
        location /passed { proxy_buffering off; proxy_pass http://${http.address}; }
        location /cached { proxy_cache tiny; proxy_cache_key $request_uri; proxy_pass http://${http.address}; }
        location /gzipped { gzip on; gzip_types *; proxy_pass http://${http.address}; }
        location /replaced { sub_filter tt u; sub_filter_once off; sub_filter_types *; proxy_pass http://${http.address}; }
        location /fastcgi { fastcgi_pass ${fastcgi.address}; }
      }`);
    const figures = {};
    for (const [name, path] of Object.entries(paths)) {
      const head = path.up === undefined ? `GET ${path.down}` : `POST ${path.up}`;
      const framing = path.up === undefined ? '' : 'Transfer-Encoding: chunked\r\n';
      const answers = [];
      const exchanges = async (kind) => {
        for (let i = 0; i < 4; i++) {
          const line = `${head}?${kind}${i} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept-Encoding: gzip\r\n${framing}\r\n`;
          answers.push(await exchange(stage, line, path.up === undefined ? undefined : up, path.slow));
        }
      };
      await exchanges('first');
      const cpu = await cost(stage, () => exchanges('alone'));
      const load = stage.load(clients.keepAlive(stage, 8, { pause: 2 }));
      await load.answered(100);
      const before = stage.memory();
      let memory = before;
      const watch = setInterval(() => (memory = Math.max(memory, stage.memory())), 20);
      await exchanges('beside');
      clearInterval(watch);
      const { answered, failed, why, slowest } = await load.stop();
      expect(failed === 0, `${name}: ${failed} of ${answered} bystanders' requests failed: ${JSON.stringify(why)}`);
      for (const { status } of answers) {
        expect(status === '200', `${name}: status ${status}`);
      }
      // On a crowded machine everybody waits, also for others' processes.
      expect(
        stage.short || slowest < 100 * Math.max(1, loadavg()[0] / availableParallelism()),
        `${name}: a bystander waited ${Math.round(slowest)} ms`,
      );
      figures[name] = {
        cpu: Math.round(cpu / 400) / 10,
        slowest: Math.round(slowest),
        failed,
        memory: Math.round(memory - before),
        answer: answers[0].bytes,
      };
    }
    http.close();
    fastcgi.close();
    return figures;
  },
};

/** Microseconds of processor time that the server takes for something. */
async function cost(stage, work) {
  const before = cpuOf(stage.pid);
  await work();
  return cpuOf(stage.pid) - before;
}
