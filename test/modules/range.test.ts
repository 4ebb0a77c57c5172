import { utimesSync } from 'node:fs';
import t from 'tap';
import { frame, Http2Client, number32, request, T } from '../support/http2-client.js';
import { http, httpGet, type Response } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';
import { waitFor } from '../support/wait.js';

const content = '0123456789abcdefghijklmnopqrstuvwxyz';

t.test('ranges', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      types { text/plain txt; }
      server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html;
        location / { }
        location /two.txt { max_ranges 2; alias %%DIR%%/html/f.txt; }
        location /none.txt { max_ranges 0; alias %%DIR%%/html/f.txt; }
        location /r { return 200 "0123456789"; } }`),
    files: { 'html/f.txt': content, 'html/empty.txt': '', 'html/large.txt': Buffer.alloc(3_000_000, content) },
  });
  const range = (value: string, path = '/f.txt', more = {}) => httpGet(s, path, { Range: value, ...more });

  t.test('one range', async (t) => {
    const rows: readonly [range: string, status: number, contentRange?: string, text?: string][] = [
      ['bytes=0-0', 206, '0-0', '0'],
      ['bytes=0-9', 206, '0-9', '0123456789'],
      ['bytes=10-', 206, '10-35', content.slice(10)],
      ['bytes=-5', 206, '31-35', 'vwxyz'],
      ['bytes=-100', 206, '0-35', content],
      ['bytes=30-1000', 206, '30-35', 'uvwxyz'],
      ['bytes=35-', 206, '35-35', 'z'],
      ['bytes= 1 - 2 ', 206, '1-2', '12'],
      ['bytes=0-35', 206, '0-35', content],
      ['BYTES=1-2', 206, '1-2', '12'],
      ['bytes=36-', 416],
      ['bytes=1000-2000', 416],
      ['bytes=-0', 416],
      ['bytes=5-4', 416],
      ['bytes=', 200],
      ['bytes=-', 416],
      ['bytes=a-b', 416],
      ['bytes=1', 416],
      ['bytes=1-2-3', 416],
      ['bytes=99999999999999999999-', 416],
      ['items=0-1', 200],
      ['bytes 0-1', 200],
    ];
    for (const [value, status, contentRange, text] of rows) {
      const response = await range(value);
      t.equal(response.status, status, value);
      if (status === 206) {
        t.equal(response.header('Content-Range'), `bytes ${contentRange}/36`, value);
        t.equal(response.text, text, value);
        t.equal(response.header('Accept-Ranges'), undefined);
      }
      if (status === 416) {
        t.equal(response.header('Content-Range'), 'bytes */36', value);
      }
      if (status === 200) {
        t.equal(response.text, content, value);
      }
    }
    const head = await http(s, 'HEAD /f.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=1-3\r\n\r\n');
    t.strictSame([head.status, head.header('Content-Length'), head.header('Content-Range')], [206, '3', 'bytes 1-3/36']);
    t.equal((await http(s, 'GET /f.txt HTTP/1.0\r\nRange: bytes=1-3\r\n\r\n')).text, '123', 'HTTP/1.0 too');
    t.equal((await range('bytes=0-1', '/none.txt')).status, 200);
    t.equal((await range('bytes=0-1', '/none.txt')).header('Accept-Ranges'), undefined);
    t.equal((await range('bytes=0-1', '/r')).status, 200, 'only files');
    t.equal((await range('bytes=0-1', '/empty.txt')).status, 200);
  });

  t.test('several ranges', async (t) => {
    const parts = (response: Response) => {
      const boundary = /^multipart\/byteranges; boundary=(\d{20})$/.exec(response.header('Content-Type')!)?.[1];
      t.ok(boundary, 'the boundary');
      t.ok(response.text.startsWith(`\r\n--${boundary}\r\n`));
      t.ok(response.text.endsWith(`\r\n--${boundary}--\r\n`));
      return response.text.split(`\r\n--${boundary}`).slice(1, -1);
    };
    const response = await range('bytes=0-1,10-12, -2');
    t.equal(response.status, 206);
    t.equal(response.header('Content-Range'), undefined);
    t.strictSame(parts(response), [
      '\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/36\r\n\r\n01',
      '\r\nContent-Type: text/plain\r\nContent-Range: bytes 10-12/36\r\n\r\nabc',
      '\r\nContent-Type: text/plain\r\nContent-Range: bytes 34-35/36\r\n\r\nyz',
    ]);
    t.equal(Number(response.header('Content-Length')), response.body.length);
    t.equal((await range('bytes=0-1, 100-200')).header('Content-Range'), 'bytes 0-1/36', 'what cannot be met does not count');
    t.equal((await range('bytes=100-200, 300-')).status, 416);
    t.equal((await range('bytes=3-4, 1-2')).status, 206, 'in any order');
    t.equal((await range('bytes=0-35, 0-35')).status, 200, 'more than the whole file is the whole file');
    t.equal((await range('bytes=0-1,2-3', '/two.txt')).status, 206);
    t.equal((await range('bytes=0-1,2-3,4-5', '/two.txt')).status, 200, 'more than max_ranges');
    t.equal((await range('bytes=0-1,x')).status, 416);
    const large = await range('bytes=0-999999,2000000-2999999', '/large.txt');
    const whole = content.repeat(90_000);
    t.strictSame(
      parts(large).map((part) => part.slice(part.indexOf('\r\n\r\n') + 4)),
      [whole.slice(0, 1_000_000), whole.slice(2_000_000, 3_000_000)],
    );
  });

  t.test('If-Range', async (t) => {
    const time = new Date('2024-05-06T07:08:09Z');
    utimesSync(`${s.dir}/html/f.txt`, time, time);
    const etag = (await httpGet(s, '/f.txt')).header('ETag')!;
    const status = async (condition: string) => (await range('bytes=0-1', '/f.txt', { 'If-Range': condition })).status;
    t.equal(await status(etag), 206);
    t.equal(await status(time.toUTCString()), 206);
    t.equal(await status('"other"'), 200);
    t.equal(await status(`W/${etag}`), 200);
    t.equal(await status(new Date(time.getTime() - 1000).toUTCString()), 200);
    t.equal(await status(new Date(time.getTime() + 1000).toUTCString()), 200);
    t.equal(await status('x'), 200);
  });

  t.test('a range of a large file', async (t) => {
    const response = await range('bytes=1234567-2345678', '/large.txt');
    t.equal(response.text, content.repeat(90_000).slice(1234567, 2345679));
  });
});

t.test('variables about a response keep the value that they had when a header was made of them', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      'types { text/plain txt; } add_header X-Type "$sent_http_content_type|$sent_http_content_length|$sent_http_content_range" always;',
    ),
    files: { 'html/a.txt': '0123456789' },
  });
  const found = await httpGet(s, '/a.txt', { Range: 'bytes=99-' });
  t.strictSame([found.status, found.header('content-range')], [416, 'bytes */10']);
  // The headers of the response that was to be stay in that of the error.
  t.strictSame(found.all('x-type'), ['text/plain|10|', 'text/plain|10|']);
});

t.test('over HTTP/2 a range ends where it ends, though the backend goes on', async (t) => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n\r\n`;
  const backend = await startTcpBackend(t, (socket) => socket.write(head + content.slice(0, 12)));
  const s = await startServer(t, {
    conf: serverConf(
      `http2 on; access_log %%DIR%%/access.log seen;
       location / { proxy_pass http://127.0.0.1:${backend.port}; proxy_force_ranges on; proxy_buffering off; }
       location /trailer { proxy_pass http://127.0.0.1:${backend.port}; proxy_force_ranges on; proxy_buffering off; add_trailer X-Trailer $status; }`,
      'log_format seen "$uri $status $body_bytes_sent $request_completion";',
    ),
  });
  const client = await Http2Client.connect(t, s.port(0));
  const ask = (id: number, path: string) => client.request(id, request('GET', path, ['range', 'bytes=2-5']));
  const lines = (): string[] => s.read('access.log').trim().split('\n');

  ask(1, '/whole');
  t.match(await client.response(1), { status: '206', body: '2345', reset: undefined });
  t.equal(s.read('access.log'), '', 'the request goes on');
  backend.sockets[0]!.end(content.slice(12));
  await waitFor(() => lines().includes('/whole 206 4 OK'));

  ask(3, '/broken');
  t.match(await client.response(3), { status: '206', body: '2345', reset: undefined });
  backend.sockets[1]!.destroy();
  await waitFor(() => lines().includes('/broken 206 4 OK'));

  ask(5, '/left');
  t.match(await client.response(5), { status: '206', body: '2345', reset: undefined });
  client.send(frame(T.RST, 0, 5, number32(8)));
  await client.ping();

  ask(7, '/trailer');
  await client.frame(({ type, id }) => type === T.DATA && id === 7, 'data');
  backend.sockets[3]!.end(content.slice(12));
  t.match(await client.response(7), { status: '206', body: '2345', reset: undefined, trailers: [['x-trailer', '206']] });
  await client.ping();
  t.notOk(client.frames.some(({ type }) => type === T.RST || type === T.GOAWAY));
});
