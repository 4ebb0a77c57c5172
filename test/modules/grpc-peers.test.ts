// gRPC's own client and server, with sluice between them.
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import t, { type Test } from 'tap';
import { as, nothing, path, startGrpcServer } from '../support/grpc-echo.js';
import { answer, startHttp2Origin } from '../support/http2-origin.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

function connect(t: Test, s: Server): Client {
  const options = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
  const client = new Client(`127.0.0.1:${s.port(0)}`, credentials.createInsecure(), options);
  t.teardown(() => client.close());
  return client;
}

interface Reply {
  readonly error: ServiceError | null;
  readonly text: string;
  readonly bytes: number;
  readonly head: Metadata | undefined;
  readonly trailers: Metadata | undefined;
}

function unary(client: Client, message: Buffer | string, metadata = new Metadata(), options = {}): Promise<Reply> {
  return new Promise((done) => {
    let head: Metadata | undefined;
    let trailers: Metadata | undefined;
    let result: { error: ServiceError | null; message: Buffer | undefined } | undefined;
    const finish = (): void => {
      if (result !== undefined && trailers !== undefined) {
        const { error, message: got } = result;
        done({ error, text: got?.toString('latin1', 0, 100) ?? '', bytes: got?.length ?? 0, head, trailers });
      }
    };
    const call = client.makeUnaryRequest(path('unary'), as, as, Buffer.from(message), metadata, options, (error, got) => {
      result = { error, message: got };
      finish();
    });
    call.on('metadata', (got) => (head = got));
    call.on('status', (got) => {
      trailers = got.metadata;
      finish();
    });
  });
}

const conf = (ports: readonly number[], server = ''): string =>
  serverConf(
    `http2 on; http2_max_concurrent_streams 2000; client_max_body_size 0; location / { grpc_pass u; ${server} }`,
    `upstream u { ${ports.map((port) => `server 127.0.0.1:${port};`).join(' ')} keepalive 8; }`,
  );

t.test('unary calls with metadata, errors and large messages', async (t) => {
  const { port } = await startGrpcServer(t, nothing());
  const s = await startServer(t, { conf: conf([port]) });
  const client = connect(t, s);
  const metadata = new Metadata();
  metadata.set('x-text', 'some text');
  metadata.set('x-some-bin', Buffer.from([0, 1, 254, 255]));
  const plain = await unary(client, 'hello', metadata);
  t.equal(plain.error, null);
  t.equal(plain.text, 'hello');
  t.strictSame(plain.head!.get('x-echo'), ['some text']);
  t.strictSame(plain.head!.get('x-echo-bin'), [Buffer.from([0, 1, 254, 255])]);
  t.strictSame(plain.trailers!.get('x-after'), ['all']);

  metadata.set('x-want', 'error');
  const failed = await unary(client, 'hello', metadata);
  t.equal(failed.error!.code, status.FAILED_PRECONDITION);
  t.equal(failed.error!.details, 'not now: ü');
  t.strictSame(failed.error!.metadata.get('x-detail'), ['why']);

  const large = Buffer.alloc(4 * 1024 * 1024, 'four megabytes ');
  const both = await Promise.all([unary(client, large), unary(client, large), unary(client, '')]);
  t.strictSame(
    both.map(({ bytes }) => bytes),
    [large.length, large.length, 0],
  );
  t.equal((await unary(client, 'x'.repeat(5))).text, 'xxxxx');
});

t.test('streams of ten thousand messages, either way and both ways', async (t) => {
  const { port } = await startGrpcServer(t, nothing());
  const s = await startServer(t, { conf: conf([port]) });
  const client = connect(t, s);
  const count = 10_000;
  const up = await new Promise<string>((done, fail) => {
    const call = client.makeClientStreamRequest(path('up'), as, as, (error, got?: Buffer) => (error ? fail(error) : done(String(got))));
    for (let i = 0; i < count; i++) {
      call.write(Buffer.from(`message ${i}`));
    }
    call.end();
  });
  const bytes = Array.from({ length: count }, (_, i) => `message ${i}`.length).reduce((a, b) => a + b, 0);
  t.equal(up, `${count} ${bytes}`);

  const down = await new Promise<string[]>((done, fail) => {
    const got: string[] = [];
    const call = client.makeServerStreamRequest(path('down'), as, as, Buffer.from(String(count)));
    call.on('data', (message: Buffer) => got.push(message.toString()));
    call.on('error', fail);
    call.on('end', () => done(got));
  });
  t.equal(down.length, count);
  t.equal(down.at(-1), `message ${count - 1}`);

  const chat = await new Promise<number>((done, fail) => {
    let next = 0;
    const call = client.makeBidiStreamRequest(path('chat'), as, as);
    call.on('data', (message: Buffer) => {
      if (message.toString() !== `message ${next}`) {
        fail(new Error(`${message} in place of message ${next}`));
      }
      // Each answer brings the next question: nothing may be held back on the way.
      if (++next < count) {
        call.write(Buffer.from(`message ${next}`));
      } else {
        call.end();
      }
    });
    call.on('error', fail);
    call.on('end', () => done(next));
    call.write(Buffer.from('message 0'));
  });
  t.equal(chat, count);
});

t.test('a thousand calls at a time need few connections', async (t) => {
  const origin = await startHttp2Origin(t);
  const s = await startServer(t, { conf: conf([origin.port]) });
  const client = connect(t, s);
  const replies = Array.from({ length: 1000 }, (_, i) => unary(client, `call ${i}`));
  await origin.received(1000);
  // A hundred on each until the backend has said how many it takes, then a hundred and twenty-eight.
  t.ok(new Set(origin.requests.map(({ nth }) => nth)).size <= 10, `${origin.connections.length} connections`);
  for (const request of origin.requests) {
    answer(request, {
      headers: [['content-type', 'application/grpc']],
      body: Buffer.from('\0\0\0\0\x04well', 'latin1'),
      trailers: [['grpc-status', '0']],
    });
  }
  t.equal((await Promise.all(replies)).filter(({ text }) => text === 'well').length, 1000);
});

t.test('a call that is cancelled, and one whose time is over', async (t) => {
  const seen = nothing();
  const { port } = await startGrpcServer(t, seen);
  const s = await startServer(t, { conf: conf([port]) });
  const client = connect(t, s);
  const chat = client.makeBidiStreamRequest(path('chat'), as, as);
  const ended = new Promise<ServiceError>((done) => chat.on('error', done));
  chat.once('data', () => chat.cancel());
  chat.write(Buffer.from('first'));
  t.equal(((await ended) as unknown as ServiceError).code, status.CANCELLED);
  await waitFor(() => seen.cancelled === 1, { what: 'the server to hear of it' });

  const metadata = new Metadata();
  metadata.set('x-want', 'silence');
  const late = await unary(client, 'x', metadata, { deadline: Date.now() + 1500 });
  t.equal(late.error!.code, status.DEADLINE_EXCEEDED);
  await waitFor(() => seen.cancelled === 2, { what: 'the server to hear of it' });
  t.ok(Number(seen.deadlines[0]) < Date.now() + 60_000, 'the server knew of the deadline');
});

t.test('servers restart under load, and no call is lost', async (t) => {
  const seen = nothing();
  const [first, second] = [await startGrpcServer(t, seen), await startGrpcServer(t, seen)];
  const s = await startServer(t, { conf: conf([first.port, second.port]) });
  const client = connect(t, s);
  let running = true;
  let calls = 0;
  const errors: string[] = [];
  const load = Array.from({ length: 20 }, async () => {
    while (running) {
      const { error, text } = await unary(client, `call ${calls++}`);
      if (error !== null || !text.startsWith('call ')) {
        errors.push(error === null ? text : error.message);
      }
    }
  });
  let { server } = first;
  for (let restart = 0; restart < 4; restart++) {
    const target = calls + 200;
    await waitFor(() => calls > target, { what: 'calls' });
    await new Promise<void>((done, fail) => server.tryShutdown((error) => (error ? fail(error) : done())));
    ({ server } = await startGrpcServer(t, seen, first.port));
  }
  running = false;
  await Promise.all(load);
  t.strictSame(errors, []);
  t.ok(calls > 800, `${calls} calls`);
});

const PYTHON = `
import sys, grpc
from concurrent import futures
same = lambda b: b
class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        name = details.method.rsplit('/', 1)[1]
        if name == 'Unary':
            return grpc.unary_unary_rpc_method_handler(lambda r, c: r, same, same)
        if name == 'Up':
            return grpc.stream_unary_rpc_method_handler(lambda it, c: str(sum(1 for _ in it)).encode(), same, same)
        if name == 'Down':
            return grpc.unary_stream_rpc_method_handler(lambda r, c: (b'm%d' % i for i in range(int(r))), same, same)
        return grpc.stream_stream_rpc_method_handler(lambda it, c: (m for m in it), same, same)
mode, where = sys.argv[1], sys.argv[2]
unlimited = [('grpc.max_receive_message_length', -1), ('grpc.max_send_message_length', -1)]
if mode == 'serve':
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=unlimited)
    server.add_generic_rpc_handlers((Echo(),))
    print(server.add_insecure_port(where), flush=True)
    server.start()
    server.wait_for_termination()
else:
    channel = grpc.insecure_channel(where, options=unlimited)
    u = channel.unary_unary('/test.Echo/Unary', same, same)
    assert u(b'hello', metadata=(('x-text', 'there'),), timeout=60) == b'hello'
    big = b'x' * 4194304
    assert u(big, timeout=60) == big
    assert channel.stream_unary('/test.Echo/Up', same, same)((b'm' for _ in range(10000)), timeout=60).split()[0] == b'10000'
    assert len(list(channel.unary_stream('/test.Echo/Down', same, same)(b'10000', timeout=60))) == 10000
    assert len(list(channel.stream_stream('/test.Echo/Chat', same, same)((b'm' for _ in range(2000)), timeout=60))) == 2000
    print('well')
`;

// Debian's own, before any other that a machine may have.
const python = ['/usr/bin/python3', 'python3'].find((name) => spawnSync(name, ['-c', 'import grpc']).status === 0);

t.test("the C++ core's client and server", { skip: python === undefined ? 'python3-grpcio is not here' : false }, async (t) => {
  const run = promisify(execFile);
  const { port } = await startGrpcServer(t, nothing());
  const s = await startServer(t, { conf: conf([port]) });
  t.equal((await run(python!, ['-c', PYTHON, 'call', `127.0.0.1:${s.port(0)}`])).stdout, 'well\n', 'as client');

  const child = execFile(python!, ['-c', PYTHON, 'serve', '127.0.0.1:0']);
  t.teardown(() => child.kill('SIGKILL'));
  const its = Number(await new Promise<string>((done) => child.stdout!.once('data', done)));
  const other = await startServer(t, { conf: conf([its]) });
  t.equal((await run(python!, ['-c', PYTHON, 'call', `127.0.0.1:${other.port(0)}`])).stdout, 'well\n', 'as both');
});
