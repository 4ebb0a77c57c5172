import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { clients, usual } from '../stage.mjs';

/** Requests at a time to the backend that floods. */
const ASKING = 8;

/** Asks for one answer after the other until `ended`; counts the statuses. */
async function ask(stage, ended, statuses) {
  while (!ended()) {
    const answer = await new Promise((done) => {
      let text = '';
      const socket = connect(stage.port(2), '127.0.0.1');
      const watch = setInterval(() => ended() && socket.destroy(), 50);
      socket.on('error', () => {});
      socket.on('data', (piece) => (text = (text + piece.latin1Slice()).slice(0, 100)));
      socket.on('close', () => {
        clearInterval(watch);
        done(text);
      });
      socket.write('POST /flood HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody');
    });
    const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? (ended() ? undefined : 'none');
    if (status !== undefined) {
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    await sleep(5);
  }
}

/** What a backend of HTTP/2 can do with frames alone: clients of others are answered, memory is bounded, no worker dies. */
export default {
  id: 'F43',
  what: 'floods of HTTP/2 frames from a backend: others are answered within a second, and memory is bounded',
  async run(stage, expect) {
    const flooder = await stage.helper('http2-flooder.mjs');
    const names = await flooder.ask('names');
    await stage.start(`${usual}
      server {
        listen 127.0.0.1:%%PORT_2%%;
        proxy_http_version 2;
        proxy_read_timeout 2s;
        proxy_send_timeout 2s;
        location / { proxy_pass http://127.0.0.1:${flooder.answer}; proxy_buffering off; }
      }`);
    const workers = stage.workers();
    const before = stage.memory();
    const figures = {};
    let peak = before;
    let failedAll = 0;
    for (const name of names) {
      flooder.child.send(name);
      const load = stage.load(clients.keepAlive(stage, 1, { pause: 20 }), clients.proxied(stage, 1, { pause: 20 }));
      await load.answered(5);
      const statuses = {};
      const until = Date.now() + (stage.short ? 300 : 3000);
      const asking = Array.from({ length: ASKING }, () => ask(stage, () => Date.now() > until, statuses));
      while (Date.now() < until) {
        await sleep(100);
        peak = Math.max(peak, stage.memory());
      }
      await Promise.all(asking);
      const { answered, failed, why, slowest } = await load.stop();
      failedAll += failed;
      expect(failed === 0 && answered > 0, `${name}: ${failed} of ${answered} good requests failed: ${JSON.stringify(why)}`);
      expect(stage.short || slowest < 1000, `${name}: a good request took ${Math.round(slowest)} ms`);
      const { connections, bytes } = await flooder.ask('count');
      figures[name] = { connections, megabytes: Math.round(bytes / 1e5) / 10, statuses, answered, slowest: Math.round(slowest) };
    }
    expect(
      figures.whole.statuses['200'] > 0 && Object.keys(figures.whole.statuses).length === 1,
      `a whole answer: ${JSON.stringify(figures.whole)}`,
    );
    expect(peak < before + 300, `memory grew from ${before} to ${peak} MB`);
    expect(stage.serve(workers), 'a worker died');
    return { failed: failedAll, memoryBefore: Math.round(before), memoryPeak: Math.round(peak), ...figures };
  },
};
