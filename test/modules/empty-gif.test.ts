import t from 'tap';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('empty_gif', async (t) => {
  const s = await startServer(t, { conf: serverConf('location = /dot { empty_gif; }') });
  const response = await httpGet(s, '/dot');
  t.strictSame(
    ['Content-Type', 'Content-Length', 'Last-Modified', 'ETag', 'Accept-Ranges'].map((name) => response.header(name)),
    ['image/gif', '43', 'Mon, 28 Sep 1970 06:00:00 GMT', undefined, undefined],
  );
  t.equal(response.body.toString('hex', 0, 10), '47494638396101000100');
  t.equal(response.body.toString('base64'), 'R0lGODlhAQABAIABAAAAAP///yH5BAEAAAEALAAAAAABAAEAAAICTAEAOw==');
  t.equal((await http(s, requestText('HEAD', '/dot'))).header('Content-Length'), '43');
  t.equal((await httpGet(s, '/dot', { 'If-Modified-Since': 'Mon, 28 Sep 1970 06:00:00 GMT' })).status, 304);
  t.equal((await http(s, requestText('POST', '/dot'))).status, 405);
});
