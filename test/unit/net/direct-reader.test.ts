import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import t from 'tap';
import { readDirectly } from '../../../src/shared/net/direct-reader.js';

t.test('bytes go to the taker until it refuses, and again once the socket is resumed', async (t) => {
  const server = createServer((peer) => peer.write('one', () => peer.once('data', () => peer.end('two'))));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const buffer = Buffer.alloc(16);
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback: () => true } } as never);
  const taken: string[] = [];
  const first = new Promise<void>((done) => {
    readDirectly(socket, (length) => {
      taken.push(buffer.toString('latin1', 0, length));
      done();
      return taken.length > 1;
    });
  });
  await first;
  socket.write('more');
  await new Promise(setImmediate);
  t.same(taken, ['one'], 'nothing is read after a refusal');
  socket.resume();
  await once(socket, 'end');
  t.same(taken, ['one', 'two'], 'the end comes as the socket tells it');
});
