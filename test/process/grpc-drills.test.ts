// gRPC when things go wrong: servers that die, reloads with streams open, readers that do not read.
import { readFileSync } from 'node:fs';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { as, nothing, path, startGrpcServer } from '../support/grpc-echo.js';
import { block, END_HEADERS, END_STREAM, frame, Http2Client, request, T } from '../support/http2-client.js';
import { answer, type Http2Request, startHttp2Origin } from '../support/http2-origin.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const conf = (ports: readonly number[]): string =>
  serverConf(
    'http2 on; http2_max_concurrent_streams 1000; location / { grpc_pass u; }',
    `upstream u { ${ports.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join(' ')} keepalive 8; }`,
  );

function connect(t: Test, s: Server): Client {
  const client = new Client(`127.0.0.1:${s.port(0)}`, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  t.teardown(() => client.close());
  return client;
}

/** The code of a unary call's end. */
const unary = (client: Client, message: string): Promise<number> =>
  new Promise((done) => {
    client.makeUnaryRequest(path('unary'), as, as, Buffer.from(message), (error: ServiceError | null) =>
      done(error === null ? 0 : error.code),
    );
  });

t.test('a server dies under load', async (t) => {
  const reply = (got: Http2Request): void =>
    answer(got, {
      headers: [['content-type', 'application/grpc']],
      body: Buffer.from('\0\0\0\0\x04well', 'latin1'),
      trailers: [['grpc-status', '0']],
    });
  // The first holds its calls until it dies.
  const dying = await startHttp2Origin(t);
  const living = await startHttp2Origin(t, reply);
  const s = await startServer(t, { conf: conf([dying.port, living.port]) });
  const client = connect(t, s);
  const calls = Array.from({ length: 200 }, (_, i) => unary(client, `call ${i}`));
  await dying.received(100);
  await dying.stop();
  const codes = await Promise.all(calls);
  t.equal(codes.filter((code) => code === 0).length, 100, 'what the other server had is well');
  t.equal(codes.filter((code) => code === status.UNAVAILABLE).length, 100, 'the others hear that they may try again');
  const later = await Promise.all(Array.from({ length: 50 }, (_, i) => unary(client, `later ${i}`)));
  t.strictSame(new Set(later), new Set([0]), 'a server that cannot be reached loses no call');
});

t.test('a reload with streams open', async (t) => {
  const { port } = await startGrpcServer(t, nothing());
  const s = await startServer(t, { conf: conf([port]) });
  const client = connect(t, s);
  const chat = client.makeBidiStreamRequest(path('chat'), as, as);
  const got: string[] = [];
  let failure: Error | undefined;
  let over = false;
  chat.on('data', (message: Buffer) => void got.push(message.toString()));
  chat.on('error', (error) => (failure = error));
  chat.on('end', () => (over = true));
  chat.write(Buffer.from('before'));
  await waitFor(() => got.length === 1);
  const [old] = s.workers();
  await s.reload();
  t.ok(s.workers().some((pid) => pid !== old));
  for (let i = 0; i < 10; i++) {
    chat.write(Buffer.from(`after ${i}`));
    await waitFor(() => got.length === i + 2, { what: () => `an answer; ${failure}` });
  }
  const other = connect(t, s);
  t.equal(await unary(other, 'new'), 0, 'new calls go to the new worker');
  chat.end();
  await waitFor(() => over);
  t.equal(failure, undefined);
  await waitFor(() => !s.workers().includes(old!), { what: 'the old worker to leave with its last stream' });
});

t.test('readers of endless streams that do not read', async (t) => {
  const size = 16 * 1024;
  const piece = Buffer.alloc(size, 'p');
  let sent = 0;
  const origin = await startHttp2Origin(t, (got) => {
    got.connection.send(
      frame(
        T.HEADERS,
        END_HEADERS,
        got.id,
        block([
          [':status', '200'],
          ['content-type', 'application/grpc'],
        ]),
      ),
    );
    let used = 0;
    const first = got.connection.frames.find((f) => f.type === T.SETTINGS && f.payload.length > 0)!.payload;
    let room = 65535;
    for (let at = 0; at < first.length; at += 6) {
      room = first.readUInt16BE(at) === 4 ? first.readUInt32BE(at + 2) : room;
    }
    let seen = 0;
    const go = (): void => {
      const { frames } = got.connection;
      for (; seen < frames.length; seen++) {
        const f = frames[seen]!;
        room += f.type === T.WINDOW && f.id === got.id ? f.payload.readUInt32BE(0) : 0;
      }
      while (used + size <= room) {
        used += size;
        sent += size;
        got.connection.send(frame(T.DATA, 0, got.id, piece));
      }
      if (!got.connection.ended) {
        setTimeout(go, 20).unref();
      }
    };
    go();
  });
  const s = await startServer(t, { conf: conf([origin.port]) });
  const [worker] = s.workers();
  const resident = (): number => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${worker}/status`, 'latin1'))![1]) * 1024;
  const before = resident();
  const readers = 100;
  const c = await Http2Client.connect(t, s.port(0));
  for (let i = 0; i < readers; i++) {
    c.request(1 + 2 * i, request('POST', '/test.Echo/Endless', ['content-type', 'application/grpc'], ['te', 'trailers']), 'x');
  }
  await origin.received(readers);
  let last = -1;
  await waitFor(async () => {
    await new Promise((done) => setTimeout(done, 500));
    const rests = sent === last;
    last = sent;
    return rests;
  });
  t.ok(sent < readers * 1024 * 1024, `${sent} bytes were sent to ${readers} readers`);
  t.ok(resident() - before < 200 * 1024 * 1024, `the worker has grown by ${resident() - before} bytes`);
  c.request(1 + 2 * readers, request('POST', '/test.Echo/More', ['content-type', 'application/grpc']), 'x');
  await origin.received(readers + 1);
  t.equal(origin.connections.length, 1);
  c.socket.destroy();
  await waitFor(() => origin.connections[0]!.frames.filter(({ type }) => type === T.RST).length >= readers, { what: 'their ends' });
  const ended = origin.connections[0]!.frames.filter(({ flags, type }) => type === T.DATA && (flags & END_STREAM) !== 0);
  t.ok(ended.length >= readers, 'and no request was left half sent');
});
