import { existsSync, readFileSync } from 'node:fs';
import { alive, clients, usual } from '../stage.mjs';

/** A new executable takes over, as nginx's manual has it: USR2, then WINCH and QUIT to the old master. */
export default {
  id: 'F20',
  what: 'upgrades of the executable (USR2 and QUIT) under load: nothing is lost',
  // nginx takes USR2 as a daemon only, and drills keep the master in the foreground.
  nginx: false,
  async run(stage, expect) {
    const upgrades = stage.short ? 1 : 10;
    await stage.start(usual);
    const load = stage.load(clients.keepAlive(stage, 8), clients.close(stage, 4), clients.proxied(stage, 4), clients.tls(stage, 2));
    await load.answered(100);
    for (let i = 0; i < upgrades; i++) {
      const old = stage.pid;
      process.kill(old, 'SIGUSR2');
      await stage.until(
        () => existsSync(`${stage.dir}/server.pid.oldbin`) && stage.pid !== undefined && stage.pid !== old && stage.workers().length > 0,
        'the new master',
      );
      expect(Number(readFileSync(`${stage.dir}/server.pid.oldbin`, 'latin1')) === old, 'the old pid file names another');
      await load.answered((await load.report()).answered + 100);
      process.kill(old, 'SIGQUIT');
      await stage.until(() => !alive(old), 'the end of the old master');
    }
    const { answered, failed, why, gap } = await load.stop();
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    return { upgrades, answered, failed, gap: Math.round(gap) };
  },
};
