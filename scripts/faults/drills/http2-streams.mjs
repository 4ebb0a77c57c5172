import { connect } from 'node:http2';
import { clients, usual } from '../stage.mjs';

const LARGE = 5_000_000;

/** Begins so many downloads on one connection, of which none can end before `finish`. That resolves with how many were whole. */
async function beginDownloads(stage, count) {
  const session = connect(`http://127.0.0.1:${stage.port(0)}`);
  const found = { goaway: false };
  session.on('error', () => {});
  session.on('goaway', () => (found.goaway = true));
  let begun = 0;
  const streams = Array.from({ length: count }, () => {
    const stream = session.request({ ':path': '/large' });
    stream.on('error', () => {});
    stream.once('response', () => begun++);
    return stream.pause();
  });
  await stage.until(() => begun === count, 'the responses to begin');
  const whole = (stream) =>
    new Promise((done) => {
      let length = 0;
      stream.on('data', (piece) => (length += piece.length));
      stream.on('close', () => done(length === LARGE));
      if (stream.destroyed) {
        done(false);
      }
      stream.resume();
    });
  return {
    found,
    async finish() {
      const all = await Promise.all(streams.map(whole));
      session.destroy();
      return all.filter(Boolean).length;
    },
  };
}

/** What becomes of a connection's many streams when its worker leaves, and when it dies. */
export default {
  id: 'F39',
  alerts: true,
  what: 'a reload and a killed worker with 100 streams open on each of two connections',
  async run(stage, expect) {
    const count = stage.short ? 20 : 100;
    await stage.start(`http2 on; ${usual}`);
    const load = stage.load(clients.close(stage, 2, { pause: 10 }));
    const first = await Promise.all([beginDownloads(stage, count), beginDownloads(stage, count)]);
    await stage.reload();
    await stage.until(() => first.every(({ found }) => found.goaway), 'GOAWAY');
    const reloaded = await Promise.all(first.map(({ finish }) => finish()));
    expect(
      reloaded.every((whole) => whole === count),
      `a reload left ${reloaded.join(' and ')} of ${count} streams whole`,
    );

    const second = await Promise.all([beginDownloads(stage, count), beginDownloads(stage, count)]);
    const { answered, failed, why } = await load.stop();
    expect(failed === 0, `${failed} of ${answered} other requests failed: ${JSON.stringify(why)}`);
    const [victim] = stage.workers();
    process.kill(victim, 'SIGKILL');
    const killed = await Promise.all(second.map(({ finish }) => finish()));
    expect(
      killed.every((whole) => whole === 0 || whole === count),
      `a killed worker left ${killed.join(' and ')} of ${count} streams whole: another's were lost`,
    );
    await stage.until(() => stage.workers().length > 1 && !stage.workers().includes(victim), 'a new worker');
    const third = await beginDownloads(stage, count);
    const after = await third.finish();
    expect(after === count, `afterwards ${after} of ${count} streams were whole`);
    return { failed, answered, reloaded, killed, after };
  },
};
