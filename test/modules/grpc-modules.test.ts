// gRPC together with the modules that decide before a call, limit it, and log it.
import t, { type Test } from 'tap';
import { block, END_HEADERS, END_STREAM, type FieldText, frame, Http2Client, number32, request, T } from '../support/http2-client.js';
import { answer, dataOf, type Http2Origin, startHttp2Origin } from '../support/http2-origin.js';
import { startOrigin } from '../support/origin.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const [NO_ERROR, CANCEL] = [0, 8];
const GRPC: readonly FieldText[] = [['content-type', 'application/grpc']];
const call = (path: string, ...others: readonly FieldText[]): FieldText[] =>
  request('POST', path, ['content-type', 'application/grpc'], ['te', 'trailers'], ...others);
const head = (id: number, path: string): Buffer => frame(T.HEADERS, END_HEADERS, id, block(call(path)));

/** Errors of the server as gRPC has them. */
const STATUSES = `
  error_page 401 403 = @unauthenticated;
  error_page 413 503 = @exhausted;
  error_page 504 = @late;
  location @unauthenticated { default_type application/grpc; add_header grpc-status 16 always; return 204; }
  location @exhausted { default_type application/grpc; add_header grpc-status 8 always; return 204; }
  location @late { default_type application/grpc; add_header grpc-status 4 always; return 204; }`;

const start = (t: Test, origin: Http2Origin, server: string, http = ''): Promise<Server> =>
  startServer(t, {
    conf: serverConf(
      `http2 on; access_log %%DIR%%/grpc.log calls; ${STATUSES} ${server}`,
      `upstream u { server 127.0.0.1:${origin.port}; keepalive 4; }
       log_format calls '$request_uri $status $grpc_status $upstream_status $upstream_trailer_x_cost $sent_trailer_grpc_status;'; ${http}`,
    ),
  });

/** A server whose calls end well at once, but those of `/Wait`, which the test ends. */
const calls = (t: Test): Promise<Http2Origin> =>
  startHttp2Origin(t, (got) => {
    if (!got.fields.get(':path')!.startsWith('/Wait')) {
      answer(got, {
        headers: GRPC,
        body: 'well',
        trailers: [
          ['grpc-status', '0'],
          ['x-cost', '7'],
        ],
      });
    }
  });

async function status(c: Http2Client, id: number): Promise<string | undefined> {
  const { fields, trailers } = await c.response(id);
  return fields.get('grpc-status') ?? trailers.find(([name]) => name === 'grpc-status')?.[1];
}

const logged = (s: Server, text: string): Promise<unknown> =>
  waitFor(() => s.read('grpc.log').includes(text), { what: () => `"${text}" in ${s.read('grpc.log')}` });

t.test('auth_request', async (t) => {
  const guard = await startOrigin(t, ({ header }) => ({ status: header('x-token') === 'good' ? 204 : 401 }));
  const origin = await calls(t);
  const s = await start(
    t,
    origin,
    `location / { auth_request /auth; auth_request_set $who $upstream_status; grpc_set_header X-Who $who; grpc_pass u; }
     location = /auth { internal; proxy_pass http://127.0.0.1:${guard.port}; proxy_pass_request_body off; proxy_set_header Content-Length ""; }`,
  );
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/Greeter/Hello'), 'unasked');
  t.equal(await status(c, 1), '16');
  t.equal(origin.requests.length, 0);
  c.request(3, call('/Greeter/Hello', ['x-token', 'good']), 'message');
  t.equal(await status(c, 3), '0');
  const got = await origin.received(1);
  t.equal(got.fields.get('x-who'), '204');
  t.equal(dataOf(got), 'message');
  // Messages that come while the guard thinks, and behind that.
  const fields = [...call('/Wait', ['x-token', 'good'])];
  c.send(frame(T.HEADERS, END_HEADERS, 5, block(fields)), frame(T.DATA, 0, 5, 'one '));
  const stream = await origin.received(2);
  await waitFor(() => dataOf(stream) === 'one ');
  c.send(frame(T.DATA, 0, 5, 'two'));
  await waitFor(() => dataOf(stream) === 'one two');
  answer(stream, { headers: GRPC, trailers: [['grpc-status', '5']] });
  t.equal(await status(c, 5), '5');
  await logged(s, '/Greeter/Hello 204');
});

t.test('limit_req', async (t) => {
  const origin = await calls(t);
  const s = await start(
    t,
    origin,
    'location / { limit_req zone=r; grpc_pass u; }',
    'limit_req_zone $binary_remote_addr zone=r:64k rate=1r/m;',
  );
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/one'), 'x');
  t.equal(await status(c, 1), '0');
  c.request(3, call('/two'), 'x');
  t.equal(await status(c, 3), '8');
  // A stream that is refused while its client goes on sending.
  c.send(head(5, '/three'), frame(T.DATA, 0, 5, 'more'));
  t.equal(await status(c, 5), '8');
  t.equal(await c.reset(5), NO_ERROR);
  t.equal(origin.requests.length, 1);
});

t.test('limit_conn counts calls', async (t) => {
  const origin = await calls(t);
  const s = await start(t, origin, 'location / { limit_conn c 2; grpc_pass u; }', 'limit_conn_zone $server_name zone=c:64k;');
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/Wait/1'), 'x').request(3, call('/Wait/2'), 'x');
  const second = await origin.received(2);
  c.request(5, call('/three'), 'x');
  t.equal(await status(c, 5), '8');
  answer(second, { headers: GRPC, trailers: [['grpc-status', '0']] });
  t.equal(await status(c, second.fields.get(':path') === '/Wait/1' ? 1 : 3), '0');
  await logged(s, '/Wait/');
  c.request(7, call('/four'), 'x');
  t.equal(await status(c, 7), '0');
});

t.test('client_max_body_size', async (t) => {
  const origin = await calls(t);
  const s = await start(t, origin, 'location / { client_max_body_size 100; grpc_pass u; }');
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/large', ['content-length', '101']), 'x'.repeat(101));
  t.equal(await status(c, 1), '8');
  t.equal(origin.requests.length, 0);
  c.request(3, call('/fits', ['content-length', '100']), 'x'.repeat(100));
  t.equal(await status(c, 3), '0');
  // A stream of messages whose sum is too much: before the head of the response, and behind it.
  c.send(head(5, '/Wait/before'), frame(T.DATA, 0, 5, 'x'.repeat(60)));
  const before = await origin.received(2);
  await waitFor(() => dataOf(before).length === 60);
  c.send(frame(T.DATA, 0, 5, 'x'.repeat(60)));
  t.equal(await status(c, 5), '8');
  t.equal(await before.connection.reset(before.id), CANCEL);
  c.send(head(7, '/Wait/after'), frame(T.DATA, 0, 7, 'x'.repeat(60)));
  const after = await origin.received(3);
  after.connection.send(frame(T.HEADERS, END_HEADERS, after.id, block([[':status', '200'], ...GRPC])));
  await c.frame((f) => f.id === 7 && f.fields !== undefined, 'the head');
  c.send(frame(T.DATA, 0, 7, 'x'.repeat(60)));
  t.ok(await c.reset(7), 'the call breaks off');
  t.equal(await after.connection.reset(after.id), CANCEL);
  t.ok(dataOf(after).length <= 100);
});

t.test('the access log, and how calls end', async (t) => {
  const origin = await calls(t);
  const s = await start(t, origin, 'location / { grpc_read_timeout 1s; grpc_pass u; }');
  const c = await Http2Client.connect(t, s.port(0));
  c.request(1, call('/well', ['grpc-timeout', '30S']), 'x');
  t.equal(await status(c, 1), '0');
  t.equal((await origin.received(1)).fields.get('grpc-timeout'), '30S');
  await logged(s, '/well 200 0 200 7 0;');

  c.request(3, call('/Wait/late'), 'x');
  t.equal(await status(c, 3), '4', 'grpc_read_timeout');
  const late = await origin.received(2);
  t.equal(await late.connection.reset(late.id), CANCEL, 'the server hears that nobody waits');
  await logged(s, '/Wait/late 204 - 504 - -;');

  c.request(5, call('/Wait/cancelled'), 'x');
  const cancelled = await origin.received(3);
  c.send(frame(T.RST, 0, 5, number32(CANCEL)));
  t.equal(await cancelled.connection.reset(cancelled.id), CANCEL);
  await logged(s, '/Wait/cancelled 499 - - - -;');

  c.request(7, call('/Wait/broken'), 'x');
  const broken = await origin.received(4);
  broken.connection.send(
    frame(T.HEADERS, END_HEADERS, broken.id, block([[':status', '200'], ...GRPC])),
    frame(T.DATA, 0, broken.id, 'part'),
    frame(T.RST, 0, broken.id, number32(11)),
  );
  t.equal(await c.reset(7), 11);
  await logged(s, '/Wait/broken 200 - 200 - -;');

  // A status of HTTP stands for the server's own answer.
  c.request(9, call('/Wait/status'), 'x');
  answer(await origin.received(5), { status: 503, body: 'no' });
  t.equal((await c.response(9)).status, '503');
  await logged(s, '/Wait/status 503 - 503 - -;');

  // Trailers of a response that has no body at all.
  c.request(11, call('/Wait/none'), 'x');
  answer(await origin.received(6), { headers: GRPC, trailers: [['grpc-status', '3']] });
  t.equal(await status(c, 11), '3');
  await logged(s, '/Wait/none 200 3 200 - 3;');
  t.notOk(
    c.frames.some((f) => f.type === T.GOAWAY),
    'one connection for all',
  );
  t.notOk(
    c.frames.some((f) => f.id === 11 && f.type === T.DATA && (f.flags & END_STREAM) !== 0),
    'the trailers end it',
  );
});
