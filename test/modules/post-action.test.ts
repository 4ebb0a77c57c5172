import t from 'tap';
import { startOrigin } from '../support/origin.js';
import { httpGet, pipeline, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

t.test('post_action', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      log_format where "$uri $request_uri $status";
      server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html; access_log %%DIR%%/where.log where;
        location / { post_action /after; }
        location /named { post_action @after; }
        location /missing { post_action /nowhere; }
        location /after { internal; return 200 "hidden"; }
        location @after { add_header X-Hidden yes always; return 404; }
        location /nowhere { }
        location /error { return 503; post_action /after; }
        location /closed { return 444; post_action /after; }
      }`),
    files: { 'html/f': 'shown', 'html/named': 'also', 'html/missing': 'this too' },
  });
  const responses = await pipeline(
    s,
    ['/f', '/named', '/missing', '/error', '/f'].map((path) => requestText('GET', path)),
  );
  t.strictSame(
    responses.map(({ status, text }) => [status, status === 200 ? text : '']),
    [
      [200, 'shown'],
      [200, 'also'],
      [200, 'this too'],
      [503, ''],
      [200, 'shown'],
    ],
    'the connection goes on',
  );
  t.notOk(responses.some((response) => response.header('X-Hidden')));
  t.equal((await httpGet(s, '/f')).text, 'shown');
  const client = await RawClient.connect(s.port(0));
  client.send(requestText('GET', '/closed'));
  await client.closed();
  await s.stop();
  t.strictSame(
    s
      .read('where.log')
      .trim()
      .split('\n')
      .map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['/after /f', '/named /named', '/nowhere /missing', '/after /error', '/after /f', '/after /f', '/closed /closed'],
    'one line for each request, at the end of all; nobody is told of one that was not answered',
  );
});

t.test('a backend that sends each request back to itself', async (t) => {
  let asked = 0;
  const origin = await startOrigin(t, () => {
    asked++;
    return { headers: { 'X-Accel-Redirect': '/at/again' } };
  });
  const s = await startServer(t, {
    conf: httpConf(`server { listen 127.0.0.1:%%PORT_0%%;
      location / { proxy_pass http://127.0.0.1:${origin.port}; post_action /at/after; }
      location @named { return 200 done; }
      location /named { proxy_pass http://127.0.0.1:${origin.port}; post_action @named; } }`),
    expectAlerts: /cycle/,
  });
  t.equal((await httpGet(s, '/at/x')).status, 500);
  t.equal((await httpGet(s, '/named')).status, 500);
  // Orderly, once the requests are over.
  await s.stop('QUIT');
  t.equal(asked, 52, 'as often as with nginx, and no more');
});

t.test('it runs although the client has gone', async (t) => {
  let goOn = (): void => {};
  const gone = new Promise<void>((done) => (goOn = done));
  const origin = await startOrigin(t, async ({ target }) => {
    if (target === '/after') {
      await gone;
    }
    return { body: 'from the backend' };
  });
  const s = await startServer(t, {
    conf: httpConf(`
      log_format where "$uri $upstream_status";
      server { listen 127.0.0.1:%%PORT_0%%; root %%DIR%%/html; access_log %%DIR%%/where.log where;
        location / { post_action /after; }
        location /proxied { proxy_pass http://127.0.0.1:${origin.port}; post_action /after; }
        location = /after { internal; proxy_pass http://127.0.0.1:${origin.port}/after; }
        location = /plain { access_log off; }
      }`),
    files: { 'html/f': 'shown', 'html/plain': 'there' },
  });
  const ways = [
    ['/f', false],
    ['/proxied', false],
    ['/f', true],
    ['/proxied', true],
  ] as const;
  for (const [i, [path, reset]] of ways.entries()) {
    const client = await RawClient.connect(s);
    client.send(requestText('GET', path));
    t.equal((await client.response()).status, 200);
    await waitFor(() => origin.requests.filter(({ target }) => target === '/after').length === i + 1);
    client.destroy(reset);
    // The worker reads the end of that connection before it reads a request that was sent later.
    t.equal((await httpGet(s, '/plain')).text, 'there');
  }
  goOn();
  await waitFor(() => s.read('where.log').split('\n').length === 5, { what: () => s.read('where.log') });
  t.strictSame(s.read('where.log').trim().split('\n').sort(), ['/after 200', '/after 200', '/after 200 : 200', '/after 200 : 200']);
});
