import t from 'tap';
import { httpGet, RawClient } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';

const get = (path: string, rest = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${rest}\r\n`;
const include = (uri: string, more = '') => `<!--#include virtual="${uri}" ${more}-->`;

const conf = serverConf('ssi on; log_not_found off; location / { } location /e/ { error_page 404 /404.html; }');
const files = {
  // Each of the two would be 2^50 subrequests.
  'html/self.html': `${include('/self.html')}${include('/self.html')}.`,
  'html/404.html': `${include('/e/1')}${include('/e/2')}.`,
  'html/waits.html': `${include('/waits.html', 'wait="yes"')}${include('/waits.html', 'wait="yes"')}.`,
  'html/part.html': '-',
};

for (const path of ['/self.html', '/waits.html', '/e/missing']) {
  t.test(`subrequests without end: ${path}`, async (t) => {
    const s = await startServer(t, { conf, files });
    const client = await RawClient.connect(s);
    client.send(get(path, 'Connection: close\r\n'));
    await client.until('\r\n\r\n');
    // Others are answered while the pages include each other.
    for (let i = 0; i < 5; i++) {
      t.equal((await httpGet(s, '/part.html')).text, '-');
    }
    const response = await client.response();
    const shown = response.text.match(/\./g)!.length;
    t.ok(response.complete, 'the response is whole');
    t.equal(shown, 65535 - 1000 + 1);
    t.equal(s.log().match(/\[crit\].*request reference counter overflow while processing "/g)?.length, 1);
  });
}

t.test('a client that leaves takes its subrequests along', async (t) => {
  // More than the buffers between them hold, so that the client sees the beginning only.
  const page = `${include('/fat.html')}${include('/fat.html')}${'x'.repeat(3000)}`;
  const s = await startServer(t, { conf, files: { ...files, 'html/fat.html': page } });
  const client = await RawClient.connect(s);
  client.send(get('/fat.html'));
  await client.until('\r\n\r\n');
  client.pause();
  client.destroy(true);
  await s.accessLogged('GET /fat.html');
  t.equal((await httpGet(s, '/part.html')).text, '-');
  t.notMatch(s.log(), 'request reference counter overflow');
});

t.test('what one page includes is bounded by its length only', async (t) => {
  const count = 65_600;
  const s = await startServer(t, { conf, files: { ...files, 'html/long.html': include('/part.html', 'wait="yes"').repeat(count) } });
  t.equal((await httpGet(s, '/long.html')).text.length, count);
});

t.test('all of many are begun, and in their places', async (t) => {
  const parts = Array.from({ length: 300 }, (_, i) => `${i},`);
  const s = await startServer(t, {
    conf,
    files: {
      'html/all.html': `${include('/some.html?from=0')}${parts.map((_, i) => include(`/part${i}.html`)).join('')}${include('/set.html', 'set="v"')}<!--#echo var="v" -->`,
      'html/some.html': parts
        .slice(0, 40)
        .map((_, i) => include(`/part${i}.html`))
        .join(' '),
      'html/set.html': 'set',
      ...Object.fromEntries(parts.map((text, i) => [`html/part${i}.html`, text])),
    },
  });
  t.equal((await httpGet(s, '/all.html')).text, `${parts.slice(0, 40).join(' ')}${parts.join('')}set`);
});

t.test('a page and its parts leave together', async (t) => {
  const s = await startServer(t, {
    conf,
    files: { ...files, 'html/page.html': `text ${include('/part.html')} `.repeat(8), 'html/two.html': include('/page.html').repeat(2) },
  });
  for (const [path, times] of [
    ['/page.html', 8],
    ['/two.html', 16],
  ] as const) {
    const client = await RawClient.connect(s);
    const [, body] = (await client.send(get(path, 'Connection: close\r\n')).rest()).split('\r\n\r\n') as [string, string];
    const chunks = body.match(/^[0-9a-f]+\r$/gm) ?? [];
    t.match(body, /text - /);
    t.equal(body.match(/text/g)?.length, times);
    // nginx sends 18 and more.
    t.ok(chunks.length <= 4, `${chunks.length} chunks`);
  }
});

t.test('a variable has what came of a response that broke off', async (t) => {
  const backend = await startTcpBackend(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nwhat'));
  });
  const s = await startServer(t, {
    conf: serverConf(`location / { ssi on; } location /part { proxy_pass http://127.0.0.1:${backend.port}; }`),
    files: { 'html/page.html': '<!--#include virtual="/part" set="v" -->[<!--#echo var="v" -->]' },
  });
  t.equal((await httpGet(s, '/page.html')).text, '[what]');
});
