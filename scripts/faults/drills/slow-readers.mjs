import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { clients, usual } from '../stage.mjs';

/** A hundred readers at 1 KB/s of 20 MB answers from a backend: memory stays bounded, others are served. */
export default {
  id: 'F15',
  what: 'slow readers of large proxied answers: memory bounded, others served',
  async run(stage, expect) {
    const readers = stage.short ? 20 : 100;
    await stage.start(`${usual} server { listen 127.0.0.1:%%PORT_2%%; location / { proxy_pass http://%%ORIGIN%%; } }`);
    const load = stage.load(clients.keepAlive(stage, 2, { pause: 20 }), clients.proxied(stage, 2, { pause: 20 }));
    await load.answered(50);
    const before = stage.memory();
    const sockets = Array.from({ length: readers }, () => {
      const socket = connect(
        /** @type {import('node:net').NetConnectOpts} */ ({ port: stage.port(2), host: '127.0.0.1', highWaterMark: 1024 }),
      );
      socket.on('error', () => {});
      socket.pause();
      socket.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
      return socket;
    });
    for (const end = Date.now() + (stage.short ? 3000 : 15_000); Date.now() < end; await sleep(1000)) {
      for (const socket of sockets) {
        socket.read(1024);
      }
    }
    const memory = stage.memory();
    const { answered, failed, why, slowest } = await load.stop();
    for (const socket of sockets) {
      socket.destroy();
    }
    expect(memory - before <= 150, `memory grew by ${Math.round(memory - before)} MB`);
    expect(failed === 0, `${failed} requests failed: ${JSON.stringify(why)}`);
    return { readers, memoryBefore: Math.round(before), memoryDuring: Math.round(memory), answered, failed, slowest: Math.round(slowest) };
  },
};
