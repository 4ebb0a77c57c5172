import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import t from 'tap';
import type { BodySink, ClientExchange } from '../../../src/worker/http/request/client-exchange.js';
import type { Request } from '../../../src/worker/http/request/request.js';
import { readBody } from '../../../src/worker/http/request/request-body.js';

/** A request whose body the test gives, and what reads it. */
function reading(dir: string, clientBodyBufferSize: number) {
  const cleanups: (() => void)[] = [];
  let sink: BodySink | undefined;
  let done = false;
  const settings = {
    clientBodyBufferSize,
    clientMaxBodySize: 0,
    clientBodyInFileOnly: 'off',
    clientBodyTempPath: { path: dir, levels: [] },
  };
  const r = {
    body: null,
    chunkedIn: true,
    head: { room: 0 },
    expectTested: true,
    requestBodyInFileOnly: false,
    clientExchange: {
      bodyDone: () => false,
      bodyAhead: () => 0,
      readBody: (_r: Request, given: BodySink) => void (sink = given),
    } as unknown as ClientExchange,
    location: { conf: () => settings },
    log: () => {},
    onFinish: (cleanup: () => void) => void cleanups.push(cleanup),
  } as unknown as Request;
  Object.assign(r, { main: r });
  readBody(r, () => {
    done = true;
  });
  return { r, sink: sink!, done: () => done, close: () => cleanups.forEach((cleanup) => void cleanup()) };
}

/** Gives `count` bytes one by one. */
function pour(sink: BodySink, count: number): void {
  const byte = Buffer.alloc(1);
  for (let i = 0; i < count; i++) {
    byte[0] = i;
    sink.data(byte, 0, 1, 0);
  }
  sink.end();
}

const expected = (count: number): Buffer => Buffer.from(Uint8Array.from({ length: count }, (_, i) => i & 255));

t.test('a body of tiny pieces is in memory as few large ones', (t) => {
  const { r, sink, done } = reading(t.testdir(), 8 << 20);
  pour(sink, 300_000);
  t.ok(done());
  t.ok(r.body!.bytes.pieces.length < 32);
  t.equal(r.body!.length, 300_000);
  t.ok(r.body!.inMemory()!.equals(expected(300_000)));
  t.end();
});

t.test('a body of tiny pieces is written by whole buffers', (t) => {
  const { r, sink, done, close } = reading(t.testdir(), 16_384);
  const { writeSync } = fs;
  let writes = 0;
  t.teardown(() => {
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
  });
  fs.writeSync = ((...args: Parameters<typeof writeSync>) => {
    writes++;
    return writeSync(...args);
  }) as typeof writeSync;
  syncBuiltinESMExports();
  pour(sink, 300_000);
  t.ok(done());
  // nginx writes each buffer when it is full; a few bytes more or less do not matter.
  t.ok(writes < 100, `${writes} writes`);
  t.ok(fs.readFileSync(r.body!.file!.path).equals(expected(300_000)));
  t.equal(r.body!.bytes.length, 0);
  close();
  t.end();
});
