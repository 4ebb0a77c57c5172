import { clients, usual } from '../stage.mjs';

/** Fifty reloads under every kind of load: nothing is lost, nothing stays behind. */
export default {
  id: 'F1',
  what: 'reloads under keep-alive, closing, proxied, TLS, WebSocket, upload and download clients: nothing is lost',
  async run(stage, expect) {
    const reloads = stage.short ? 5 : 50;
    await stage.start(usual);
    const load = stage.load(
      clients.keepAlive(stage, stage.short ? 4 : 24),
      clients.close(stage, stage.short ? 2 : 8),
      clients.proxied(stage, stage.short ? 2 : 16),
      clients.tls(stage, stage.short ? 2 : 4),
      clients.upload(stage, 2, { pause: 20 }),
      clients.download(stage, stage.short ? 1 : 4, { pause: 100 }),
      clients.websocket(stage, stage.short ? 2 : 8),
    );
    // Workers that have done nothing yet are small: old and new ones are compared after as many requests.
    const warm = stage.short ? 200 : 40_000;
    await load.answered(warm);
    const memory = stage.memory();
    const before = stage.workers();
    for (let i = 0; i < reloads; i++) {
      await stage.reload();
    }
    const { answered: reloaded } = await load.report();
    await load.answered(Math.max(reloaded + warm, stage.short ? 0 : 250_000));
    const { answered, failed, why, kinds, gap } = await load.stop();
    // Old workers stay for as long as their tunnels do, which is until here.
    await stage.until(() => stage.workers().length === 2 && stage.processes().length <= 3, 'the end of the old workers');
    const after = stage.memory();
    const now = stage.workers();
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    expect(!now.some((pid) => before.includes(pid)), 'an old worker stayed');
    expect(stage.short || after <= memory * 1.1, `memory went from ${Math.round(memory)} to ${Math.round(after)} MB`);
    return {
      reloads,
      answered,
      failed,
      why,
      kinds,
      gap: Math.round(gap),
      memoryBefore: Math.round(memory),
      memoryAfter: Math.round(after),
    };
  },
};
