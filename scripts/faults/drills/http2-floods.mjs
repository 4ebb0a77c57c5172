import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { END_HEADERS, END_STREAM, field, frame, number32, PREFACE, request, settings, T } from '../http2-frames.mjs';
import { clients, usual } from '../stage.mjs';

/** Connections that flood at a time. */
const CONNECTIONS = 4;
const BATCH = 100;

const head = (id, path = '/small', method = 'GET') =>
  frame(T.HEADERS, END_HEADERS | (method === 'GET' ? END_STREAM : 0), id, request(path, method));
const many = (make) => (round) => Buffer.concat(Array.from({ length: BATCH }, (_, i) => make(1 + 2 * (round * BATCH + i))));
const always = (bytes) => {
  const batch = Buffer.concat(Array.from({ length: BATCH }, () => bytes));
  return () => batch;
};
const bomb = Buffer.concat([request('/small'), field('x-bomb', 'b'.repeat(4000), true), Buffer.alloc(8000, 0x80 | 62)]);

/** For each flood, the bytes of a round, of which there are as many as the server takes on a connection. */
const floods = {
  rapidReset: many((id) => Buffer.concat([head(id, '/proxy/small'), frame(T.RST_STREAM, 0, id, number32(8))])),
  madeYouReset: many((id) => Buffer.concat([head(id, '/proxy/small'), frame(T.WINDOW_UPDATE, 0, id, number32(0x7fffffff))])),
  continuation: (round) => (round === 0 ? frame(T.HEADERS, 0, 1, request('/small')) : frame(T.CONTINUATION, 0, 1, field('x', 'y'))),
  settings: always(frame(T.SETTINGS, 0, 0, settings(4, 65535, 1, 4096))),
  ping: always(frame(T.PING, 0, 0, Buffer.alloc(8))),
  priority: many((id) => frame(T.PRIORITY, 0, id, Buffer.from([0x80, 0, 0, 0, 255]))),
  windowUpdate: (round) => (round === 0 ? head(1, '/endless', 'POST') : always(frame(T.WINDOW_UPDATE, 0, 1, number32(1)))()),
  emptyData: (round) => (round === 0 ? head(1, '/proxy/small', 'POST') : always(frame(T.DATA, 0, 1))()),
  hpackBomb: many((id) => frame(T.HEADERS, END_HEADERS | END_STREAM, id, bomb)),
  refused: many((id) => head(id, '/proxy/small', 'POST')),
  // These keep their connections.
  oneByteWindow: (round) =>
    round === 0
      ? Buffer.concat([frame(T.SETTINGS, 0, 0, settings(4, 1)), ...Array.from({ length: BATCH }, (_, i) => head(1 + 2 * i, '/large'))])
      : Buffer.concat(Array.from({ length: BATCH }, (_, i) => frame(T.WINDOW_UPDATE, 0, 1 + 2 * i, number32(1)))),
  zeroWindow: (round) =>
    round === 0
      ? Buffer.concat([frame(T.SETTINGS, 0, 0, settings(4, 0)), ...Array.from({ length: BATCH }, (_, i) => head(1 + 2 * i, '/large'))])
      : undefined,
  unfinished: (round) =>
    round === 0 ? Buffer.concat(Array.from({ length: BATCH }, (_, i) => head(1 + 2 * i, '/proxy/small', 'POST'))) : undefined,
};

/** Floods a server on one connection after another until `ended`; counts connections and bytes. */
async function attack(stage, rounds, ended, counts) {
  while (!ended()) {
    await new Promise((done) => {
      const socket = connect(stage.port(0), '127.0.0.1');
      let round = 0;
      const more = () => {
        for (let room = true; room && !socket.destroyed; ) {
          const bytes = ended() ? undefined : rounds(round++);
          if (bytes === undefined) {
            return;
          }
          counts.bytes += bytes.length;
          room = socket.write(bytes);
          if (room && round % 20 === 0) {
            setImmediate(more);
            return;
          }
        }
      };
      const watch = setInterval(() => ended() && socket.destroy(), 20);
      counts.connections++;
      socket.on('error', () => {});
      socket.on('drain', more);
      socket.on('end', () => socket.destroy());
      socket.on('close', () => {
        clearInterval(watch);
        done(undefined);
      });
      socket.resume();
      socket.write(Buffer.concat([PREFACE, frame(T.SETTINGS, 0, 0)]));
      more();
    });
  }
}

/** Processor time of the server's processes so far, in ms. */
const processorTime = (stage) =>
  stage.processes().reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * 10;
  }, 0);

/** What a client can do to a server with frames alone: good clients are answered, memory is bounded, no worker dies. */
export default {
  id: 'F38',
  what: 'floods of HTTP/2 frames: good clients are answered within a second, and memory is bounded',
  async run(stage, expect) {
    await stage.start(`http2 on; send_timeout 2s; client_body_timeout 2s; client_header_timeout 2s; lingering_timeout 1s; ${usual}`);
    const workers = stage.workers();
    const before = stage.memory();
    const figures = {};
    let peak = before;
    let failedAll = 0;
    for (const [name, rounds] of Object.entries(floods)) {
      const load = stage.load(clients.keepAlive(stage, 1, { pause: 20 }), clients.close(stage, 1, { pause: 50 }));
      await load.answered(5);
      const counts = { connections: 0, bytes: 0 };
      const until = Date.now() + (stage.short ? 300 : 4000);
      const spent = processorTime(stage);
      const attacks = Array.from({ length: CONNECTIONS }, () => attack(stage, rounds, () => Date.now() > until, counts));
      while (Date.now() < until) {
        await sleep(100);
        peak = Math.max(peak, stage.memory());
      }
      await Promise.all(attacks);
      const { answered, failed, why, slowest } = await load.stop();
      failedAll += failed;
      expect(failed === 0 && answered > 0, `${name}: ${failed} of ${answered} good requests failed: ${JSON.stringify(why)}`);
      expect(stage.short || slowest < 1000, `${name}: a good request took ${Math.round(slowest)} ms`);
      figures[name] = {
        connections: counts.connections,
        megabytes: Math.round(counts.bytes / 1e5) / 10,
        processor: Math.round(processorTime(stage) - spent),
        answered,
        slowest: Math.round(slowest),
      };
    }
    expect(peak < before + 300, `memory grew from ${before} to ${peak} MB`);
    expect(stage.serve(workers), 'a worker died');
    return { failed: failedAll, memoryBefore: Math.round(before), memoryPeak: Math.round(peak), ...figures };
  },
};
