import t from 'tap';
import { httpGet, pipeline, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

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
  await s.stop();
  t.strictSame(
    s
      .read('where.log')
      .trim()
      .split('\n')
      .map((line) => line.split(' ').slice(0, 2).join(' ')),
    ['/after /f', '/named /named', '/nowhere /missing', '/after /error', '/after /f', '/after /f'],
    'one line for each request, at the end of all',
  );
});
