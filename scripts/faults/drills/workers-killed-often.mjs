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
    let nobody = 0;
    for (let i = 0; i < kills; i++) {
      const [worker] = stage.workers();
      if (worker === undefined) nobody++;
      else process.kill(worker, 'SIGKILL');
      await sleep(700);
    }
    await load.answered((await load.report()).answered + 200);
    const { answered, failed, gap } = await load.stop();
    // With the times of a machine that may do anything else meanwhile, CI is content with the answers.
    expect(stage.short || gap <= 500, `nobody was answered for ${Math.round(gap)} ms`);
    return { kills, nobody, answered, failed, gap: Math.round(gap) };
  },
};
