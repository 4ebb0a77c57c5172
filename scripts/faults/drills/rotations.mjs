import { existsSync, readFileSync, renameSync } from 'node:fs';
import { clients, usual } from '../stage.mjs';

/** Logs moved away and reopened under load: each request is logged once, in one piece. */
export default {
  id: 'F5',
  what: 'log rotation (mv and USR1) under load: each request logged once, no line torn',
  async run(stage, expect) {
    const rotations = stage.short ? 5 : 30;
    const http = `log_format whole '<$request_id $request>'; access_log %%DIR%%/access.log whole; ${usual}`;
    await stage.start(http);
    const load = stage.load(clients.keepAlive(stage, 12), clients.close(stage, 4));
    await load.answered(100);
    for (let i = 0; i < rotations; i++) {
      renameSync(`${stage.dir}/access.log`, `${stage.dir}/access.log.${i}`);
      stage.signal('USR1');
      await stage.until(() => existsSync(`${stage.dir}/access.log`), 'the new log');
      await load.answered((await load.report()).answered + (stage.short ? 100 : 5000));
    }
    const { answered, failed, why } = await load.stop();
    stage.signal('QUIT');
    await stage.until(() => stage.pid === undefined, 'the end');
    const ids = new Set();
    let lines = 0;
    let torn = 0;
    for (const name of ['access.log', ...Array.from({ length: rotations }, (_, i) => `access.log.${i}`)]) {
      for (const line of readFileSync(`${stage.dir}/${name}`, 'latin1').split('\n').slice(0, -1)) {
        const whole = /^<([0-9a-f]+) GET \/small HTTP\/1\.1>$/.exec(line);
        if (whole) {
          ids.add(whole[1]);
        } else {
          torn++;
        }
        lines++;
      }
    }
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    // Clients may leave between an answer and the count of it, hence "at least".
    expect(lines >= answered, `${answered - lines} answers were not logged`);
    expect(lines === ids.size, `${lines - ids.size} lines are there twice`);
    expect(torn === 0, `${torn} lines are torn`);
    return { rotations, answered, failed, lines, twice: lines - ids.size, torn };
  },
};
