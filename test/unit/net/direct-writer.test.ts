import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { DirectWriter, JOIN_LIMIT, PENDING, REFUSED, WRITTEN } from '../../../src/shared/net/direct-writer.js';

/** Both ends of a new connection; the client does not read yet. */
async function pair(): Promise<{ client: Socket; server: Socket }> {
  const listener = createServer({ noDelay: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = connect((listener.address() as { port: number }).port, '127.0.0.1');
  client.pause();
  const [server] = (await once(listener, 'connection')) as [Socket];
  listener.close();
  t.teardown(() => {
    client.destroy();
    server.destroy();
  });
  return { client, server };
}

async function readAll(client: Socket): Promise<string> {
  let text = '';
  client.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  client.resume();
  await once(client, 'end');
  return text;
}

t.test('what the kernel takes at once arrives, in whichever form it was given', async (t) => {
  const { client, server } = await pair();
  const writer = new DirectWriter(server, () => t.fail('nothing had to wait'), false);
  t.equal(writer.write('one\xff '), WRITTEN);
  t.equal(writer.write(Buffer.from('two ')), WRITTEN);
  t.equal(writer.writeJoined('three ', Buffer.from('its four.'), 4, 8, ' five '), WRITTEN);
  t.equal(writer.writeJoined('six ', Buffer.alloc(JOIN_LIMIT, 'x'), 0, JOIN_LIMIT, ' end'), WRITTEN);
  t.ok(writer.empty);
  server.end();
  t.equal(await readAll(client), `one\xff two three four five six ${'x'.repeat(JOIN_LIMIT)} end`);
});

t.test('while the kernel is full, further writes are refused and the memory of the waiting one is left alone', async (t) => {
  const clients = await Promise.all([pair(), pair()]);
  const results = await Promise.all(
    clients.map(async ({ client, server }, i) => {
      const letter = 'ab'[i]!;
      let expected = '';
      let flushed = (): void => {};
      const done = new Promise<void>((resolve) => {
        flushed = resolve;
      });
      const writer = new DirectWriter(server, () => flushed(), false);
      const piece = Buffer.alloc(JOIN_LIMIT - 100, letter);
      for (let code = WRITTEN; code === WRITTEN; ) {
        const before = `${letter}${expected.length}:`;
        code = writer.writeJoined(before, piece, 0, piece.length, '\r\n');
        t.not(code, REFUSED);
        expected += `${before}${piece.toString('latin1')}\r\n`;
        if (code === PENDING) {
          break;
        }
      }
      t.ok(writer.pending);
      t.notOk(writer.empty);
      t.equal(writer.write('more'), REFUSED);
      t.equal(writer.writeJoined('more', piece, 0, piece.length, ''), REFUSED);
      const text = readAll(client);
      await done;
      t.ok(writer.empty);
      t.equal(writer.write('the end'), WRITTEN);
      server.end();
      return { text: await text, expected: `${expected}the end` };
    }),
  );
  for (const { text, expected } of results) {
    t.ok(text === expected, `${text.length} of ${expected.length} bytes`);
  }
});

t.test('a socket that is gone is destroyed, not written to', async (t) => {
  const { server } = await pair();
  const writer = new DirectWriter(server, () => t.fail('nothing was flushed'), false);
  server.destroy();
  await once(server, 'close');
  t.not(writer.write('late'), PENDING);
  t.ok(server.destroyed);
});

t.test('of an offer the kernel takes what it has room for, and its memory may be used again at once', async (t) => {
  const { client, server } = await pair();
  let flushed = (): void => void t.fail('nothing had to wait');
  const writer = new DirectWriter(server, () => flushed(), false);
  const piece = Buffer.alloc(256 * 1024);
  let expected = '';
  for (let taken = piece.length; taken === piece.length; ) {
    piece.fill(String.fromCharCode(97 + (expected.length % 26)));
    taken = writer.offer(piece);
    expected += piece.toString('latin1', 0, taken);
  }
  t.ok(writer.empty, 'nothing is kept');
  piece.fill('-');
  // The kernel may have found room again by now, but not for so much: its buffers do not grow so large.
  const rest = `${'r'.repeat(64 * 1024 * 1024)}the end`;
  t.equal(writer.write(rest), PENDING);
  t.equal(writer.offer(piece), 0, 'while a write waits');
  const done = new Promise<void>((resolve) => {
    flushed = resolve;
  });
  const read = readAll(client);
  await done;
  server.end();
  const text = await read;
  t.ok(text === expected + rest, `${text.length} of ${expected.length + rest.length} bytes`);
});
