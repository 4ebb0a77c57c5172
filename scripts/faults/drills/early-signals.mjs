import { treeOf } from '../../bench/measure.mjs';
import { alive, usual } from '../stage.mjs';

/** What Node says on standard error when its debugger listens, or when another one has its port. */
const OPENED = /Debugger listening|inspector on 127\.0\.0\.1/g;

/** Rotation at the wrong moment: in Node, USR1 opens the debugger, as root in the master, until somebody listens for the signal. */
export default {
  id: 'F31',
  what: "USR1 to all processes all through a start, an upgrade and a worker's replacement: no debugger opens",
  alerts: true,
  async run(stage, expect) {
    const figures = { signals: 0, starts: 0, ended: 0, replaced: 0, upgrades: 0, failed: 0 };
    const step = stage.short ? 40 : 2;
    const moments = (last) => Array.from({ length: Math.ceil(last / step) }, (_, i) => i * step);
    /** Signals a process and all that it started, after so many milliseconds. */
    const rotate = (pid, after) => {
      for (const at = performance.now() + after; performance.now() < at; ) {}
      for (const each of treeOf(pid)) {
        try {
          process.kill(each, 'SIGUSR1');
          figures.signals++;
        } catch {
          // It has ended.
        }
      }
    };
    const check = (what, after) => {
      const opened = (stage.log() + stage.stderr()).match(OPENED)?.length ?? 0;
      expect(opened === figures.failed, `the debugger opened ${after} ms after ${what}`);
      figures.failed = opened;
    };

    await stage.prepare(usual);
    for (const daemon of ['off', 'on']) {
      for (const after of moments(200)) {
        const child = stage.launch(`daemon ${daemon};`);
        const ended = () => child.exitCode !== null || child.signalCode !== null;
        figures.starts++;
        rotate(child.pid, after);
        const pid = await stage.until(() => stage.pid ?? (ended() && -1), 'the start');
        if (pid === -1) {
          figures.ended++;
        } else {
          await stop(stage, pid);
        }
        // The process that started a daemon was hit before it could.
        await stage.until(ended, 'the end');
        check(`a start with daemon ${daemon}`, after);
      }
    }

    stage.launch('daemon on;');
    await stage.until(() => stage.workers().length === 2, 'the start');
    for (const after of moments(150)) {
      const [worker] = stage.workers();
      process.kill(worker, 'SIGKILL');
      rotate(stage.pid, after);
      figures.replaced++;
      await stage.until(() => stage.workers().length === 2 && !stage.workers().includes(worker), 'the replacement');
      check('the end of a worker', after);
    }
    const failures = () => stage.log().match(/new binary process \d+ exited/g)?.length ?? 0;
    for (const after of moments(200)) {
      const [old, before] = [stage.pid, failures()];
      process.kill(old, 'SIGUSR2');
      rotate(old, after);
      const upgraded = await stage.until(() => (stage.pid ?? old) !== old || (failures() > before && 'no'), 'the new master');
      if (upgraded === true) {
        figures.upgrades++;
        process.kill(old, 'SIGQUIT');
        // As long as it is the new one's parent, that refuses the next upgrade.
        await stage.until(() => !alive(old) && treeOf(old).length === 1, 'the end of the old master');
      } else {
        figures.ended++;
      }
      await stage.until(() => stage.workers().length === 2, 'the workers');
      check('USR2', after);
    }
    await stop(stage, stage.pid);
    return figures;
  },
};

async function stop(stage, pid) {
  process.kill(pid, 'SIGTERM');
  await stage.until(() => !alive(pid), 'the end');
}
