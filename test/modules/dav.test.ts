import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { http, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('dav', async (t) => {
  const s = await startServer(t, {
    asRoot: true,
    conf: serverConf(`
      absolute_redirect off;
      dav_methods PUT DELETE MKCOL COPY MOVE;
      location / { }
      location /full/ { create_full_put_path on; dav_access user:rw group:r all:r; }
      location /min/ { min_delete_depth 3; }
      location /alias/ { alias %%DIR%%/html/; }
      location /some { dav_methods off; dav_methods PUT; location /some/none { dav_methods off; } }
    `),
    files: {
      'html/min/a/b': 'b',
      'html/tree/x': 'x',
      'html/tree/sub/y': 'y',
      'html/kept/z': 'z',
      'html/some/f': '1',
      'html/old': 'old',
    },
  });
  const html = `${s.dir}/html`;
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body = '') =>
    http(s, requestText(method, path, { Connection: 'close', ...headers }, body));
  const status = async (...args: Parameters<typeof ask>) => (await ask(...args)).status;
  const text = (path: string) => readFileSync(`${html}/${path}`, 'latin1');

  const made = await ask('PUT', '/new%20file', { Date: 'Thu, 01 Jan 2026 00:00:00 GMT' }, 'content');
  t.strictSame([made.status, made.header('Location'), made.header('Content-Length'), made.text], [201, '/new%20file', '0', '']);
  t.equal(text('new file'), 'content');
  t.equal(statSync(`${html}/new file`).mtimeMs, Date.UTC(2026, 0, 1));
  t.equal(statSync(`${html}/new file`).mode & 0o777, 0o600);
  t.equal(await status('PUT', '/new%20file', { 'Content-Length': '0' }), 204, 'nothing is a body, too');
  t.equal(text('new file'), '');
  const large = 'l'.repeat(100_000);
  t.equal(await status('PUT', '/new%20file', {}, large), 204);
  t.ok(text('new file') === large, 'a large body');
  t.equal(await status('PUT', '/full/a/b/c', {}, 'deep'), 201);
  t.equal(text('full/a/b/c'), 'deep');
  t.equal(statSync(`${html}/full/a/b/c`).mode & 0o777, 0o644);
  t.equal(await status('PUT', '/f'), 500, 'no body at all');
  t.equal(await status('PUT', '/no/such/folder', {}, 'x'), 500);
  t.equal(await status('PUT', '/tree', {}, 'x'), 409);
  t.equal(await status('PUT', '/tree/', {}, 'x'), 409);
  t.equal(await status('PUT', '/f', { 'Content-Range': 'bytes 0-1/2' }, 'x'), 501);

  const collection = await ask('MKCOL', '/col/');
  t.strictSame([collection.status, collection.header('Location')], [201, '/col/']);
  t.ok(statSync(`${html}/col`).isDirectory());
  for (const [path, expected, headers, body] of [
    ['/col/', 405],
    ['/col', 409],
    ['/a/b/c/', 409],
    ['/d/', 415, {}, 'body'],
  ] as const) {
    t.equal(await status('MKCOL', path, headers, body), expected, `MKCOL ${path}`);
  }

  for (const [method, path, headers, expected] of [
    ['COPY', '/old', {}, 400],
    ['COPY', '/old', { Destination: 'http://other/x' }, 400],
    ['COPY', '/old', { Destination: 'ftp://localhost/x' }, 400],
    ['COPY', '/old', { Destination: '/../x' }, 400],
    ['COPY', '/old', { Destination: '/x/' }, 409],
    ['COPY', '/old', { Destination: '/x', Depth: '1' }, 400],
    ['MOVE', '/old', { Destination: '/x', Depth: '0' }, 400],
    ['COPY', '/old', { Destination: '/x', Overwrite: 'maybe' }, 400],
    ['COPY', '/old', { Destination: '/old' }, 403],
    ['COPY', '/tree/', { Destination: '/tree/inner/' }, 403],
    ['COPY', '/old', { Destination: '/col' }, 409],
    ['COPY', '/old', { Destination: '/new%20file', Overwrite: 'F' }, 412],
    ['COPY', '/missing', { Destination: '/x' }, 404],
    ['COPY', '/tree', { Destination: '/x' }, 400],
    ['COPY', '/alias/old', { Destination: '/' }, 409],
    ['COPY', '/alias/old', { Destination: '/x' }, 400],
    ['COPY', '/old', { Destination: 'http://localhost:80/copy%20of' }, 204],
    ['COPY', '/tree/', { Destination: '/kept/' }, 201],
    ['MOVE', '/copy%20of', { Destination: '/far/away' }, 204],
    ['MOVE', '/kept/', { Destination: '/moved/' }, 201],
  ] as const) {
    t.equal(await status(method, path, headers), expected, `${method} ${path} ${JSON.stringify(headers)}`);
  }
  t.strictSame([text('far/away'), existsSync(`${html}/copy of`)], ['old', false]);
  t.strictSame([text('moved/x'), text('moved/sub/y'), existsSync(`${html}/moved/z`), existsSync(`${html}/kept`)], ['x', 'y', false, false]);

  mkdirSync(`${html}/linked`);
  symlinkSync(`${html}/tree`, `${html}/linked/link`);
  for (const [path, headers, expected] of [
    ['/min/a/', {}, 409],
    ['/min/a/b', {}, 204],
    ['/tree', {}, 409],
    ['/tree/', { Depth: '0' }, 400],
    ['/old', { Depth: '1' }, 400],
    ['/old/', {}, 409],
    ['/old', { Depth: '0' }, 204],
    ['/old', {}, 404],
    ['/moved/', {}, 204],
  ] as const) {
    t.equal(await status('DELETE', path, headers), expected, `DELETE ${path} ${JSON.stringify(headers)}`);
  }
  t.strictSame([existsSync(`${html}/old`), existsSync(`${html}/moved`)], [false, false]);
  t.equal(await status('DELETE', '/col/', {}, 'body'), 415);
  t.equal(await status('PUT', '/some/f', {}, '2'), 204);
  t.equal(await status('DELETE', '/some/f'), 405);
  t.equal(await status('PUT', '/some/none', {}, '2'), 405);
  for (const line of [
    'cannot PUT to a collection',
    'insufficient URI depth:3 to DELETE',
    'client sent no "Destination" header',
    'point to the same location',
  ]) {
    await s.logged(line);
  }
});

t.test('configuration', async (t) => {
  t.match(await configMessage(t, serverConf('dav_methods GET;')), /invalid value "GET"/);
  t.match(await configMessage(t, serverConf('dav_access user:x;')), /invalid value "user:x"/);
});
