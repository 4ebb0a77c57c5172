import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { clients, usual } from '../stage.mjs';

/** How the slow ones behave: what they send at first, and what every now and then. */
const kinds = {
  headers: { first: 'GET /small HTTP/1.1\r\nHost: localhost\r\n', later: 'X-A: b\r\n' },
  bodies: { first: 'POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n', later: 'x' },
  reads: { first: 'GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n', later: '', paused: true },
  ranges: {
    first: `GET /large HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-${Array.from({ length: 300 }, (_, i) => `,5-${i}`).join('')}\r\n\r\n`,
    later: '',
    paused: true,
  },
  silence: { first: '', later: '' },
};

/** A thousand connections that take their time: good clients are answered within a second throughout. */
export default {
  id: 'F17',
  what: 'slow headers, bodies, reads and ranges on many connections: good clients are answered within a second',
  async run(stage, expect) {
    const count = stage.short ? 100 : 1000;
    await stage.start(`client_header_timeout 5s; client_body_timeout 5s; send_timeout 5s; ${usual}`);
    const before = stage.memory();
    const figures = {};
    for (const [name, { first, later, paused }] of Object.entries(kinds)) {
      const load = stage.load(clients.close(stage, 1, { pause: 100 }), clients.keepAlive(stage, 1, { pause: 100 }));
      await load.answered(10);
      const sockets = [];
      for (let i = 0; i < count; i++) {
        const socket = connect(stage.port(0), '127.0.0.1');
        socket.on('error', () => {});
        if (paused) {
          socket.pause();
        } else {
          socket.resume();
        }
        socket.write(first);
        sockets.push(socket);
        if (i % 50 === 0) {
          await sleep(5);
        }
      }
      for (const end = Date.now() + (stage.short ? 2000 : 8000); Date.now() < end; ) {
        if (later !== '') {
          for (const socket of sockets) {
            socket.write(later);
          }
        }
        await sleep(500);
      }
      const { answered, failed, why, slowest } = await load.stop();
      for (const socket of sockets) {
        socket.destroy();
      }
      expect(failed === 0 && answered > 0, `${name}: ${failed} of ${answered} good requests failed: ${JSON.stringify(why)}`);
      expect(stage.short || slowest < 1000, `${name}: a good request took ${Math.round(slowest)} ms`);
      figures[name] = { answered, failed, slowest: Math.round(slowest) };
    }
    const memory = stage.memory();
    expect(memory < before + 300, `memory grew from ${before} to ${memory} MB`);
    return { connections: count, ...figures, memoryBefore: Math.round(before), memoryAfter: Math.round(memory) };
  },
};
