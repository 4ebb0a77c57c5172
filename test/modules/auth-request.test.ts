import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

const page = { 'html/page.html': 'the page' };

t.test('the status of the subrequest decides', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location ~ ^/verdict/(?<wanted>\\d+)/ { auth_request /answer; rewrite ^ /page.html break; }
      location = /answer { internal; if ($wanted = 200) { return 200; } if ($wanted = 204) { return 204; } if ($wanted = 401) { return 401; }
        if ($wanted = 403) { return 403; } if ($wanted = 302) { return 302 /elsewhere; } return 404; }`),
    files: page,
  });
  for (const [status, expected] of [
    [200, 200],
    [204, 200],
    [401, 401],
    [403, 403],
    [302, 500],
    [404, 500],
  ] as const) {
    const response = await httpGet(s, `/verdict/${status}/`);
    t.equal(response.status, expected, `${status}`);
    if (expected === 200) {
      t.equal(response.text, 'the page');
    }
  }
  t.match(s.log(), /auth request unexpected status: 302/);
  t.match(s.log(), /auth request unexpected status: 404/);
});

t.test('the subrequest to a backend', async (t) => {
  const origin = await startOrigin(t, ({ target, header }) => {
    if (target !== '/check') {
      return { body: 'content' };
    }
    const user = header('X-User');
    return user === 'nobody'
      ? { status: 401, headers: { 'WWW-Authenticate': 'Bearer error="expired"' }, body: 'not this one' }
      : { headers: { 'X-Name': `Mr ${user}` } };
  });
  const s = await startServer(t, {
    conf: serverConf(`
      auth_request /check;
      auth_request_set $name $upstream_http_x_name;
      auth_request_set $told $sent_http_x_name;
      location / { add_header X-For "$name" always; proxy_set_header X-For $name; proxy_pass http://127.0.0.1:${origin.port}; }
      location = /check {
        auth_request off;
        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
        proxy_set_header X-Original $request_method:$request_uri;
        proxy_pass http://127.0.0.1:${origin.port};
      }
      location = /open { auth_request off; return 200 open; }`),
  });
  const passed = await http(s, requestText('POST', '/a?b=c', { 'X-User': 'jones' }, 'the body'));
  t.equal(passed.text, 'content');
  t.equal(passed.header('X-For'), 'Mr jones');
  const [check, content] = origin.requests;
  t.equal(check!.method, 'GET');
  t.equal(check!.target, '/check');
  t.equal(check!.header('X-Original'), 'POST:/a?b=c');
  t.equal(check!.body.length, 0);
  t.equal(content!.method, 'POST');
  t.equal(content!.body.toString(), 'the body', 'the body goes to the backend after the check');
  t.equal(content!.header('X-For'), 'Mr jones');
  const refused = await httpGet(s, '/', { 'X-User': 'nobody' });
  t.equal(refused.status, 401);
  t.equal(refused.header('WWW-Authenticate'), 'Bearer error="expired"');
  t.equal(refused.header('X-For'), undefined, 'the variable is set, and empty');
  t.notMatch(refused.text, 'not this one');
  t.equal(origin.requests.length, 3);
  t.equal((await httpGet(s, '/open')).text, 'open');
  t.equal(origin.requests.length, 3, 'switched off');
});

t.test('satisfy, error_page and a check that fails', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /any { satisfy any; deny all; auth_request /yes; try_files /page.html =404; }
      location /all { satisfy all; deny all; auth_request /yes; try_files /page.html =404; }
      location /neither { satisfy any; deny all; auth_request /no; try_files /page.html =404; }
      location /named { auth_request /no; error_page 401 = @login; }
      location /lost { auth_request /missing/file; }
      location @login { return 302 /login; }
      location /yes { return 204; }
      location /no { return 401; }`),
    files: page,
  });
  t.equal((await httpGet(s, '/any')).text, 'the page');
  t.equal((await httpGet(s, '/all')).status, 403);
  t.equal((await httpGet(s, '/neither')).status, 401);
  const login = await httpGet(s, '/named');
  t.equal(login.status, 302);
  t.match(login.header('Location'), /\/login$/);
  t.equal((await httpGet(s, '/lost')).status, 500);
});

t.test('$status of an answer without a page', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { auth_request /missing; auth_request_set $said "$status $sent_http_x_a"; error_page 500 @failed; }
      location = /missing { internal; }
      location @failed { return 200 "$said"; }`),
  });
  t.equal((await httpGet(s, '/')).text, '404 ');
});

t.test('messages', async (t) => {
  for (const [line, expected] of [
    ['auth_request /a; auth_request_set $x $uri', undefined],
    ['auth_request /a; auth_request /b', '"auth_request" directive is duplicate in %%FILE%%:11'],
    ['auth_request_set x $uri', 'invalid variable name "x" in %%FILE%%:11'],
    ['auth_request_set $x', 'invalid number of arguments in "auth_request_set" directive in %%FILE%%:11'],
    ['auth_request_set $uri x', 'the duplicate "uri" variable in %%FILE%%:11'],
  ] as const) {
    t.equal(await configMessage(t, serverConf(`${line};`)), expected, line);
  }
});

t.test('all that the subrequest asks for is asked for', async (t) => {
  const challenges = ['Basic realm="a"', 'Bearer x'];
  const origin = await startOrigin(t, () => ({ status: 401, headers: { 'WWW-Authenticate': challenges } }));
  const s = await startServer(t, {
    conf: serverConf(`
      location / { auth_request /check; }
      location /hidden { auth_request /check-hidden; }
      location /page { auth_request /check-page; }
      location /any { satisfy any; auth_request /check; auth_basic a; auth_basic_user_file users; try_files /page.html =404; }
      location /check { proxy_pass http://127.0.0.1:${origin.port}; }
      location /check-hidden { proxy_hide_header WWW-Authenticate; proxy_pass http://127.0.0.1:${origin.port}; }
      location /check-page { proxy_intercept_errors on; error_page 401 /text; proxy_pass http://127.0.0.1:${origin.port}; }
      location /text { return 200 text; }`),
    files: { ...page, users: 'u:{PLAIN}p\n' },
  });
  for (const path of ['/', '/hidden', '/page']) {
    const refused = await httpGet(s, path);
    t.equal(refused.status, 401, path);
    t.strictSame(refused.all('WWW-Authenticate'), challenges, path);
  }
  // Whoever is let in for another reason is asked for nothing.
  const passed = await httpGet(s, '/any', { Authorization: `Basic ${btoa('u:p')}` });
  t.equal(passed.text, 'the page');
  t.strictSame(passed.all('WWW-Authenticate'), []);
});

t.test('a subrequest in the access log was sent by nobody', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `access_log %%DIR%%/sub.log sub; log_subrequest on;
      location /a { auth_request /check; try_files /page.html =404; }
      location = /check { return 204; }`,
      "log_format sub '$uri $request_length [$request_completion]';",
    ),
    files: page,
  });
  const request = requestText('GET', '/a', { Connection: 'close' });
  await http(s, request);
  await s.stop();
  // The subrequest's line has asked whether the request is complete, and the answer stays.
  t.strictSame(s.read('sub.log').trim().split('\n'), ['/check 0 []', `/page.html ${request.length} []`]);
});

t.test("the status of the subrequest's error page counts", async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      server {
        listen 127.0.0.1:%%PORT_0%%;
        root %%DIR%%/html;
        location /open { auth_request /allows; auth_request_set $answer $status; add_header X-Answer $answer; try_files /page.html =404; }
        location /closed { auth_request /refuses; auth_request_set $answer $status; error_page 403 = @page; }
        location = /allows { error_page 403 =202 /answer; return 403; }
        location = /refuses { error_page 404 =403 /answer; return 404; }
        location = /answer { return 200; }
        location @page { return 402 $answer; }
      }`),
    files: page,
  });
  const passed = await httpGet(s, '/open');
  t.strictSame([passed.status, passed.text, passed.header('X-Answer')], [200, 'the page', '202']);
  const refused = await httpGet(s, '/closed');
  t.strictSame([refused.status, refused.text], [402, '403']);
});

t.test('a subrequest that fails lets nobody in', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      js_import main.js;
      server {
        listen 127.0.0.1:%%PORT_0%%;
        root %%DIR%%/html;
        location / { auth_request /fails; try_files /page.html =404; }
        location = /fails { js_header_filter main.fails; return 200; }
      }`),
    files: { 'main.js': "function fails() { throw new Error('failed'); }\nexport default { fails };\n", ...page },
  });
  await t.rejects(httpGet(s, '/'), 'the connection ends');
  t.match(s.log(), /js exception: Error: failed/);
});
