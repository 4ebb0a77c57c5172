import { setTimeout as sleep } from 'node:timers/promises';
import { echo, pingPong } from '../datagrams.mjs';
import { alive, clients, usual } from '../stage.mjs';

/** Reloads, killed workers and a killed backend under sessions of TCP and of UDP. */
export default {
  id: 'F40',
  what: 'reloads and killed workers under stream sessions of TCP and UDP: a reload loses none, a worker only its own',
  alerts: true,
  async run(stage, expect) {
    const backend = await echo();
    const spare = await echo();
    // The first of them is where nobody listens, as a backend that was killed.
    const stream = `stream {
      upstream tcp { server 127.0.0.1:1; server %%ORIGIN%%; }
      upstream udp { server ${backend.address}; server ${spare.address}; }
      server { listen 127.0.0.1:%%PORT_2%%; proxy_pass tcp; }
      server { listen 127.0.0.1:%%PORT_2%% udp; proxy_pass udp; proxy_responses 1; proxy_timeout 10s; }
    }`;
    await stage.start(usual, stream);
    const reloads = stage.short ? 3 : 20;
    const over = { port: stage.port(2) };
    const tcp = () =>
      stage.load(
        clients.proxied(stage, 4, over),
        clients.websocket(stage, 4, { ...over, pause: 50 }),
        clients.close(stage, 1, { pause: 50 }),
      );
    const load = tcp();
    const udp = await pingPong(stage.port(2), 8);
    await load.answered(100);
    for (let i = 0; i < reloads; i++) {
      await stage.reload();
      await sleep(100);
    }
    const { answered, failed, why } = await load.stop();
    const datagrams = await udp.stop();
    expect(failed === 0, `reloads: ${failed} of ${answered} failed: ${JSON.stringify(why)}`);
    expect(datagrams.lost === 0 && datagrams.answered > 0, `reloads: ${datagrams.lost} of ${datagrams.answered} datagrams lost`);

    const kills = stage.short ? 2 : 10;
    const among = await pingPong(stage.port(2), 8);
    for (let i = 0; i < kills; i++) {
      const [worker] = stage.workers();
      process.kill(worker, 'SIGKILL');
      await stage.until(() => !alive(worker) && stage.workers().length === 2, 'a new worker');
      await sleep(200);
    }
    const killed = await among.stop();
    expect(killed.lost <= kills * 8, `kills: ${killed.lost} of ${killed.answered} datagrams lost`);
    backend.end();
    const left = await pingPong(stage.port(2), 4);
    await stage.until(() => left.totals.answered > 50, 'answers of the backend that is left');
    const { lost } = await left.stop();
    spare.end();
    return { reloads, answered, failed, datagrams, kills, killed, lostToADeadBackend: lost };
  },
};
