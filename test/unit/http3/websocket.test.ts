import { createHash } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { FRAME, H3_ERROR } from '../../../src/worker/http/http3-frames/protocol.js';
import { frame, Http3Scene, headers, responseOf, until } from '../../support/http3-scene.js';
import type { MemoryStream } from '../../support/memory-quic.js';

/** A backend that opens every WebSocket and echoes what comes. */
async function backend(t: Test): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let head = '';
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('data', (piece: Buffer) => {
      if (head.includes('\r\n\r\n')) {
        socket.write(piece);
        return;
      }
      head += piece.toString('latin1');
      const key = /sec-websocket-key: (.*)\r\n/i.exec(head)?.[1];
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });
  return { port: (server.address() as { port: number }).port, sockets };
}

t.test('WebSockets over HTTP/3 (RFC 9220)', async (t) => {
  const { port, sockets } = await backend(t);
  const scene = await Http3Scene.of(
    t,
    `map $http_upgrade $connection_upgrade { default upgrade; '' close; }
    server {
      listen 127.0.0.1:8443;
      location / {
        proxy_pass http://127.0.0.1:${port}; proxy_http_version 1.1;
        proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
      }
    }`,
  );
  const client = scene.client();
  const open = async (id: number): Promise<MemoryStream> => {
    const stream = client.open(id);
    stream.send(
      headers(
        ':method: CONNECT',
        ':protocol: websocket',
        ':scheme: https',
        ':path: /',
        ':authority: localhost',
        'sec-websocket-version: 13',
      ),
    );
    await until(() => stream.bytes.length > 0);
    t.equal(responseOf(stream).status, '200');
    return stream;
  };
  const stream = await open(0);
  stream.send(frame(FRAME.DATA, 'ping'));
  await until(() => responseOf(stream).body === 'ping');
  stream.send(frame(FRAME.DATA, 'x'.repeat(200_000)), false, 10_000);
  await until(() => responseOf(stream).body.length === 200_004);
  t.equal(stream.used, stream.sent, 'all of it was taken');
  stream.send(Buffer.alloc(0), true);
  await until(() => stream.ended);
  t.equal(stream.resetCode, undefined, 'it closes well');

  const broken = await open(4);
  sockets.at(-1)!.resetAndDestroy();
  await until(() => broken.resetCode !== undefined);
  t.equal(broken.resetCode, H3_ERROR.CONNECT_ERROR);

  const left = await open(8);
  const backendLeft = new Promise((resolve) => sockets.at(-1)!.on('close', resolve));
  left.giveUp(H3_ERROR.REQUEST_CANCELLED);
  await backendLeft;
  await until(() => scene.counters.writing === 0);
  t.equal(client.end, undefined);
});
