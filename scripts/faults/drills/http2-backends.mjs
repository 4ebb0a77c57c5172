import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { clients } from '../stage.mjs';

/** Requests at a time, beside those of a fault. */
const CLIENTS = 16;

/** Begins so many answers that wait; `finish` resolves with how many were whole. */
async function hold(stage, count) {
  const ends = [];
  let begun = 0;
  for (let i = 0; i < count; i++) {
    const socket = connect(stage.port(0), '127.0.0.1');
    let text = '';
    socket.on('error', () => {});
    socket.write('GET /hold HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    ends.push(new Promise((done) => socket.on('close', () => done(text.includes('and ended') && text.endsWith('0\r\n\r\n')))));
    socket.on('data', (piece) => {
      begun += !text.includes('begun') && (text + piece.latin1Slice()).includes('begun') ? 1 : 0;
      text += piece.latin1Slice();
    });
  }
  await stage.until(() => begun === count, `${count} answers to begin, there were ${begun}`);
  return { finish: async () => (await Promise.all(ends)).filter(Boolean).length };
}

/** What becomes of requests when backends of HTTP/2 die, retire their connections, or send without an end, and when sluice reloads. */
export default {
  id: 'F42',
  what: 'HTTP/2 backends: killed, GOAWAY, a reload with streams open, slow readers of endless answers',
  async run(stage, expect) {
    let first = await stage.helper('http2-origin.mjs');
    const second = await stage.helper('http2-origin.mjs');
    const port = first.answer;
    await stage.start(`
      upstream b { zone b 64k; server 127.0.0.1:${port} max_fails=0; server 127.0.0.1:${second.answer} max_fails=0; keepalive 16; }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        proxy_http_version 2;
        proxy_max_temp_file_size 0;
        location /proxy/ { proxy_pass http://b; }
        location /hold { proxy_pass http://b; proxy_buffering off; }
        location /endless { proxy_pass http://b; }
      }`);
    const workers = stage.workers();
    const figures = {};
    const under = async (name, allowed, fault) => {
      const load = stage.load(clients.proxied(stage, CLIENTS));
      await load.answered(100);
      const times = await fault(load);
      const { answered, failed, why, slowest } = await load.stop();
      expect(failed <= allowed(times), `${name}: ${failed} of ${answered} requests failed: ${JSON.stringify(why)}`);
      figures[name] = { times, answered, failed, slowest: Math.round(slowest) };
      return failed;
    };
    let failed = 0;

    // A request of which no answer has begun goes to the other backend.
    failed += await under(
      'killed',
      () => 0,
      async () => {
        const times = stage.short ? 2 : 10;
        for (let i = 0; i < times; i++) {
          first.child.kill('SIGKILL');
          await sleep(200);
          first = await stage.helper('http2-origin.mjs', port);
          await sleep(300);
        }
        return times;
      },
    );
    failed += await under(
      'goaway',
      () => 0,
      async (load) => {
        const times = stage.short ? 10 : 100;
        for (let i = 0; i < times; i++) {
          first.child.send('goaway');
          second.child.send('goaway');
          await sleep(40);
          // However slow the machine is: a request that is refused four times by everybody has failed.
          await load.answered((await load.report()).answered + CLIENTS);
        }
        return times;
      },
    );

    const count = stage.short ? 20 : 200;
    failed += await under(
      'reloaded',
      () => 0,
      async () => {
        const held = await hold(stage, count);
        await stage.reload();
        first.child.send('release');
        second.child.send('release');
        figures.held = await held.finish();
        return 1;
      },
    );
    expect(figures.held === count, `a reload left ${figures.held} of ${count} streams whole`);
    await stage.until(() => !workers.some((pid) => stage.processes().includes(pid)), 'the old workers to leave');

    const before = stage.memory();
    let peak = before;
    const readers = stage.short ? 40 : 400;
    failed += await under(
      'slowReaders',
      () => 0,
      async () => {
        const sockets = Array.from({ length: readers }, () => {
          const socket = connect(
            /** @type {import('node:net').NetConnectOpts} */ ({ port: stage.port(0), host: '127.0.0.1', highWaterMark: 1024 }),
          );
          socket.on('error', () => {});
          socket.pause();
          socket.write('GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n');
          return socket;
        });
        for (const end = Date.now() + (stage.short ? 2000 : 15_000); Date.now() < end; await sleep(500)) {
          for (const socket of sockets) {
            socket.read(1024);
          }
          peak = Math.max(peak, stage.memory());
        }
        for (const socket of sockets) {
          socket.destroy();
        }
        return readers;
      },
    );
    expect(peak < before + 400, `memory grew from ${before} to ${peak} MB`);
    return { failed, memoryBefore: Math.round(before), memoryPeak: Math.round(peak), ...figures };
  },
};
