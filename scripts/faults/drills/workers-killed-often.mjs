import { setTimeout as sleep } from 'node:timers/promises';
import { clients, usual } from '../stage.mjs';

/** A worker killed every 0.7 seconds, its replacement served or not: nobody waits for a server longer than a start takes. */
export default {
  id: 'F33',
  what: 'kill -9 of a worker every 0.7 s, whether or not the last one is replaced: the longest time without an answer',
  alerts: true,
  async run(stage, expect) {
    const kills = stage.short ? 8 : 40;
    await stage.start(usual);
    const load = stage.load(clients.keepAlive(stage, 8), clients.close(stage, 4));
    await load.answered(100);
    // How long a start takes here and now, which nobody can be spared.
    const since = performance.now();
    for (const worker of stage.workers()) {
      process.kill(worker, 'SIGKILL');
    }
    await stage.until(() => stage.get('/small'), 'an answer');
    const start = Math.round(performance.now() - since);
    let nobody = 0;
    for (let i = 0; i < kills; i++) {
      const [worker] = stage.workers();
      if (worker === undefined) {
        nobody++;
      } else {
        process.kill(worker, 'SIGKILL');
      }
      await sleep(700);
    }
    await load.answered((await load.report()).answered + 200);
    const { answered, failed, gap } = await load.stop();
    const most = Math.max(500, 4 * start);
    expect(stage.short || gap <= most, `nobody was answered for ${Math.round(gap)} ms, and a start takes ${start} ms`);
    return { kills, start, nobody, answered, failed, gap: Math.round(gap) };
  },
};
