import { clients, recovered, usual } from '../stage.mjs';

/** More connections than `worker_connections`: idle ones make room for new ones, as in nginx. */
export default {
  id: 'F28',
  what: 'worker_connections run out through idle connections: good clients are answered, and all is well again after',
  alerts: true,
  async run(stage, expect) {
    await stage.start(usual, 'events { worker_connections 256; }');
    const workers = stage.workers();
    const crowd = stage.crowd({ count: 900, request: 'GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n' });
    const { open, refused } = await crowd.done;
    const during = stage.load(clients.close(stage, 2, { pause: 20 }), clients.keepAlive(stage, 2, { pause: 20 }));
    await during.answered(stage.short ? 50 : 500);
    const among = await during.stop();
    crowd.end();
    const { answered, failed } = await recovered(stage, expect);
    expect(among.failed === 0, `${among.failed} requests failed meanwhile: ${JSON.stringify(among.why)}`);
    expect(stage.short || among.slowest < 1000, `a good request took ${Math.round(among.slowest)} ms`);
    expect(stage.serve(workers), 'a worker died');
    return { answeredOnce: open, refused, meanwhile: among.answered, slowest: Math.round(among.slowest), answered, failed };
  },
};
