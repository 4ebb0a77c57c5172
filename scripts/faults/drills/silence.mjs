import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { clients, recovered, usual } from '../stage.mjs';

/** How connections say nothing: at all, after the handshake, after the answer behind which they stay. */
const silences = {
  plain: { port: 0 },
  tls: { port: 1, tls: true },
  lingering: {
    port: 0,
    first: 'POST /small HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 10\r\n\r\n',
    answered: true,
  },
};

/** More silent connections than `worker_connections`: they make room, and good clients are answered throughout. */
export default {
  id: 'F37',
  what: 'silent connections beyond worker_connections, plain, after a TLS handshake and lingering: good clients are answered',
  alerts: true,
  async run(stage, expect) {
    await stage.start(`lingering_close always; lingering_timeout 60s; ${usual}`, 'events { worker_connections 256; }');
    const workers = stage.workers();
    const figures = {};
    for (const [name, { port, tls, first, answered }] of Object.entries(silences)) {
      const sockets = [];
      for (let i = 0; i < 900; i++) {
        sockets.push(await open(stage.port(port), tls, first, answered));
      }
      const load = stage.load(clients.close(stage, 2, { pause: 20 }), clients.tls(stage, 2, { pause: 20 }));
      await load.answered(stage.short ? 50 : 500);
      const among = await load.stop();
      for (const socket of sockets) {
        socket?.destroy();
      }
      expect(among.failed === 0, `${name}: ${among.failed} requests failed: ${JSON.stringify(among.why)}`);
      expect(stage.short || among.slowest < 1000, `${name}: a good request took ${Math.round(among.slowest)} ms`);
      figures[name] = { answered: among.answered, failed: among.failed, slowest: Math.round(among.slowest) };
    }
    const { answered, failed } = await recovered(stage, expect);
    expect(stage.serve(workers), 'a worker died');
    return { silent: 900, ...figures, answered, failed };
  },
};

/** Opens a connection, and resolves once it stands, has been `answered`, or is gone. */
function open(port, tls, first, answered) {
  return new Promise((done) => {
    const socket = tls ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }) : connect(port, '127.0.0.1');
    socket.on('error', () => done(undefined));
    socket.on('close', () => done(undefined));
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      if (first) {
        socket.write(first);
      }
      if (!answered) {
        done(socket);
      }
    });
    socket.on('data', () => done(socket));
  });
}
