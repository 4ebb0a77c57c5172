import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { echo, manyPeers, pingPong } from '../datagrams.mjs';
import { clients, recovered, usual } from '../stage.mjs';

const GOOD = 4;

/** Datagrams from ever new clients, connections that say nothing, and clients that do not read. */
export default {
  id: 'F41',
  what: 'UDP from thousands of new clients, silent connections, and slow readers through stream: memory is bounded, others are served',
  alerts: true,
  async run(stage, expect) {
    const backend = await echo();
    const stream = `stream {
      proxy_timeout 2s;
      server { listen 127.0.0.1:%%PORT_2%% udp; proxy_pass ${backend.address}; }
      server { listen 127.0.0.1:%%PORT_2%%; proxy_pass 127.0.0.1:%%PORT_0%%; }
    } events { worker_connections 1024; }`;
    await stage.start(usual, stream);
    const workers = stage.workers();
    const before = stage.memory();
    const good = await pingPong(stage.port(2), GOOD, { pause: 20 });
    await stage.until(() => good.totals.answered > 20, 'the good clients');
    const peers = stage.short ? 2000 : 30_000;
    await manyPeers(stage.port(2), peers);
    await sleep(stage.short ? 200 : 1000);
    const { answered: datagrams, lost, slowest } = await good.stop();
    // What the kernel has no room for while sessions are begun, it drops, whoever sent it.
    expect(lost <= 2 * GOOD, `flood: ${lost} of ${datagrams} datagrams of sessions that were there are lost`);
    const flooded = Math.round(stage.memory());
    const later = await pingPong(stage.port(2), 4);
    await stage.until(() => later.totals.answered > 50, 'room for new clients');
    await later.stop();

    const sockets = Array.from({ length: stage.short ? 200 : 900 }, (_, i) => {
      const socket = connect(stage.port(2), '127.0.0.1');
      socket.on('error', () => {});
      if (i % 2 === 0) {
        socket.pause();
        socket.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
      }
      return socket;
    });
    const load = stage.load(clients.close(stage, 1, { pause: 50 }));
    await load.answered(20);
    await sleep(stage.short ? 200 : 1500);
    const slow = Math.round(stage.memory());
    const among = await load.stop();
    for (const socket of sockets) {
      socket.destroy();
    }
    backend.end();
    expect(stage.short || slow < before + 300, `memory grew from ${before} to ${slow} MB`);
    expect(flooded < before + 150, `the flood made memory grow from ${before} to ${flooded} MB`);
    const { answered, failed } = await recovered(stage, expect);
    expect(stage.serve(workers), 'a worker died');
    const silent = { connections: sockets.length, others: among.answered, othersFailed: among.failed };
    return { peers, datagrams, lost, slowest, silent, memoryBefore: Math.round(before), flooded, slow, answered, failed };
  },
};
