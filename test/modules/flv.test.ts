import { mkdirSync, statSync } from 'node:fs';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { exchange, http, httpGet, pipeline, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const HEADER = Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0', 'latin1');
const small = Buffer.from(Array.from({ length: 1000 }, (_, i) => 97 + (i % 26)));
const large = Buffer.from(Array.from({ length: 700_001 }, (_, i) => (i * 7 + (i >> 8)) % 251));
const files = {
  'html/a.flv': small,
  'html/large.flv': large,
  'html/empty.flv': '',
  'html/folder.flv/x': 'x',
  'html/index.html': 'the index',
};
const conf = serverConf('types { video/x-flv flv; } location / { flv; }');

const s = await startServer(t, { conf, files });

t.test('a film from a byte on', async (t) => {
  for (const [name, whole] of [
    ['a', small],
    ['large', large],
  ] as const) {
    for (const [args, start] of [
      ['?start=100', 100],
      ['?START=100', 100],
      ['?a=b&start=1&start=2', 1],
      [`?start=${whole.length - 1}`, whole.length - 1],
      ['?start=00017', 17],
    ] as const) {
      const response = await httpGet(s, `/${name}.flv${args}`);
      t.equal(response.status, 200);
      t.equal(response.header('content-length'), String(HEADER.length + whole.length - start), args);
      t.equal(response.header('content-type'), 'video/x-flv');
      t.equal(response.header('accept-ranges'), 'bytes');
      t.ok(response.body.equals(Buffer.concat([HEADER, whole.subarray(start)])), args);
    }
    const out = [whole.length, `${whole.length}0`, '9223372036854775807', '99999999999999999999', '-1', '1.5', '+1', '1k', '', '%31', '0'];
    for (const start of out) {
      const response = await httpGet(s, `/${name}.flv?start=${start}`);
      t.equal(response.header('content-length'), String(whole.length), `start=${start}`);
      t.ok(response.body.equals(whole), `start=${start}`);
    }
    for (const args of ['', '?', '?x', '?start', '?xstart=5', '?a=1;start=5']) {
      t.ok((await httpGet(s, `/${name}.flv${args}`)).body.equals(whole), args);
    }
  }
  t.equal((await httpGet(s, '/empty.flv?start=1')).text, '');
});

t.test('methods, folders, files that are not there', async (t) => {
  mkdirSync(`${s.dir}/html/folder2`);
  t.equal((await http(s, requestText('POST', '/a.flv?start=5', { Connection: 'close' }, 'x'))).status, 405);
  t.equal((await http(s, requestText('DELETE', '/a.flv', { Connection: 'close' }))).status, 405);
  t.equal((await httpGet(s, '/nothing.flv?start=5')).status, 404);
  t.match(await s.logged('nothing'), /\[error\] .*open\(\) "\S+\/html\/nothing\.flv" failed \(2: No such file or directory\)/);
  t.equal((await httpGet(s, '/a.flv/b?start=5')).status, 404);
  t.equal((await httpGet(s, '/folder.flv?start=5')).status, 301);
  t.match((await httpGet(s, '/')).text, 'the index');
  t.equal((await httpGet(s, '/folder2/?start=5')).status, 403);
  const get = requestText('GET', '/a.flv?start=998', {}, 'a body');
  const [first, second] = await pipeline(s, [get, requestText('GET', '/a.flv?start=999', { Connection: 'close' })]);
  t.ok(first!.body.equals(Buffer.concat([HEADER, small.subarray(998)])), 'a body of the request is no part of the next one');
  t.ok(second!.body.equals(Buffer.concat([HEADER, small.subarray(999)])));
});

t.test('conditions and ranges', async (t) => {
  for (const [name, whole] of [
    ['a', small],
    ['large', large],
  ] as const) {
    const path = `/${name}.flv?start=500`;
    const body = Buffer.concat([HEADER, whole.subarray(500)]);
    const first = await httpGet(s, path);
    const mtime = Math.floor(statSync(`${s.dir}/html/${name}.flv`).mtimeMs / 1000);
    t.equal(first.header('etag'), `"${mtime.toString(16)}-${body.length.toString(16)}"`);
    t.equal(first.header('last-modified'), new Date(mtime * 1000).toUTCString());
    t.equal((await httpGet(s, path, { 'If-None-Match': first.header('etag')! })).status, 304);
    t.equal((await httpGet(s, path, { 'If-Modified-Since': first.header('last-modified')! })).status, 304);
    const head = await http(s, requestText('HEAD', path, { Connection: 'close' }));
    t.equal(head.header('content-length'), String(body.length));
    for (const [range, start, end] of [
      ['0-4', 0, 5],
      ['5-12', 5, 13],
      ['0-12', 0, 13],
      ['10-20', 10, 21],
      ['13-20', 13, 21],
      ['20-', 20, body.length],
      ['-7', body.length - 7, body.length],
      ['0-', 0, body.length],
    ] as const) {
      const response = await httpGet(s, path, { Range: `bytes=${range}` });
      t.equal(response.status, 206);
      t.equal(response.header('content-range'), `bytes ${start}-${end - 1}/${body.length}`);
      t.ok(response.body.equals(body.subarray(start, end)), range);
    }
    t.equal((await httpGet(s, path, { Range: `bytes=${body.length}-` })).status, 416);
    const several = await httpGet(s, `/${name}.flv`, { Range: 'bytes=0-1,5-6' });
    t.match(several.header('content-type'), /^multipart\/byteranges; boundary=/);
    // The header alone is one piece of nginx's; of ranges beyond it, it says that they are "in overlapped buffers".
    const ofHeader = await httpGet(s, path, { Range: 'bytes=0-2,5-6' });
    t.equal(ofHeader.status, 206);
  }
});

t.test('HTTP/1.0, and a location with an alias', async (t) => {
  const s = await startServer(t, { conf: serverConf('location /films/ { flv; alias %%DIR%%/html/; }'), files });
  const answer = await exchange(s, 'GET /films/a.flv?start=990 HTTP/1.0\r\n\r\n');
  t.equal(answer.slice(answer.indexOf('\r\n\r\n') + 4), `${HEADER.toString('latin1')}${small.toString('latin1', 990)}`);
});

t.test('messages of -t', async (t) => {
  t.equal(await configMessage(t, httpConf('flv;')), '"flv" directive is not allowed here in %%FILE%%:6');
  t.equal(await configMessage(t, serverConf('location / { flv on; }')), 'invalid number of arguments in "flv" directive in %%FILE%%:11');
  t.equal(await configMessage(t, serverConf('location / { flv; flv; }')), undefined);
});
