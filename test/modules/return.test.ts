import t from 'tap';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

t.test('return', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      default_type text/custom;
      location /text { return 200 "text with $arg_x"; }
      location /empty { return 200 ""; }
      location /bare { return 200; }
      location /json { default_type application/json; return 200 '{"a":1}'; }
      location /created { return 201 made; }
      location /204 { return 204 ignored; }
      location /404 { return 404 "own text"; }
      location /500 { return 500 "own text"; }
      location /url { return http://example.com/$arg_x; }
      location /https { return https://example.com/; }
      location /scheme { return $scheme://$host/x; }
      location /301 { return 301 /relative?$args; }
      location /302 { return 302 https://example.com$request_uri; }
      location /303 { return 303 /x; }
      location /307 { return 307 /x; }
      location /308 { return 308 /x; }
      location /304 { return 304; }
      location /spaces { return 301 "/a b"; }
      location /first { return 200 one; return 200 two; }`),
  });
  const text = await httpGet(s, '/text?x=y%20z');
  t.strictSame(
    [text.status, text.header('Content-Type'), text.header('Content-Length'), text.text],
    [200, 'text/custom', '15', 'text with y%20z'],
  );
  t.strictSame([(await httpGet(s, '/empty')).header('Content-Length'), (await httpGet(s, '/bare')).header('Content-Length')], ['0', '0']);
  t.strictSame([(await httpGet(s, '/json')).header('Content-Type'), (await httpGet(s, '/json')).text], ['application/json', '{"a":1}']);
  t.strictSame([(await httpGet(s, '/created')).status, (await httpGet(s, '/created')).text], [201, 'made']);
  const none = await httpGet(s, '/204');
  t.strictSame([none.status, none.header('Content-Length'), none.text], [204, undefined, '']);
  t.strictSame([(await httpGet(s, '/404')).status, (await httpGet(s, '/404')).text], [404, 'own text']);
  t.strictSame([(await httpGet(s, '/500')).status, (await httpGet(s, '/500')).text], [500, 'own text']);
  t.equal((await httpGet(s, '/first')).text, 'one');
  t.equal((await httpGet(s, '/304')).status, 304);

  const port = s.port(0);
  for (const [path, status, location] of [
    ['/url?x=1', 302, 'http://example.com/1'],
    ['/https', 302, 'https://example.com/'],
    ['/scheme', 302, 'http://localhost/x'],
    ['/301?q=1', 301, `http://localhost:${port}/relative?q=1`],
    ['/302?q', 302, 'https://example.com/302?q'],
    ['/303', 303, `http://localhost:${port}/x`],
    ['/307', 307, `http://localhost:${port}/x`],
    ['/308', 308, `http://localhost:${port}/x`],
    ['/spaces', 301, `http://localhost:${port}/a b`],
  ] as const) {
    const response = await httpGet(s, path);
    t.strictSame([response.status, response.header('Location')], [status, location], path);
    t.match(response.text, `<h1>${status} `);
  }
  t.equal((await http(s, requestText('POST', '/text', {}, 'body'))).status, 200, 'any method');
  t.equal((await http(s, requestText('HEAD', '/text'))).header('Content-Length'), '10');
});

t.test('return of a server', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server { listen 127.0.0.1:%%PORT_0%%; return 301 https://$host$request_uri; location / { return 200 never; } }
      server { listen 127.0.0.1:%%PORT_0%%; server_name closed; return 444; }
      server { listen 127.0.0.1:%%PORT_0%%; server_name reset; reset_timedout_connection on; return 444; }`),
  });
  t.equal((await httpGet(s, '/a?b', { Host: 'x.y:80' })).header('Location'), 'https://x.y/a?b');
  await t.rejects(httpGet(s, '/', { Host: 'closed' }), /ended without a response \(closed\)/);
  await t.rejects(httpGet(s, '/', { Host: 'reset' }), /ended without a response \(.*ECONNRESET/);
});

t.test("a backend's Content-Type stays when X-Accel-Redirect leads to a return", async (t) => {
  const origin = await startOrigin(t, ({ target }) => ({
    headers: { 'X-Accel-Redirect': target, 'Content-Type': 'text/of-backend; charset=x' },
  }));
  const s = await startServer(t, {
    conf: serverConf(`
      location /ask/ { proxy_pass http://127.0.0.1:${origin.port}/; }
      location /text { return 200 text; }
      location /missing { return 404; }
      location /missing-text { return 404 text; }
      location /page { error_page 404 = /text; return 404; }`),
  });
  for (const [path, type] of [
    ['/ask/text', 'text/of-backend; charset=x'],
    ['/ask/missing-text', 'text/of-backend; charset=x'],
    ['/ask/missing', 'text/html; charset=x'],
    ['/ask/page', 'text/plain; charset=x'],
    ['/text', 'text/plain'],
  ] as const) {
    t.equal((await httpGet(s, path)).header('Content-Type'), type, path);
  }
});

t.test('the text of a return is made before the type is', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { return 200 "[$sent_http_content_type|$status|$sent_http_content_length]"; }'),
  });
  const response = await httpGet(s, '/');
  t.equal(response.text, '[|200|]');
  t.equal(response.header('Content-Type'), 'text/plain');
});
