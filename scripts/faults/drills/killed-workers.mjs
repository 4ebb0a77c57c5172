import { clients, usual } from '../stage.mjs';

/** kill -9 of workers under load: only what was in flight there is lost, and it is replaced at once. */
export default {
  id: 'F3',
  what: 'kill -9 of a worker, again and again: only what was in flight in it is lost',
  alerts: true,
  async run(stage, expect) {
    const kills = stage.short ? 3 : 20;
    await stage.start(usual.replace('location /upload', 'location /pid { return 200 $pid; } location /upload'));
    const at = [clients.keepAlive(stage, 12), clients.close(stage, 4), clients.proxied(stage, 8)];
    const load = stage.load(...at);
    await load.answered(100);
    for (let i = 0; i < kills; i++) {
      const [worker] = stage.workers();
      process.kill(worker, 'SIGKILL');
      await stage.until(() => {
        const now = stage.workers();
        return now.length === 2 && !now.includes(worker);
      }, 'the replacement');
      await load.answered((await load.report()).answered + 200);
      // It has its title before it serves, and with both workers gone there is nobody to answer.
      await stage.until(async () => (await stage.get('/pid'))?.endsWith(`\n${stage.workers().at(-1)}`), 'an answer of the replacement');
    }
    const { answered, failed, why, gap } = await load.stop();
    // No more can be in flight in one worker than there are clients.
    const most = kills * at.reduce((sum, { count }) => sum + count, 0);
    expect(failed <= most, `${failed} requests failed: ${JSON.stringify(why)}`);
    return { kills, answered, failed, most, gap: Math.round(gap) };
  },
};
