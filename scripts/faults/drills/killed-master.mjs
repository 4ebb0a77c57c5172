import { alive, clients, usual } from '../stage.mjs';

/** kill -9 of the master: its workers serve on, and a new master takes over without a lost request. */
export default {
  id: 'F4',
  what: 'kill -9 of the master: its workers serve on, a new master takes over',
  alerts: true,
  async run(stage, expect) {
    await stage.start(usual);
    const load = stage.load(clients.keepAlive(stage, 8), clients.close(stage, 4), clients.proxied(stage, 4));
    await load.answered(200);
    const orphans = stage.workers();
    process.kill(stage.pid, 'SIGKILL');
    await load.answered((await load.report()).answered + (stage.short ? 500 : 20_000));
    if (stage.sluice) {
      await stage.run();
      await stage.until(() => !orphans.some(alive), 'the end of the orphans');
      await load.answered((await load.report()).answered + 500);
    }
    const { answered, failed, why, gap } = await load.stop();
    if (!stage.sluice) {
      for (const pid of orphans) {
        process.kill(pid, 'SIGTERM');
      }
    }
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    return { answered, failed, gap: Math.round(gap), ...(stage.sluice ? { takeover: 'done' } : { takeover: 'nginx has none' }) };
  },
};
