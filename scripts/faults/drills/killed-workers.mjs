import { clients, usual } from '../stage.mjs';

/** kill -9 of workers under load: only what was in flight there is lost, and it is replaced at once. */
export default {
  id: 'F3',
  what: 'kill -9 of a worker, again and again: only what was in flight in it is lost',
  alerts: true,
  async run(stage, expect) {
    const kills = stage.short ? 3 : 20;
    await stage.start(usual);
    const at = [clients.keepAlive(stage, 12), clients.close(stage, 4), clients.proxied(stage, 8)];
    const load = stage.load(...at);
    await load.answered(100);
    for (let i = 0; i < kills; i++) {
      const [worker] = stage.workers();
      process.kill(worker, 'SIGKILL');
      await stage.until(() => stage.workers().length === 2 && !stage.workers().includes(worker), 'the replacement');
      await load.answered((await load.report()).answered + 200);
    }
    const { answered, failed, why, gap } = await load.stop();
    // No more can be in flight in one worker than there are clients.
    const most = kills * at.reduce((sum, { count }) => sum + count, 0);
    expect(failed <= most, `${failed} requests failed: ${JSON.stringify(why)}`);
    return { kills, answered, failed, most, gap: Math.round(gap) };
  },
};
