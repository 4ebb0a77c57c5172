import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { noBrowser, startBrowser } from '../support/browser.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'ours';
/** What the page may weigh, as it is sent. */
const MOST_BYTES = 150 * 1024;

// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
const state = async (s: Server): Promise<any> => JSON.parse((await httpGet(s, '/dashboard/state')).text);

const change = (s: Server, body: object | string, headers: Record<string, string> = { 'X-Sluice-Dashboard': '1' }) =>
  http(
    s,
    requestText('POST', '/dashboard/change', { Connection: 'close', ...headers }, typeof body === 'string' ? body : JSON.stringify(body)),
  );

/** Two workers before two backends, with a dashboard that may change things. */
async function start(t: Test): Promise<{ s: Server; stopSecond: () => void }> {
  let dead = false;
  const one = await startOrigin(t, () => ({ body: 'hello' }));
  const two = await startOrigin(t, (_request, reply) => (dead ? reply.reset() : { body: 'hello' }));
  const stopSecond = (): void => {
    dead = true;
  };
  const s = await startServer(t, {
    conf: `worker_processes 2;\n${serverConf(
      `location /dashboard/ { dashboard write=on; }
      location / { proxy_pass http://app; health_check interval=1s; }
      location /cached { proxy_pass http://app; proxy_cache pages; proxy_cache_tag page; proxy_cache_valid 1m; proxy_cache_key $uri; }
      location /secret { deny all; }
      location /files { root %%DIR%%; client_max_body_size 9; }
      location /api { api write=on; }`,
      `upstream app { zone app 64k; server 127.0.0.1:${one.port}; server 127.0.0.1:${two.port}; }
      proxy_cache_path %%DIR%%/cache keys_zone=pages:1m;
      status_history %%DIR%%/history;
      keyval_zone zone=flags:32k timeout=1h; keyval $arg_flag $flag zone=flags;`,
    )}
    stream {
      upstream tcp { zone tcp 64k; server 127.0.0.1:${one.port}; }
      server { listen 127.0.0.1:%%PORT_1%%; proxy_pass tcp; }
    }`,
  });
  return { s, stopSecond };
}

t.test('the page is one response without anything from elsewhere', { skip }, async (t) => {
  const s = await startServer(t, { conf: serverConf('location /dashboard/ { dashboard; }', 'status_history off;') });
  const moved = await httpGet(s, '/dashboard');
  t.equal(moved.status, 301);
  const page = await httpGet(s, '/dashboard/');
  t.match([page.status, page.header('Content-Type')], [200, 'text/html; charset=utf-8']);
  t.match(
    page.header('Content-Security-Policy'),
    /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'/,
  );
  t.notMatch(page.text, /(?:src|href)=["']?(?:https?:)?\/\//);
  const zipped = await httpGet(s, '/dashboard/', { 'Accept-Encoding': 'gzip' });
  t.equal(zipped.header('Content-Encoding'), 'gzip');
  t.ok(zipped.body.length < MOST_BYTES, `${zipped.body.length} bytes`);
  t.equal(gunzipSync(zipped.body).toString('latin1'), page.text);
  t.equal((await httpGet(s, '/dashboard/history')).text, 'null');
  t.match(await state(s), { version: /^\d/, write: false, history: false, servers: { localhost: { requests: Number } } });
  t.equal((await httpGet(s, '/dashboard/none')).status, 404);
  t.equal((await change(s, { action: 'drain' })).status, 403, 'only with write=on');
});

t.test('changes', { skip }, async (t) => {
  const { s } = await start(t);
  const told = async (body: object | string): Promise<object> => JSON.parse((await change(s, body)).text);
  t.equal((await change(s, { action: 'drain', upstream: 'app', id: 0 }, {})).status, 403, 'not without the mark of the page');
  t.match(await told('no json'), { done: false });
  t.match(await told({ action: 'drain', upstream: 'app', id: 9 }), { done: false });
  t.match(await told({ action: 'drain', protocol: 'stream', upstream: 'tcp', id: 0 }), { done: false });
  t.match(await told({ action: 'disable', protocol: 'stream', upstream: 'tcp', id: 0 }), { done: true });
  await waitFor(async () => (await state(s)).stream.upstreams.tcp.peers[0].state === 'down');
  t.match(await told({ action: 'enable', protocol: 'stream', upstream: 'tcp', id: 0 }), { done: true });
  t.match(await told({ action: 'drain', upstream: 'app', id: 0 }), { done: true });
  const peers = async () => (await state(s)).upstreams.app.peers;
  // A worker sees the change with its next look at the zone.
  await waitFor(async () => (await peers())[0].state === 'draining');
  const before = await peers();
  for (let i = 0; i < 8; i++) {
    await httpGet(s, '/x');
  }
  const after = await peers();
  t.strictSame([after[0].requests - before[0].requests, after[1].requests - before[1].requests], [0, 8]);
  t.match(await told({ action: 'enable', upstream: 'app', id: 0 }), { done: true });
  await waitFor(async () => (await peers())[0].state === 'up');
  await httpGet(s, '/cached/a');
  t.equal((await httpGet(s, '/cached/a')).text, 'hello');
  t.match(await told({ action: 'purge', cache: 'pages', key: '/cached/a' }), { done: true });
  t.match(await told({ action: 'purge', cache: 'pages', key: '/cached/a' }), { done: false });
  t.match(await told({ action: 'purge', cache: 'none', key: '/' }), { done: false });
  await httpGet(s, '/cached/b');
  await httpGet(s, '/cached/c');
  t.match(await told({ action: 'purge', cache: 'pages', prefix: '/cached/', soft: true }), { done: true, text: '2 entries became stale' });
  t.match(await told({ action: 'purge', cache: 'pages', tag: 'page' }), { done: true, text: '2 entries removed' });
  for (const wrong of [{ prefix: '' }, { tag: '' }, {}, { key: 'a', tag: 'b' }, { key: 1 }, { key: 'a', soft: 'yes' }]) {
    t.match(await told({ action: 'purge', cache: 'pages', ...wrong }), { done: false }, JSON.stringify(wrong));
  }
});

t.test('the history goes on over a reload', { skip }, async (t) => {
  const { s } = await start(t);
  await httpGet(s, '/secret');
  // None of what clients send is among the reasons, whatever marks it has.
  for (const path of ['/files/evil', '/files/%22evil%22%20by%20rule%20%22evil', '/files/%1b[31mevil%0a']) {
    t.equal((await httpGet(s, path)).status, 404);
  }
  t.equal((await http(s, 'GET / HTTP/1.1\r\nHost: evil/\r\nConnection: close\r\n\r\n')).status, 400);
  t.equal((await http(s, requestText('POST', '/files', { Connection: 'close' }, 'evil evil evil'))).status, 413);
  const sums = async () => {
    const { at, classes } = JSON.parse((await httpGet(s, '/dashboard/history?range=3600')).text);
    return { points: at.length, refused: classes[3].reduce((a: number, b: number) => a + b, 0) };
  };
  const first = await waitFor(async () => {
    const now = await sums();
    return now.refused > 0 && now;
  });
  const { reasons } = await state(s);
  const of = (reason: RegExp) => reasons.find((each: { reason: string }) => reason.test(each.reason));
  t.match(of(/^access forbidden by rule "deny all" in \S+:\d+$/), { count: 1 });
  t.match(of(/^open\(\) "\.\.\." failed \(2: No such file or directory\)$/), { count: 3, path: '/files' });
  t.match(of(/^client intended to send too large body$/), { count: 1 });
  t.notMatch(JSON.stringify(reasons), /evil/);
  await s.reload();
  t.match(await sums(), { refused: first.refused });
  await waitFor(async () => (await sums()).points > first.points);
});

t.test('in a browser', { skip: skip || noBrowser }, async (t) => {
  const { s, stopSecond } = await start(t);
  const browser = await startBrowser(t);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const wrong: string[] = [];
  page.on('console', (message) => message.type() !== 'log' && wrong.push(message.text()));
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`http://127.0.0.1:${s.port(0)}/dashboard/`) && !request.url().startsWith('data:')) {
      wrong.push(request.url());
    }
  });
  await page.goto(`http://127.0.0.1:${s.port(0)}/dashboard/`);
  const rows = page.locator('#upstreams tbody tr');
  await rows.nth(1).waitFor();

  const requests = page.locator('#servers tbody tr td').nth(2);
  await requests.waitFor();
  const before = await requests.textContent();
  for (let i = 0; i < 20; i++) {
    await httpGet(s, '/load');
  }
  await waitFor(async () => (await requests.textContent()) !== before);
  t.pass('numbers move under load');
  await waitFor(async () => Number.parseFloat((await page.locator('.tile .value').first().textContent()) ?? '0') > 0);

  await RawClient.connect(s.port(1)).then((client) => client.send('GET / HTTP/1.0\r\n\r\n').rest());
  await http(s, requestText('POST', '/api/9/http/keyvals/flags', { Connection: 'close' }, '{"beta": "<b>on</b>"}'));
  await page.locator('#stream-servers tbody tr', { hasText: `127.0.0.1:${s.port(1)}` }).waitFor();
  await page.locator('#stream-upstreams tbody tr', { hasText: 'tcp' }).locator('.pill.ok').waitFor();
  await page.locator('#keyvals tbody tr', { hasText: 'beta' }).locator('td', { hasText: '<b>on</b>' }).waitFor();

  await page
    .getByRole('button', { name: /^Drain / })
    .first()
    .click();
  await page.locator('#confirm-yes').click();
  await rows.first().locator('.pill.warn', { hasText: 'draining' }).waitFor();
  t.equal((await state(s)).upstreams.app.peers[0].state, 'draining', 'drain works, after a confirmation');
  await page
    .getByRole('button', { name: /^Enable / })
    .first()
    .click();
  await page.keyboard.press('Escape');
  t.equal((await state(s)).upstreams.app.peers[0].state, 'draining', 'not without one');

  stopSecond();
  await rows.nth(1).locator('.pill.bad').waitFor();
  await page.locator('#state.bad').waitFor();
  t.match(await page.locator('#state').textContent(), /app: .* does not work/, 'a peer that dies turns red');

  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  for (const [width, theme] of [
    [1280, 'light'],
    [1280, 'dark'],
    [390, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    if ((await page.locator('html').getAttribute('data-theme')) !== theme) {
      await page.locator('#theme').click();
    }
    // Outside the page's policy, which does not let strange scripts in.
    const found = await page.evaluate(`${readFileSync(axe, 'utf8')}\naxe.run(document)`);
    t.strictSame(
      (found as { violations: { id: string; nodes: { html: string }[] }[] }).violations.map(({ id, nodes }) => `${id} ${nodes[0]!.html}`),
      [],
      `axe finds nothing at ${width} pixels, ${theme}`,
    );
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    t.equal(overflow, 0, 'the page is as wide as the screen');
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.keyboard.press('Tab');
  await page.locator('#range-live').focus();
  await page.keyboard.press('ArrowRight');
  t.equal(await page.locator('#range-hour').isChecked(), true, 'the range is chosen by keyboard');
  t.strictSame(wrong, [], 'no error, and no request to elsewhere');
});

t.test('wrong arguments', { skip }, async (t) => {
  t.match(await configMessage(t, serverConf('location / { dashboard write=maybe; }')), /invalid parameter "write=maybe"/);
});
