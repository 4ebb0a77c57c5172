import t, { type Test } from 'tap';
import { FRAME, H3_ERROR, STREAM } from '../../../src/worker/http/http3-frames/protocol.js';
import { putVarint, varintLength } from '../../../src/worker/http/http3-frames/varint.js';
import { frame, framesOf, get, Http3Scene, headers, post, responseOf, until } from '../../support/http3-scene.js';
import type { MemoryQuic } from '../../support/memory-quic.js';

const CONF = `
  server {
    listen 127.0.0.1:8443;
    location / { return 200 "$connection_requests"; }
    location /big { root DIR/html; }
    location /body { client_body_in_file_only on; proxy_pass http://127.0.0.1:1; }
  }`;

const numbers = (...all: number[]): Buffer => {
  const bytes = Buffer.alloc(all.reduce((sum, number) => sum + varintLength(number), 0));
  let at = 0;
  for (const number of all) {
    at = putVarint(bytes, at, number);
  }
  return bytes;
};

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const control = (...frames: readonly Buffer[]): Buffer => Buffer.concat([numbers(STREAM.CONTROL), ...frames]);
const SETTINGS = frame(FRAME.SETTINGS);
const encoder = (text: string): Buffer => Buffer.concat([numbers(STREAM.ENCODER), hex(text)]);

/** The HTTP/3 half of h3spec, and more: what a client sends on which stream, and the error code that ends the connection. */
const ERRORS: readonly (readonly [what: string, stream: number, bytes: Buffer, code: number])[] = [
  ['DATA before HEADERS (RFC 9114, 4.1)', 0, frame(FRAME.DATA, 'x'), H3_ERROR.FRAME_UNEXPECTED],
  ['DATA behind trailers', 0, Buffer.concat([post('/'), headers('a: b'), frame(FRAME.DATA, 'x')]), H3_ERROR.FRAME_UNEXPECTED],
  ['HEADERS behind trailers', 0, Buffer.concat([post('/'), headers('a: b'), headers('a: b')]), H3_ERROR.FRAME_UNEXPECTED],
  ['empty HEADERS', 0, frame(FRAME.HEADERS), H3_ERROR.FRAME_ERROR],
  ['CANCEL_PUSH on a request (7.2.3)', 0, frame(FRAME.CANCEL_PUSH, '\0'), H3_ERROR.FRAME_UNEXPECTED],
  ['SETTINGS on a request (7.2.4)', 0, SETTINGS, H3_ERROR.FRAME_UNEXPECTED],
  ['PUSH_PROMISE (7.2.5)', 0, frame(FRAME.PUSH_PROMISE, '\0'), H3_ERROR.FRAME_UNEXPECTED],
  ['GOAWAY on a request (7.2.6)', 0, frame(FRAME.GOAWAY, '\0'), H3_ERROR.FRAME_UNEXPECTED],
  ['MAX_PUSH_ID on a request (7.2.7)', 0, frame(FRAME.MAX_PUSH_ID, '\0'), H3_ERROR.FRAME_UNEXPECTED],
  ['a frame of HTTP/2 on a request (7.2.8)', 0, frame(6, 'ping'), H3_ERROR.FRAME_UNEXPECTED],
  ['... behind its head', 0, Buffer.concat([post('/'), frame(9, '')]), H3_ERROR.FRAME_UNEXPECTED],
  ['no SETTINGS first (6.2.1)', 2, control(frame(FRAME.MAX_PUSH_ID, '\0')), H3_ERROR.MISSING_SETTINGS],
  ['an unknown frame first', 2, control(frame(0x21, '')), H3_ERROR.MISSING_SETTINGS],
  ['DATA on the control stream (7.2.1)', 2, control(SETTINGS, frame(FRAME.DATA, 'x')), H3_ERROR.FRAME_UNEXPECTED],
  ['HEADERS on the control stream (7.2.2)', 2, control(SETTINGS, get('/')), H3_ERROR.FRAME_UNEXPECTED],
  ['PUSH_PROMISE on the control stream', 2, control(SETTINGS, frame(FRAME.PUSH_PROMISE, '\0')), H3_ERROR.FRAME_UNEXPECTED],
  ['SETTINGS again (7.2.4)', 2, control(SETTINGS, SETTINGS), H3_ERROR.FRAME_UNEXPECTED],
  ['a setting of HTTP/2 (7.2.4.1)', 2, control(frame(FRAME.SETTINGS, numbers(2, 0))), H3_ERROR.SETTINGS_ERROR],
  ...[0, 3, 4, 5].map(
    (id) => [`the reserved setting ${id} (11.2.2)`, 2, control(frame(FRAME.SETTINGS, numbers(id, 0))), H3_ERROR.SETTINGS_ERROR] as const,
  ),
  ['ENABLE_CONNECT_PROTOCOL of 2', 2, control(frame(FRAME.SETTINGS, numbers(8, 2))), H3_ERROR.SETTINGS_ERROR],
  ['a setting twice', 2, control(frame(FRAME.SETTINGS, numbers(6, 1, 6, 1))), H3_ERROR.SETTINGS_ERROR],
  ['half a setting', 2, control(frame(FRAME.SETTINGS, numbers(6))), H3_ERROR.FRAME_ERROR],
  ...[2, 6, 8, 9].map(
    (type) =>
      [`frame ${type} of HTTP/2 on the control stream`, 2, control(SETTINGS, frame(type, 'abcd')), H3_ERROR.FRAME_UNEXPECTED] as const,
  ),
  ...[2, 6, 8, 9].map((type) => [`frame ${type} of HTTP/2 on a request`, 0, frame(type, 'abcd'), H3_ERROR.FRAME_UNEXPECTED] as const),
  ['CANCEL_PUSH of nothing', 2, control(SETTINGS, frame(FRAME.CANCEL_PUSH, '\0')), H3_ERROR.ID_ERROR],
  ['MAX_PUSH_ID that falls', 2, control(SETTINGS, frame(13, numbers(5)), frame(13, numbers(4))), H3_ERROR.ID_ERROR],
  ['MAX_PUSH_ID with more', 2, control(SETTINGS, frame(13, numbers(5, 5))), H3_ERROR.FRAME_ERROR],
  ['GOAWAY that rises', 2, control(SETTINGS, frame(7, numbers(4)), frame(7, numbers(8))), H3_ERROR.ID_ERROR],
  ['GOAWAY of nothing (7.1)', 2, control(SETTINGS, frame(7)), H3_ERROR.FRAME_ERROR],
  ['GOAWAY with more', 2, control(SETTINGS, frame(7, numbers(4, 4))), H3_ERROR.FRAME_ERROR],
  ['GOAWAY of half a number', 2, control(SETTINGS, frame(7, '\x40')), H3_ERROR.FRAME_ERROR],
  ['MAX_PUSH_ID of nothing', 2, control(SETTINGS, frame(13)), H3_ERROR.FRAME_ERROR],
  ['SETTINGS of half a number', 2, control(frame(FRAME.SETTINGS, '\x40')), H3_ERROR.FRAME_ERROR],
  ['SETTINGS that are too long to be read', 2, control(frame(FRAME.SETTINGS, 'x'.repeat(5000))), H3_ERROR.EXCESSIVE_LOAD],
  ['PRIORITY_UPDATE of a push', 2, control(SETTINGS, frame(0xf0701, numbers(4))), H3_ERROR.ID_ERROR],
  ['PRIORITY_UPDATE of no request', 2, control(SETTINGS, frame(0xf0700, numbers(2))), H3_ERROR.ID_ERROR],
  ['PRIORITY_UPDATE of nothing', 2, control(SETTINGS, frame(0xf0700)), H3_ERROR.FRAME_ERROR],
  ['a push stream', 2, numbers(STREAM.PUSH), H3_ERROR.STREAM_CREATION_ERROR],
  ['an invalid index of the static table (RFC 9204, 3.1)', 0, frame(FRAME.HEADERS, hex('0000 ff24')), H3_ERROR.QPACK_DECOMPRESSION_FAILED],
  ['... in trailers', 0, Buffer.concat([post('/'), frame(FRAME.HEADERS, hex('0000 ff24'))]), H3_ERROR.QPACK_DECOMPRESSION_FAILED],
  [
    'too large a capacity (RFC 9204, 4.1.3)',
    2,
    Buffer.concat([numbers(STREAM.ENCODER), hex('3fe21f')]),
    H3_ERROR.QPACK_ENCODER_STREAM_ERROR,
  ],
  ['a count of 0 (RFC 9204, 4.4.3)', 2, Buffer.concat([numbers(STREAM.DECODER), hex('00')]), H3_ERROR.QPACK_DECODER_STREAM_ERROR],
  ['a count of more than was inserted', 2, Buffer.concat([numbers(STREAM.DECODER), hex('05')]), H3_ERROR.QPACK_DECODER_STREAM_ERROR],
  [
    'a number without an end',
    2,
    Buffer.concat([numbers(STREAM.DECODER), hex('7fffffffffffffffffffff')]),
    H3_ERROR.QPACK_DECODER_STREAM_ERROR,
  ],
  ['a reference without a count (RFC 9204, 2.2.3)', 0, frame(FRAME.HEADERS, hex('0000 80')), H3_ERROR.QPACK_DECOMPRESSION_FAILED],
  ['a count beyond twice the table (4.5.1.1)', 0, frame(FRAME.HEADERS, hex('ff0200')), H3_ERROR.QPACK_DECOMPRESSION_FAILED],
  ['a negative base (4.5.1.2)', 0, frame(FRAME.HEADERS, hex('0382')), H3_ERROR.QPACK_DECOMPRESSION_FAILED],
  ['half a section', 0, frame(FRAME.HEADERS, hex('00')), H3_ERROR.QPACK_DECOMPRESSION_FAILED],
  ['a static name that is not there (3.1)', 2, encoder('3fe11f ff24 0162'), H3_ERROR.QPACK_ENCODER_STREAM_ERROR],
  ['a dynamic name that is not there', 2, encoder('3fe11f 80 0162'), H3_ERROR.QPACK_ENCODER_STREAM_ERROR],
  ['a duplicate of nothing', 2, encoder('3fe11f 00'), H3_ERROR.QPACK_ENCODER_STREAM_ERROR],
  ['a field without capacity (3.2.2)', 2, encoder('4161 0162'), H3_ERROR.QPACK_ENCODER_STREAM_ERROR],
  ['an acknowledgement of nothing', 2, Buffer.concat([numbers(STREAM.DECODER), hex('80')]), H3_ERROR.QPACK_DECODER_STREAM_ERROR],
];

t.test('what breaks the rules of the connection ends it', async (t) => {
  const scene = await Http3Scene.of(t, CONF);
  for (const [what, stream, bytes, code] of ERRORS) {
    for (const size of [bytes.length, 1]) {
      const client = scene.connect();
      client.open(stream).send(bytes, false, size);
      t.equal(client.end?.code, code, size === 1 ? `${what}, byte by byte` : what);
    }
  }
  await t.test('the end of a stream that must not end (RFC 9204, 4.2)', async (t) => {
    for (const type of [STREAM.CONTROL, STREAM.ENCODER, STREAM.DECODER]) {
      const bytes = type === STREAM.CONTROL ? control(SETTINGS) : numbers(type);
      const ended = scene.connect();
      ended.open(2).send(bytes, true);
      t.equal(ended.end?.code, H3_ERROR.CLOSED_CRITICAL_STREAM);
      const reset = scene.connect();
      reset.open(2).send(bytes).giveUp(0);
      t.equal(reset.end?.code, H3_ERROR.CLOSED_CRITICAL_STREAM);
      const twice = scene.connect();
      twice.open(2).send(bytes);
      twice.open(6).send(numbers(type));
      t.equal(twice.end?.code, H3_ERROR.STREAM_CREATION_ERROR, 'nor may there be two');
    }
    const refused = scene.connect();
    refused.streams.get(3)!.refuse(0);
    t.equal(refused.end?.code, H3_ERROR.CLOSED_CRITICAL_STREAM, 'one of ours');
  });
  await t.test('an end within a frame', async (t) => {
    for (const bytes of [
      get('/').subarray(0, 5),
      Buffer.concat([post('/'), frame(FRAME.DATA, 'xyz').subarray(0, 3)]),
      Buffer.from([0x40]),
    ]) {
      const client = scene.connect();
      client.open(0).send(bytes, true);
      t.equal(client.end?.code, H3_ERROR.FRAME_ERROR);
    }
  });
  t.equal(scene.counters.writing, 0);
  t.equal(scene.counters.waiting, 0);
});

t.test('what is no fault', async (t) => {
  const scene = await Http3Scene.of(t, CONF);
  const client = scene.connect();
  const grease = frame(FRAME.SETTINGS, numbers(0x21, 5, 6, 70_000, 1, 4096, 7, 100, 8, 1, 0x33, 1));
  client
    .open(2)
    .send(control(grease, frame(0x21, 'grease'), frame(7, numbers(8)), frame(7, numbers(0)), frame(13, numbers(3)), frame(13, numbers(3))));
  client.open(6).send(numbers(STREAM.ENCODER));
  client.open(10).send(Buffer.concat([numbers(STREAM.DECODER), hex('44')]));
  const unknown = client.open(14).send(Buffer.concat([numbers(0x21), Buffer.from('whatever')]));
  t.equal(unknown.stopCode, H3_ERROR.STREAM_CREATION_ERROR);
  const stream = client.open(0).send(Buffer.concat([frame(0x21, 'grease'), get('/'), frame(0x40, '')]), true);
  await until(() => stream.ended);
  t.equal(responseOf(stream).status, '200');
  client.streams.get(2)!.send(frame(0xf0700, Buffer.concat([numbers(0), Buffer.from('u=1, i')])));
  t.equal(client.end, undefined);
  const early = client.open(4).send(Buffer.alloc(0), true);
  t.equal(early.resetCode, H3_ERROR.REQUEST_INCOMPLETE, 'no request at all is the fault of its stream');
  const none = client.open(8).send(frame(0x21, 'grease'), true);
  t.equal(none.resetCode, H3_ERROR.REQUEST_INCOMPLETE);
  t.equal(client.end, undefined);
});

t.test('what we say first', async (t) => {
  const scene = await Http3Scene.of(t, CONF);
  const client = scene.connect();
  const bytes = client.streams.get(3)!.bytes;
  t.equal(bytes[0], STREAM.CONTROL);
  t.strictSame(
    framesOf(bytes.subarray(1)).map(({ type }) => type),
    [FRAME.SETTINGS],
  );
  t.equal(client.streams.get(7)!.bytes[0], STREAM.DECODER);
});

t.test('a client that allows streams late hears the same then', async (t) => {
  const scene = await Http3Scene.of(t, CONF);
  const usual = scene.connect();
  const client = scene.connect('h3', 0);
  t.equal(client.streams.size, 0);
  const request = client.open(0).send(get('/'), true);
  await until(() => request.ended);
  client.allow(1);
  t.strictSame(client.streams.get(3)!.bytes, usual.streams.get(3)!.bytes);
  t.equal(client.streams.get(7), undefined);
  client.allow(2);
  t.strictSame(client.streams.get(7)!.bytes, usual.streams.get(7)!.bytes);
  client.allow(3);
  t.equal(client.streams.size, 3, 'once');
  const leaving = scene.connect('h3', 0);
  (leaving.handler as unknown as { drain(): void }).drain();
  leaving.allow(2);
  t.equal(goawayOf(leaving), 0);
});

t.test('sections that wait for the encoder', async (t) => {
  const scene = await Http3Scene.of(t, CONF);
  const client = scene.client();
  const pseudo = 'd1 d7 c1 50 09 6c6f63616c686f7374';
  const section = (count: number): Buffer => frame(FRAME.HEADERS, hex(`${(count + 1).toString(16).padStart(2, '0')} 00 ${pseudo} 80`));
  const first = client.open(0).send(Buffer.concat([section(1), frame(0x21, 'x')]), true);
  const second = client.open(4).send(section(2));
  second.send(Buffer.alloc(0), true);
  await new Promise(setImmediate);
  t.equal(first.bytes.length, 0);
  const encoder = client.open(6).send(Buffer.concat([numbers(STREAM.ENCODER), hex('3fe11f 4161 0162')]));
  await until(() => first.ended);
  t.equal(responseOf(first).status, '200');
  t.equal(second.bytes.length, 0, 'the other waits on');
  encoder.send(hex('4163 0164'));
  await until(() => second.ended);
  t.equal(client.streams.get(7)!.bytes.toString('hex'), `03${'80'}${'84'}`, 'both were acknowledged');
  encoder.send(hex('00'));
  await until(() => client.streams.get(7)!.bytes.length > 3);
  t.equal(client.streams.get(7)!.bytes.toString('hex'), '03808401', 'and what nobody asked for was counted');

  await t.test('one that is given up', async (t) => {
    const stream = client.open(8).send(section(9));
    stream.giveUp(H3_ERROR.REQUEST_CANCELLED);
    await until(() => client.streams.get(7)!.bytes.length > 4);
    t.equal(client.streams.get(7)!.bytes.toString('hex'), '0380840148', 'the encoder hears of it');
    t.equal(client.end, undefined);
  });

  await t.test('too many', async (t) => {
    for (let i = 0; i < 128; i++) {
      client.open(12 + 4 * i).send(section(20));
    }
    t.equal(client.end, undefined);
    client.open(2000).send(section(20));
    t.equal(client.end?.code, H3_ERROR.QPACK_DECOMPRESSION_FAILED);
  });
});

t.test('a client that goes', async (t) => {
  const scene = await Http3Scene.of(t, CONF, { big: 'b'.repeat(300_000) });
  const client = scene.client();
  const waiting = (id: number) => {
    const stream = client.open(id);
    stream.reads = false;
    return stream.send(get('/big'), true);
  };
  const refused = waiting(0);
  await until(() => refused.room <= 0);
  refused.refuse(H3_ERROR.REQUEST_CANCELLED);
  await until(() => scene.counters.writing === 0);
  t.match(scene.errorLog, /client canceled stream 0/);
  const half = client.open(4).send(post('/body', 'content-length: 100'));
  await until(() => scene.counters.writing === 1);
  half.giveUp(77);
  await until(() => scene.counters.writing === 0);
  t.match(scene.errorLog, /client terminated stream 4 with status 77/);
  t.equal(half.resetCode, H3_ERROR.REQUEST_CANCELLED);
  await until(() => client.streams.get(7)!.bytes.length === 2);
  t.equal(client.streams.get(7)!.bytes[1], 0x44, 'the client hears that no trailers are read');
  const last = waiting(8);
  await until(() => last.room <= 0);
  client.finish({ by: 'idle', application: false, code: 0, reason: '' });
  await until(() => scene.counters.writing === 0 && scene.counters.waiting === 0);
  t.match(scene.accessLog, /"GET \/big HTTP\/3\.0" 200 /);
  t.match(scene.accessLog, /"POST \/body HTTP\/3\.0" 499 /);
});

t.test('streams that are opened and given up at once', async (t) => {
  const scene = await Http3Scene.of(t, CONF, { big: 'b'.repeat(300_000) });
  const client = scene.client();
  for (let i = 0; i < 400 && client.end === undefined; i++) {
    const stream = client.open(4 * i);
    stream.reads = false;
    stream.send(get('/big')).giveUp(H3_ERROR.REQUEST_CANCELLED);
  }
  t.equal(client.end?.code, H3_ERROR.EXCESSIVE_LOAD);
  t.match(scene.errorLog, /client broke off too many streams/);
});

t.test('a client that sends much and asks for little', async (t) => {
  const scene = await Http3Scene.of(t, CONF);
  const client = scene.client();
  const grease = frame(0x21, 'x'.repeat(60_000));
  const stream = client.open(0);
  for (let i = 0; i < 500 && client.end === undefined; i++) {
    stream.send(grease);
  }
  t.match(client.end, { code: H3_ERROR.NO_ERROR, reason: 'http3 flood detected' });
  const other = scene.client();
  for (let i = 0; i < 10_100 && other.end === undefined; i++) {
    other.streams.get(2)!.send(frame(0x21));
  }
  t.match(other.end, { code: H3_ERROR.NO_ERROR, reason: 'http3 flood detected' });
});

/** The identifier of the GOAWAY that the server has sent. */
function goawayOf(client: MemoryQuic): number | undefined {
  const found = framesOf(client.streams.get(3)!.bytes.subarray(1)).find(({ type }) => type === FRAME.GOAWAY);
  return found?.payload[0];
}

t.test('the end of a connection', async (t) => {
  const ask = async (client: MemoryQuic, id: number): Promise<string> => {
    const stream = client.open(id).send(get('/'), true);
    await until(() => stream.ended || stream.resetCode !== undefined);
    return stream.ended ? responseOf(stream).body : `reset ${stream.resetCode}`;
  };
  const farewell = async (t: Test, client: MemoryQuic): Promise<void> => {
    await until(() => client.end !== undefined);
    t.match(client.end, { by: 'local', code: H3_ERROR.NO_ERROR });
  };

  await t.test('keepalive_requests', async (t) => {
    const scene = await Http3Scene.of(t, `keepalive_requests 2; ${CONF}`);
    const client = scene.client();
    t.equal(await ask(client, 0), '1');
    t.equal(goawayOf(client), undefined);
    t.equal(await ask(client, 4), '2');
    t.equal(goawayOf(client), 8);
    t.ok(client.creditStopped);
    t.equal(await ask(client, 8), `reset ${H3_ERROR.REQUEST_REJECTED}`);
    await farewell(t, client);
  });

  await t.test('keepalive_timeout 0', async (t) => {
    const scene = await Http3Scene.of(t, `keepalive_timeout 0; ${CONF}`);
    const client = scene.client();
    t.equal(await ask(client, 0), '1');
    t.equal(goawayOf(client), 4);
    await farewell(t, client);
  });

  await t.test('keepalive_timeout', async (t) => {
    const scene = await Http3Scene.of(t, `keepalive_timeout 10ms; ${CONF}`);
    const client = scene.client();
    t.equal(await ask(client, 0), '1');
    await farewell(t, client);
    t.equal(client.end?.reason, 'keepalive timeout');
  });

  await t.test('client_header_timeout', async (t) => {
    const scene = await Http3Scene.of(t, `client_header_timeout 10ms; ${CONF}`);
    const client = scene.client();
    const stream = client.open(0).send(get('/').subarray(0, 9));
    await until(() => stream.resetCode !== undefined);
    t.equal(stream.resetCode, H3_ERROR.GENERAL_PROTOCOL_ERROR);
    t.match(scene.errorLog, /client timed out/);
    t.equal(client.end, undefined, 'it goes on');
  });

  await t.test('send_timeout', async (t) => {
    const scene = await Http3Scene.of(t, `send_timeout 10ms; ${CONF}`, { big: 'b'.repeat(300_000) });
    const client = scene.client();
    const stream = client.open(0);
    stream.reads = false;
    stream.send(get('/big'), true);
    await until(() => stream.resetCode !== undefined);
    t.equal(stream.resetCode, H3_ERROR.GENERAL_PROTOCOL_ERROR);
    t.equal(scene.counters.writing, 0);
  });

  await t.test('a worker that leaves', async (t) => {
    const scene = await Http3Scene.of(t, CONF, { big: 'b'.repeat(300_000) });
    const client = scene.client();
    const stream = client.open(0);
    stream.reads = false;
    stream.send(get('/big'), true);
    await until(() => stream.room <= 0);
    (client.handler as unknown as { drain(): void }).drain();
    t.equal(goawayOf(client), 4);
    while (!stream.ended) {
      stream.read();
      await until(() => stream.ended || stream.room <= 0);
    }
    t.equal(client.end, undefined, 'an answer is on its way');
    await new Promise((resolve) => setImmediate(resolve));
    stream.read();
    t.equal(responseOf(stream).body.length, 300_000);
    await farewell(t, client);
  });
});
