import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { clients, usual } from '../stage.mjs';

/** The disk under the logs is full for a while: requests are answered, and lines come again once there is room. */
export default {
  id: 'F6',
  what: 'the disk under the logs is full: requests go on, lines return with the room',
  alerts: true,
  needs(stage) {
    mkdirSync(`${stage.dir}/logs-disk`, { recursive: true });
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=777', 'tmpfs', `${stage.dir}/logs-disk`]).status === 0;
    return mounted ? undefined : 'no right to mount a small tmpfs';
  },
  cleanUp(stage) {
    spawnSync('umount', [`${stage.dir}/logs-disk`]);
  },
  async run(stage, expect) {
    const http = `access_log %%DIR%%/logs-disk/access.log; ${usual}`;
    const ballast = `${stage.dir}/logs-disk/ballast`;
    await stage.start(http);
    const load = stage.load(clients.keepAlive(stage, 6), clients.close(stage, 2));
    await load.answered(50);
    try {
      writeFileSync(ballast, Buffer.alloc(1 << 20));
    } catch {
      // That is the point: there is no room left.
    }
    const full = (await load.report()).answered;
    await load.answered(full + (stage.short ? 500 : 20_000));
    rmSync(ballast);
    const log = () => readFileSync(`${stage.dir}/logs-disk/access.log`, 'latin1');
    const before = log().length;
    await load.answered((await load.report()).answered + 200);
    await stage.until(() => log().length > before, 'new lines');
    const { answered, failed, why } = await load.stop();
    const torn = log()
      .split('\n')
      .slice(0, -1)
      .filter((line) => !/^127\.0\.0\.1 - - \[.*\] "GET \/small HTTP\/1\.1" 200 12 "-" "-"$/.test(line)).length;
    const complaints = stage.log().match(/failed \(28|is full/g)?.length ?? 0;
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    // The line that met the end of the disk is cut off in nginx's log as well.
    expect(torn <= 2, `${torn} lines are torn`);
    return { answered, failed, torn, complaints };
  },
};
