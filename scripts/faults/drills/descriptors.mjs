import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOf } from '../../bench/measure.mjs';
import { recovered, usual } from '../stage.mjs';

/** More idle connections than there are descriptors: no spinning, no exit, and all is well again after. */
export default {
  id: 'F12',
  what: 'descriptors run out: no spin, no exit, full recovery',
  alerts: true,
  async run(stage, expect) {
    await stage.start(usual, 'worker_rlimit_nofile 256; worker_shutdown_timeout 5s;');
    const workers = stage.workers();
    const idle = [];
    for (let i = 0; i < 900; i++) {
      const socket = connect(stage.port(0), '127.0.0.1');
      socket.on('error', () => {});
      idle.push(socket);
      if (i % 50 === 0) {
        await sleep(10);
      }
    }
    await sleep(500);
    const used = cpuOf(stage.pid);
    await sleep(2000);
    const cpu = (cpuOf(stage.pid) - used) / 2_000_000;
    const during = (await stage.get('/small', { patience: 1000 })) !== undefined;
    for (const socket of idle) {
      socket.destroy();
    }
    const { answered, failed } = await recovered(stage, expect);
    expect(cpu < 0.5, `it spins: ${Math.round(cpu * 100)} % of a core`);
    expect(stage.serve(workers), 'a worker died');
    return { idle: idle.length, cpu: Math.round(cpu * 100) / 100, answeredMeanwhile: during, answered, failed };
  },
};
