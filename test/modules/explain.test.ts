import t from 'tap';
import { unpackTrace } from '../../src/worker/http/trace/trace-text.js';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { http, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx has no such directive';
const TOKEN = '0123456789abcdef';

t.test('who knows the token gets the trace, and nobody else', { skip }, async (t) => {
  const origin = await startOrigin(t, () => ({ headers: { 'X-B': '1' }, body: 'from the backend' }));
  const s = await startServer(t, {
    conf: serverConf(
      `explain_token ${TOKEN};
      proxy_cache c;
      proxy_cache_valid 1h;
      location / { proxy_pass http://127.0.0.1:${origin.port}; access_log %%DIR%%/x.log x; }
      location /old { rewrite ^/old(.*)$ /new$1 last; }`,
      `proxy_cache_path %%DIR%%/cache keys_zone=c:1m;
      log_format x '$request_uri [$http_x_sluice_explain]';
      server { listen 127.0.0.1:%%PORT_0%%; server_name other.example; location / { proxy_pass http://127.0.0.1:${origin.port}; } }`,
    ),
  });
  const ask = (path: string, headers: Record<string, string>) => http(s, requestText('GET', path, { Connection: 'close', ...headers }));
  const plain = await ask('/a', {});
  t.equal(plain.header('x-sluice-trace'), undefined);
  t.equal(plain.header('cache-control'), undefined);
  const wrong = await ask('/b', { 'X-Sluice-Explain': `${TOKEN}x` });
  t.equal(wrong.header('x-sluice-trace'), undefined);
  const right = await ask('/old/c', { 'X-Sluice-Explain': TOKEN });
  t.equal(right.text, 'from the backend');
  t.equal(right.header('cache-control'), 'no-store');
  const trace = unpackTrace(right.header('x-sluice-trace')!)!;
  t.match(trace, { status: 200, server: 'localhost', location: '/', uri: '/new/c', cut: 0 });
  const texts = trace.steps.map(({ kind, text }) => `${kind} ${text}`);
  for (const wanted of [
    'location location /old for "/old/c": the longest prefix, and no regular expression matches',
    'rewrite rewrite "^/old(.*)$": "/old/c" becomes "/new/c", last',
    `backend-response 127.0.0.1:${origin.port} answers 200`,
    'header x-b: 1, from the backend',
  ]) {
    t.ok(texts.includes(wanted), wanted);
  }
  t.match(
    trace.steps.find(({ kind }) => kind === 'cache'),
    { data: { status: 'MISS' } },
  );
  t.ok(trace.steps.every(({ ms }) => ms >= 0));
  t.type(trace.steps.find(({ kind }) => kind === 'rewrite')!.line, 'number');
  // From the cache, which has nothing of the trace.
  const again = await ask('/new/c', {});
  t.equal(again.text, 'from the backend');
  t.equal(again.header('x-sluice-trace'), undefined);
  t.equal(again.header('cache-control'), undefined);
  const hit = unpackTrace((await ask('/new/c', { 'X-Sluice-Explain': TOKEN })).header('x-sluice-trace')!)!;
  t.match(
    hit.steps.find(({ kind }) => kind === 'cache'),
    { data: { status: 'HIT' } },
  );
  t.equal((await ask('/d', { Host: 'other.example', 'X-Sluice-Explain': TOKEN })).header('x-sluice-trace'), undefined);
  for (const { target, head } of origin.requests) {
    t.equal(head.includes(TOKEN), target === '/d', 'a server without a token knows nothing of the header');
  }
  await waitFor(() => s.read('x.log').includes('/new/c') && s.read('x.log').split('\n').length > 5);
  t.notMatch(s.read('x.log'), TOKEN);
  t.notMatch(s.log(), TOKEN);
});

t.test('a trace is bounded', { skip }, async (t) => {
  const lines = Array.from({ length: 400 }, (_, i) => `set $v${i} "$request_id ${i} ${Math.sin(i)}";`).join('\n');
  const s = await startServer(t, { conf: serverConf(`explain_token ${TOKEN}; location / { ${lines} return 200 x; }`) });
  const response = await http(s, requestText('GET', '/', { Connection: 'close', 'X-Sluice-Explain': TOKEN }));
  t.equal(response.text, 'x');
  const packed = response.header('x-sluice-trace')!;
  t.ok(packed.length <= 6000);
  const { steps, cut } = unpackTrace(packed)!;
  t.ok(steps.length > 50);
  t.ok(cut > 0);
});

t.test('wrong tokens', { skip }, async (t) => {
  const message = async (text: string) => configMessage(t, serverConf(text));
  t.match(await message('explain_token short;'), /the token of "explain_token" is shorter than 16 characters/);
  t.match(await message(`explain_token ${TOKEN}; explain_token ${TOKEN};`), /"explain_token" directive is duplicate/);
  t.equal(unpackTrace('nonsense'), undefined);
});
