// grpc_pass: what goes to the server and what comes back, frame by frame.
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import {
  block,
  END_HEADERS,
  END_STREAM,
  type FieldText,
  frame,
  Http2Client,
  number32,
  request,
  settings,
  T,
} from '../support/http2-client.js';
import { answer, dataOf, type Http2Origin, startHttp2Origin } from '../support/http2-origin.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const CALL: readonly FieldText[] = [
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
];
const call = (path: string, ...others: readonly FieldText[]): FieldText[] => request('POST', path, ...CALL, ...others);
const OK: readonly FieldText[] = [
  ['grpc-status', '0'],
  ['grpc-message', ''],
];
const GRPC: readonly FieldText[] = [['content-type', 'application/grpc']];

const start = (t: Parameters<typeof startServer>[0], origin: Http2Origin, location = '', http = ''): Promise<Server> =>
  startServer(t, {
    conf: serverConf(
      `http2 on; location / { grpc_pass grpc://u; ${location} }`,
      `upstream u { server 127.0.0.1:${origin.port}; keepalive 4; } ${http}`,
    ),
  });

t.test('a call goes through as it came', async (t) => {
  const origin = await startHttp2Origin(t);
  const s = await start(
    t,
    origin,
    'add_header X-Status $upstream_status; access_log %%DIR%%/grpc.log all;',
    "log_format all '$grpc_status $upstream_trailer_grpc_status $upstream_bytes_received $upstream_bytes_sent';",
  );
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/Greeter/Hello?a=b', ['grpc-timeout', '5S'], ['x-meta', 'one'], ['x-meta', 'two']), 'Hello');
  const got = await origin.received(1);
  t.strictSame(
    [...got.fields].filter(([name]) => name !== 'x-meta'),
    [
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', '/Greeter/Hello?a=b'],
      [':authority', 'u'],
      ['content-length', '5'],
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
      ['grpc-timeout', '5S'],
    ],
  );
  const metas = got.connection.frames.find(({ fields }) => fields !== undefined)!.fields!.filter(([name]) => name === 'x-meta');
  t.strictSame(metas, [
    ['x-meta', 'one'],
    ['x-meta', 'two'],
  ]);
  await waitFor(() => dataOf(got) === 'Hello');
  const data = got.connection.frames.filter(({ type }) => type === T.DATA);
  t.strictSame(
    data.map(({ flags }) => flags),
    [END_STREAM],
    'the end comes with the message',
  );
  answer(got, { headers: [...GRPC, ['x-initial', 'there']], body: 'World', trailers: [...OK, ['x-final', 'too']] });
  const r = await c.response(1);
  t.equal(r.status, '200');
  t.equal(r.body, 'World');
  t.equal(r.fields.get('content-type'), 'application/grpc');
  t.equal(r.fields.get('x-initial'), 'there');
  t.equal(r.fields.get('x-status'), '200');
  t.strictSame(r.trailers, [...OK, ['x-final', 'too']]);
  await waitFor(() => /^0 0 \d\d+ \d\d+\n/.test(s.read('grpc.log')), { what: () => s.read('grpc.log') });
});

t.test('an answer of trailers alone stays one', async (t) => {
  const origin = await startHttp2Origin(t, (got) => answer(got, { headers: [...GRPC, ['grpc-status', '12'], ['grpc-message', 'no']] }));
  const s = await start(t, origin, 'access_log %%DIR%%/grpc.log all;', "log_format all '$grpc_status';");
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/Greeter/Missing'), '');
  const r = await c.response(1);
  t.equal(r.fields.get('grpc-status'), '12');
  t.equal(r.fields.get('grpc-message'), 'no');
  t.strictSame(r.trailers, []);
  const own = c.frames.filter(({ id }) => id === 1);
  t.strictSame([own[0]!.type, own[0]!.flags & END_STREAM], [T.HEADERS, END_STREAM], 'one frame is all');
  await waitFor(() => s.read('grpc.log') === '12\n');
});

t.test('both sides send at a time, message by message', async (t) => {
  const origin = await startHttp2Origin(t);
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  c.send(frame(T.HEADERS, END_HEADERS, 1, block(call('/Chat'))));
  const got = await origin.received(1);
  t.notOk(got.ended);
  t.equal(got.fields.get('content-length'), undefined);
  got.connection.send(frame(T.HEADERS, END_HEADERS, got.id, block([[':status', '200'], ...GRPC])));
  await c.frame((f) => f.type === T.HEADERS && f.id === 1, 'the head, before the request has ended');
  for (const word of ['one', 'two', 'three']) {
    c.send(frame(T.DATA, 0, 1, word));
    await waitFor(() => dataOf(got).endsWith(word), { what: `${word} at the server` });
    got.connection.send(frame(T.DATA, 0, got.id, `re: ${word}`));
    await c.frame((f) => f.type === T.DATA && f.payload.toString() === `re: ${word}`, `the answer to ${word}`);
  }
  c.send(frame(T.DATA, END_STREAM, 1));
  await got.connection.frame((f) => f.type === T.DATA && f.id === got.id && (f.flags & END_STREAM) !== 0, 'the end of the request');
  got.connection.send(frame(T.DATA, 0, got.id, 'last'), frame(T.HEADERS, END_HEADERS | END_STREAM, got.id, block(OK)));
  const r = await c.response(1);
  t.equal(r.body, 're: onere: twore: threelast');
  t.strictSame(r.trailers, OK);
});

t.test('the server ends its side first', async (t) => {
  const origin = await startHttp2Origin(t, (got) => answer(got, { headers: GRPC, body: 'enough', trailers: OK }));
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  c.send(frame(T.HEADERS, END_HEADERS, 1, block(call('/Upload'))), frame(T.DATA, 0, 1, 'begun'));
  const r = await c.response(1);
  t.equal(r.body, 'enough');
  t.strictSame(r.trailers, OK);
  const got = await origin.received(1);
  t.equal(await got.connection.reset(got.id), 0, 'it hears that no more comes');
  t.equal(await c.reset(1), 0, 'and so does the client');
});

t.test('what is cancelled on one side ends on the other', async (t) => {
  const origin = await startHttp2Origin(t);
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  c.send(frame(T.HEADERS, END_HEADERS, 1, block(call('/Long'))));
  const first = await origin.received(1);
  c.send(frame(T.RST, 0, 1, number32(8)));
  t.equal(await first.connection.reset(first.id), 8, 'CANCEL of the client');

  c.request(3, call('/Long'), 'x');
  const second = await origin.received(2);
  t.equal(second.nth, 1, 'the connection serves on');
  second.connection.send(
    frame(T.HEADERS, END_HEADERS, second.id, block([[':status', '200'], ...GRPC])),
    frame(T.DATA, 0, second.id, 'part'),
  );
  await c.frame((f) => f.type === T.DATA && f.id === 3, 'a part of the response');
  second.connection.send(frame(T.RST, 0, second.id, number32(11)));
  t.equal(await c.reset(3), 11, 'the code of the server');

  c.request(5, call('/Long'), 'x');
  const third = await origin.received(3);
  third.connection.send(frame(T.RST, 0, third.id, number32(2)));
  t.equal((await c.response(5)).status, '502', 'before the head');
  await s.logged('upstream rejected request with error 2');
});

t.test('calls share a connection, as many as the server and the configuration allow', async (t) => {
  const origin = await startHttp2Origin(t, undefined, { settings: settings([3, 3]) });
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/First'), 'x');
  const first = await origin.received(1);
  await first.connection.frame((f) => f.type === T.SETTINGS && f.flags === 1, 'the acknowledgement of SETTINGS');
  for (const id of [3, 5, 7]) {
    c.request(id, call('/More'), 'x');
  }
  await origin.received(4);
  t.strictSame(
    origin.requests.map(({ nth, id }) => [nth, id]),
    [
      [1, 1],
      [1, 3],
      [1, 5],
      [2, 1],
    ],
    'the fourth call has no room on the first connection',
  );
  for (const got of origin.requests) {
    answer(got, { headers: GRPC, body: 'y', trailers: OK });
  }
  for (const id of [1, 3, 5, 7]) {
    t.equal((await c.response(id)).body, 'y');
  }
  const own = await startServer(t, {
    conf: serverConf(
      'http2 on; location / { grpc_pass u; grpc_max_streams 1; }',
      `upstream u { server 127.0.0.1:${origin.port}; keepalive 4; }`,
    ),
  });
  const d = await Http2Client.connect(t, own.port(0));
  d.request(1, call('/One'), 'x').request(3, call('/One'), 'x');
  await origin.received(6);
  t.strictSame(
    origin.requests.slice(4).map(({ nth, id }) => [nth, id]),
    [
      [3, 1],
      [4, 1],
    ],
  );
});

t.test('without keepalive each call has its connection', async (t) => {
  const origin = await startHttp2Origin(t, (got) => answer(got, { headers: GRPC, trailers: OK }));
  const s = await startServer(t, { conf: serverConf(`http2 on; location / { grpc_pass 127.0.0.1:${origin.port}; }`) });
  const c = await Http2Client.connect(t, s.port(0));
  for (const id of [1, 3]) {
    c.request(id, call('/x'), 'x');
    t.equal((await c.response(id)).status, '200');
  }
  t.strictSame(
    origin.requests.map(({ nth }) => nth),
    [1, 2],
  );
  t.equal(origin.requests[0]!.fields.get(':authority'), `127.0.0.1:${origin.port}`);
  await Promise.all(origin.connections.map((connection) => connection.closed()));
});

t.test('GOAWAY: calls above its last stream go elsewhere, the others finish', async (t) => {
  const origin = await startHttp2Origin(t);
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/Stays'), 'x').request(3, call('/Moves'), 'message');
  await origin.received(2);
  const [stays, moves] = origin.requests;
  stays!.connection.send(frame(T.GOAWAY, 0, 0, Buffer.concat([number32(1), number32(0)])));
  const moved = await origin.received(3);
  t.equal(moved.nth, 2);
  t.equal(moved.fields.get(':path'), '/Moves');
  await waitFor(() => dataOf(moved) === 'message', { what: 'its message' });
  answer(stays!, { headers: GRPC, body: 'stayed', trailers: OK });
  answer(moved, { headers: GRPC, body: 'moved', trailers: OK });
  t.equal((await c.response(1)).body, 'stayed');
  t.equal((await c.response(3)).body, 'moved');
  await moves!.connection.closed();
  c.request(5, call('/Next'), 'x');
  t.equal((await origin.received(4)).nth, 2, 'the new connection serves on');
});

t.test('a stream that is refused is tried again', async (t) => {
  let times = 0;
  const origin = await startHttp2Origin(t, (got) => {
    if (++times < 3) {
      got.connection.send(frame(T.RST, 0, got.id, number32(7)));
    } else {
      answer(got, { headers: GRPC, body: 'at last', trailers: OK });
    }
  });
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/x'), 'x');
  t.equal((await c.response(1)).body, 'at last');
  times = Number.NEGATIVE_INFINITY;
  c.request(3, call('/x'), 'x');
  t.equal((await c.response(3)).status, '502', 'not for ever');
});

t.test('every server refuses a call once: it goes to one of them again', async (t) => {
  const once = (): Promise<Http2Origin> =>
    startHttp2Origin(t, (got) => {
      if (got.nth === 1) {
        got.connection.send(frame(T.GOAWAY, 0, 0, Buffer.alloc(8)));
      } else {
        answer(got, { headers: GRPC, body: 'done', trailers: OK });
      }
    });
  const servers = [await once(), await once()];
  const s = await startServer(t, {
    conf: serverConf(
      'http2 on; location / { grpc_pass u; }',
      `upstream u { ${servers.map(({ port }) => `server 127.0.0.1:${port};`).join(' ')} keepalive 4; }`,
    ),
  });
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/x'), 'x');
  const r = await c.response(1);
  t.strictSame([r.status, r.body], ['200', 'done']);
  t.equal(servers[0]!.requests.length + servers[1]!.requests.length, 3);
});

t.test('a stream of messages is refused, and goes on elsewhere from its start', async (t) => {
  const origin = await startHttp2Origin(t);
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  c.send(frame(T.HEADERS, END_HEADERS, 1, block(call('/Up'))), frame(T.DATA, 0, 1, 'one '));
  const first = await origin.received(1);
  await waitFor(() => dataOf(first) === 'one ');
  c.send(frame(T.DATA, 0, 1, 'two '));
  await waitFor(() => dataOf(first) === 'one two ');
  first.connection.send(frame(T.GOAWAY, 0, 0, Buffer.concat([number32(0), number32(0)])));
  const second = await origin.received(2);
  t.equal(second.nth, 2);
  c.send(frame(T.DATA, END_STREAM, 1, 'three'));
  await waitFor(() => dataOf(second) === 'one two three', { what: () => dataOf(second) });
  answer(second, { headers: GRPC, body: 'all', trailers: OK });
  t.equal((await c.response(1)).body, 'all');

  c.send(frame(T.HEADERS, END_HEADERS, 3, block(call('/Up'))), frame(T.DATA, 0, 3, 'x'.repeat(20_000)));
  const third = await origin.received(3);
  await waitFor(() => dataOf(third).length === 20_000);
  third.connection.send(frame(T.RST, 0, third.id, number32(7)));
  t.equal((await c.response(3)).status, '502', 'what was too much to keep cannot go elsewhere');
});

t.test('a call that was discarded: nothing follows the reset, on either side', async (t) => {
  const head = (id: number): Buffer => frame(T.HEADERS, END_HEADERS, id, block([[':status', '200'], ...GRPC]));
  const trailers = (id: number): Buffer => frame(T.HEADERS, END_HEADERS | END_STREAM, id, block(OK));
  const cancel = (id: number): Buffer => frame(T.RST, 0, id, number32(8));
  const origin = await startHttp2Origin(t, ({ connection, id, fields }) => {
    const path = fields.get(':path');
    if (path === '/Together') {
      connection.send(head(id), frame(T.DATA, 0, id, 'part'), trailers(id), cancel(id));
    } else if (path === '/Later') {
      connection.send(head(id), frame(T.DATA, 0, id, 'part'));
      void connection.ping().then(() => connection.send(trailers(id), cancel(id)));
    }
  });
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  const discarded = async (id: number, path: string): Promise<void> => {
    c.request(id, call(path), 'x');
    const { body, reset, trailers: came } = await c.response(id);
    await c.ping();
    t.strictSame([body, reset, came], ['part', 8, []], `${path}: the backend broke it off`);
  };
  await discarded(1, '/Together');
  await discarded(3, '/Later');

  const kinds = (client: Http2Client, id: number): number[] => client.frames.filter((f) => f.id === id).map(({ type }) => type);
  for (const [id, answered] of [
    [5, false],
    [7, true],
  ] as const) {
    c.send(frame(T.HEADERS, END_HEADERS, id, block(call('/Up'))), frame(T.DATA, 0, id, 'one'));
    const got = await origin.received((id + 1) / 2);
    await waitFor(() => dataOf(got) === 'one');
    if (answered) {
      got.connection.send(head(got.id), frame(T.DATA, 0, got.id, 'part'));
      await c.frame((f) => f.type === T.DATA && f.id === id, 'a part of the answer');
    }
    c.send(cancel(id));
    t.equal(await got.connection.reset(got.id), 8, 'the client gave it up');
    got.connection.send(...(answered ? [] : [head(got.id)]), trailers(got.id));
    await got.connection.ping();
    await c.ping();
    t.strictSame(kinds(got.connection, got.id), [T.HEADERS, T.DATA, T.RST], 'what the backend got');
    t.strictSame(kinds(c, id), answered ? [T.HEADERS, T.DATA] : [], 'what the client got');
  }

  // Its trailers wait for room when the client gives it up.
  c.send(frame(T.SETTINGS, 0, 0, settings([4, 2])));
  await c.ping();
  c.request(9, call('/Full'), 'x');
  answer(await origin.received(5), { headers: GRPC, body: 'message', trailers: OK });
  await c.frame((f) => f.type === T.DATA && f.id === 9, 'a part of the answer');
  c.send(cancel(9), frame(T.WINDOW, 0, 9, number32(100)));
  await c.ping();
  t.strictSame(kinds(c, 9), [T.HEADERS, T.DATA]);
});

t.test('windows hold back either side', async (t) => {
  const origin = await startHttp2Origin(t, undefined, { settings: settings([4, 10]) });
  const s = await start(t, origin);
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/Warm'), 'x');
  answer(await origin.received(1), { headers: GRPC, trailers: OK });
  await c.response(1);
  c.request(3, call('/Slow'), 'twenty-five bytes of data');
  const got = await origin.received(2);
  await waitFor(() => dataOf(got) === 'twenty-fiv', { what: () => dataOf(got) });
  got.connection.send(frame(T.WINDOW, 0, got.id, number32(4)));
  await waitFor(() => dataOf(got) === 'twenty-five by', { what: () => dataOf(got) });
  got.connection.send(frame(T.SETTINGS, 0, 0, settings([4, 60])));
  await waitFor(() => dataOf(got) === 'twenty-five bytes of data', { what: () => dataOf(got) });
  answer(got, { headers: GRPC, body: 'done', trailers: OK });
  t.equal((await c.response(3)).body, 'done');
});

t.test('error_page makes statuses of gRPC', async (t) => {
  const origin = await startHttp2Origin(t);
  const { port } = origin;
  await origin.stop();
  const s = await startServer(t, {
    conf: serverConf(`http2 on;
      location / { grpc_pass 127.0.0.1:${port}; error_page 502 = @gone; }
      location @gone { default_type application/grpc; add_header grpc-status 14 always; add_header grpc-message unavailable always; return 204; }`),
  });
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/x'), 'x');
  const r = await c.response(1);
  t.equal(r.status, '204');
  t.equal(r.fields.get('grpc-status'), '14');
});

t.test('what the configuration may say', async (t) => {
  const message = (location: string): Promise<string | undefined> => configMessage(t, serverConf(`location / { ${location} }`));
  t.match(await message('grpc_pass grpc://127.0.0.1:1; grpc_pass grpc://127.0.0.1:2;'), /"grpc_pass" directive is duplicate/);
  t.match(await message('grpc_pass grpc://127.0.0.1:1; grpc_next_upstream updating;'), /invalid value "updating"/);
  t.match(await message('grpc_pass grpcs://127.0.0.1:1; grpc_ssl_verify on;'), /no grpc_ssl_trusted_certificate for grpc_ssl_verify/);
  t.match(await message('grpc_pass 127.0.0.1:1/uri;'), /invalid host in upstream/);
  t.match(await message('grpc_max_streams 0;'), /./);
});
