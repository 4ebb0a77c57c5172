import { once } from 'node:events';
import t from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { httpGet } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** So many tunnels stay open over a reload. */
const MANY = 1000;

const TUNNEL = `
  proxy_http_version 1.1;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection upgrade;
  proxy_read_timeout 1h;`;

/** A server of the `ws` package that sends back what it gets; returns its port. */
async function startEcho(t: { teardown(end: () => void): void }): Promise<{ readonly port: number; readonly server: WebSocketServer }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket) => socket.on('message', (data: Buffer, binary: boolean) => socket.send(data, { binary })));
  t.teardown(() => {
    for (const socket of server.clients) {
      socket.terminate();
    }
    server.close();
  });
  return { port: (server.address() as { port: number }).port, server };
}

/** One worker with room for {@link MANY} tunnels. */
const roomyConf = (shutdownTimeout: string, locations: string): string =>
  `worker_processes 1; worker_rlimit_nofile 8192; worker_shutdown_timeout ${shutdownTimeout};\n${serverConf(locations).replace(
    'events {}',
    'events { worker_connections 4096; }',
  )}`;

async function openMany(s: Server): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < MANY) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => open(s)))));
  }
  return sockets;
}

async function open(s: Server): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${s.port(0)}/`);
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
}

async function echoed(socket: WebSocket, data: string | Buffer): Promise<Buffer> {
  socket.send(data);
  const [answer] = await once(socket, 'message');
  return answer as Buffer;
}

t.test('a WebSocket of the ws package through a tunnel', async (t) => {
  const { port } = await startEcho(t);
  const s = await startServer(t, { conf: serverConf(`location / { proxy_pass http://127.0.0.1:${port}; ${TUNNEL} }`) });
  const socket = await open(s);
  t.equal((await echoed(socket, 'hello')).toString(), 'hello');
  const large = Buffer.alloc(3_000_000, 'abc');
  t.ok(large.equals(await echoed(socket, large)));
  socket.ping('still there');
  t.equal(String((await once(socket, 'pong'))[0]), 'still there');
  socket.close(4000, 'enough');
  const [code, reason] = await once(socket, 'close');
  t.strictSame([code, String(reason)], [4000, 'enough']);
});

t.test('a thousand idle WebSockets survive a reload', async (t) => {
  const { port, server } = await startEcho(t);
  const conf = (timeout: string, text: string): string =>
    roomyConf(timeout, `location / { proxy_pass http://127.0.0.1:${port}; ${TUNNEL} } location /text { return 200 ${text}; }`);
  const s = await startServer(t, { conf: conf('1h', 'old') });
  const sockets = await openMany(s);
  let closed = 0;
  for (const socket of sockets) {
    socket.on('close', () => closed++);
  }
  await s.reload(conf('1h', 'new'));
  t.equal((await httpGet(s, '/text')).text, 'new');
  t.strictSame([closed, server.clients.size], [0, MANY]);
  const answers = await Promise.all(sockets.map(async (socket, i) => (await echoed(socket, `n${i}`)).toString()));
  t.ok(answers.every((answer, i) => answer === `n${i}`));
  t.equal(s.workers().length, 2, 'the old worker serves on');
  for (const socket of sockets) {
    socket.terminate();
  }
  await waitFor(() => s.workers().length === 1, { what: 'the end of the old worker' });
});

t.test('worker_shutdown_timeout closes a thousand WebSockets of a worker that leaves', async (t) => {
  const { port } = await startEcho(t);
  const s = await startServer(t, { conf: roomyConf('1s', `location / { proxy_pass http://127.0.0.1:${port}; ${TUNNEL} }`) });
  const sockets = await openMany(s);
  const ends = sockets.map((socket) => once(socket, 'close'));
  await s.reload();
  await Promise.all(ends);
  await waitFor(() => s.workers().length === 1, { what: 'the end of the old worker' });
  t.equal((await echoed(await open(s), 'again')).toString(), 'again');
});
