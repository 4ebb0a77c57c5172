import { readFileSync } from 'node:fs';
import t from 'tap';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('$error_reason: why the server itself refused', async (t) => {
  const origin = await startOrigin(t, { status: 404, body: 'own page' });
  const silent = await startOrigin(t, async (_request, reply) => void (await reply.gone()));
  const s = await startServer(t, {
    conf: serverConf(
      `
      add_header X-Reason $error_reason always;
      location /deny {
        deny all;
      }
      location /any { satisfy any; deny 127.0.0.0/8; auth_basic x; auth_basic_user_file none; }
      location /return { return 410; }
      location /text { return 451 text; }
      location /quiet { log_not_found off; }
      location /try { try_files $uri $uri/ =404; }
      location /internal { internal; }
      location /small { client_max_body_size 1; }
      location /limited { limit_req zone=rate; }
      location /backends { proxy_pass http://group; proxy_read_timeout 200ms; }
      location /passed { proxy_pass http://127.0.0.1:${origin.port}; }
      location /intercepted { proxy_pass http://127.0.0.1:${origin.port}; proxy_intercept_errors on; error_page 404 /page; }
      location /page { return 200 page; }
      location /to { error_page 403 /shown?why=$error_reason; deny all; }
      location /shown { return 200 $arg_why; }`,
      `limit_req_zone $server_name zone=rate:32k rate=1r/m;
      upstream group { server 127.0.0.1:1; server 127.0.0.1:${silent.port}; }`,
    ),
    files: { 'html/ok': 'ok' },
  });
  const { dir } = s;
  const reason = async (path: string): Promise<string | undefined> => (await httpGet(s, path)).header('x-reason')?.replaceAll(dir, 'DIR');
  t.equal(await reason('/ok'), undefined);
  t.match(await reason('/deny'), /^access forbidden by rule "deny all" in DIR\/sluice.conf:\d+$/);
  t.match(await reason('/return'), /^"return 410" in DIR\/sluice.conf:\d+$/);
  t.match(await reason('/text'), /^"return 451" in DIR\/sluice.conf:\d+$/);
  t.equal(await reason('/missing'), 'open() "DIR/html/missing" failed (2: No such file or directory)');
  t.equal(await reason('/quiet'), 'open() "DIR/html/quiet" failed (2: No such file or directory)');
  t.equal(await reason('/try'), 'try_files found none of "DIR/html/try", "DIR/html/try"');
  t.equal(await reason('/internal'), 'location "/internal" is internal');
  t.equal(await reason('/passed'), undefined, "a backend's own answer");
  t.equal(await reason('/intercepted'), `127.0.0.1:${origin.port}: status 404`);
  await httpGet(s, '/limited');
  t.match(await reason('/limited'), /^limiting requests, excess: \d+\.\d+ by zone "rate"$/);
  t.equal(
    await reason('/backends'),
    `127.0.0.1:1: connect() failed (111: Connection refused), 127.0.0.1:${silent.port}: upstream timed out`,
  );
  const large = await http(s, requestText('POST', '/small', { Connection: 'close' }, 'large'));
  t.equal(large.header('x-reason'), 'client intended to send too large body: 5 bytes');
  t.match((await httpGet(s, '/to')).text, /^access forbidden by rule "deny all" in /);
});

t.test('$error_reason in an access log', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      log_format why '$status $error_reason';
      server { listen 127.0.0.1:%%PORT_0%%; access_log %%DIR%%/why.log why; location / { deny all; } }`),
  });
  await httpGet(s, '/');
  await waitFor(() => /^403 access forbidden by rule \\x22deny all\\x22 in .*sluice\.conf:\d+\n$/.test(s.read('why.log')), {
    what: () => s.read('why.log'),
  });
});

t.test('$error_reason_json stands in JSON whatever it says', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      error_page 404 500 /why;
      location /a { }
      location = /why { internal; default_type application/json; return 200 '{"status":$status,"why":"$error_reason_json"}'; }`),
  });
  const answer = await httpGet(s, '/a%22%5C%0Ab%FF');
  t.equal(answer.status, 404);
  t.same(JSON.parse(answer.body.toString('utf8')), {
    status: 404,
    why: `open() "${s.dir}/html/a"\\\nb\u00ff" failed (2: No such file or directory)`,
  });
});

t.test('snippets/problem-details.conf: problem details for programs, a page for browsers', async (t) => {
  const snippet = readFileSync(new URL('../../conf/snippets/problem-details.conf', import.meta.url), 'utf8');
  const s = await startServer(t, {
    conf: serverConf(`
      include snippet.conf;
      location /secret { auth_basic x; auth_basic_user_file none; }
      location /gone { return 410; }
      location /backend { proxy_pass http://127.0.0.1:1; }`),
    files: { 'snippet.conf': snippet, 'html/ok': 'ok' },
  });
  for (const [path, status] of [
    ['/none', 404],
    ['/gone', 410],
    ['/secret', 401],
    ['/backend', 502],
  ] as const) {
    for (const accept of ['application/json', 'application/problem+json', '*/*']) {
      const answer = await httpGet(s, path, { Accept: accept });
      t.equal(answer.status, status);
      t.equal(answer.header('content-type'), 'application/problem+json');
      t.match(JSON.parse(answer.text), { type: 'about:blank', status, request_id: /^[0-9a-f]+$/ });
    }
    const page = await httpGet(s, path, { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    t.equal(page.status, status);
    t.equal(page.header('content-type'), 'text/html');
    t.match(page.text, `<h1>Error ${status}</h1>`);
  }
  t.equal((await http(s, 'GET / HTTP/1.1\r\n\r\n')).status, 400);
  t.equal((await httpGet(s, '/ok')).text, 'ok');
  t.equal((await httpGet(s, '/.problem.html')).status, 404, 'not for clients');
  t.equal((await http(s, requestText('POST', '/none', { Accept: 'application/json', Connection: 'close' }))).status, 404);
});
