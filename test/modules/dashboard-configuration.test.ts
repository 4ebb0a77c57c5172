import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { noBrowser, startBrowser } from '../support/browser.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { httpGet, http as raw } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'ours';
const EVIL = '<img src=x onerror=document.title=1>';

// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
const json = async (s: Server, path: string): Promise<any> => JSON.parse((await httpGet(s, path)).text);

async function start(t: Test): Promise<{ s: Server; conf: (more: string) => string }> {
  const origin = await startOrigin(t, () => ({ body: 'hello' }));
  const conf = (more: string) =>
    `worker_processes 2;\n${serverConf(
      `location /dashboard/ { dashboard config=on; status_zone none; }
      location /plain/ { dashboard; }
      location /app/ { proxy_pass http://app/; proxy_set_header Authorization "Basic aHVudGVyMjpodW50ZXIy"; status_zone api; }
      location /closed/ { deny all; }
      include more.conf;
      ${more}`,
      `upstream app { zone app 64k; server 127.0.0.1:${origin.port}; }
      server { listen 127.0.0.1:%%PORT_1%%; server_name "${EVIL}.example"; }
      map $http_x_api_key $who { "hunter2" alice; }`,
    )}`;
  const s = await startServer(t, {
    conf: conf('location = /first { return 200 "first"; }'),
    files: { 'more.conf': `# ${EVIL}\nset $db_password hunter2;\n` },
  });
  return { s, conf };
}

t.test('the configuration in force, its outline and its history, without secrets', { skip }, async (t) => {
  const { s, conf } = await start(t);
  const shown = await json(s, '/dashboard/configuration');
  const text = JSON.stringify(shown);
  t.notMatch(text, /hunter2|aHVudGVyMjpodW50ZXIy/);
  const [main, more] = shown.files;
  t.equal(main.path, `${s.dir}/sluice.conf`);
  t.match(main.text, 'proxy_set_header Authorization "(hidden)";');
  t.equal(more.text, `# ${EVIL}\nset $db_password "(hidden)";\n`);
  const server = shown.outline.servers.find((each: { zone: string }) => each.zone === 'localhost');
  const app = server.inside.find((each: { zone?: string }) => each.zone === 'api');
  t.match(app, { text: 'location /app/', upstream: 'app', file: `${s.dir}/sluice.conf` });
  t.match(main.text.split('\n')[app.line - 1], 'location /app/ {');
  t.match(shown.outline.upstreams[0], { text: 'upstream app', zone: 'app' });
  t.match(shown.history, { serving: 1, rolledBack: false, reload: null, kept: [{ id: 1, periods: [{ until: null }] }] });

  await s.reload(conf('location = /second { return 200 "second"; }'));
  const after = await waitFor(async () => {
    const now = await json(s, '/dashboard/configuration');
    return now.history.serving === 2 && now;
  });
  t.match(after.history.reload, { outcome: 'done' });
  t.match(after.files[0].text, 'location = /second');
  const kept = await json(s, '/dashboard/configuration?kept=1');
  t.match(kept.files[0].text, 'location = /first');
  t.notMatch(JSON.stringify(kept), /hunter2|aHVudGVyMjpodW50ZXIy/);

  await s.configure(conf('proxy_passs "hunter2"; secure_link_secret hunter2;'));
  s.signal('HUP');
  const refused = await waitFor(async () => {
    const { history } = await json(s, '/dashboard/configuration');
    return history.reload.outcome === 'refused' && history;
  });
  t.match(refused.reload.text, /unknown directive "proxy_passs"/);
  t.equal(refused.serving, 2);

  for (const asked of ['9', '0', '-1', '1e3', '../1', '..%2f1', 'x', '99999999999999999999']) {
    const answer = await httpGet(s, `/dashboard/configuration?kept=${asked}`);
    t.ok(answer.status === 404 || answer.text === 'null', asked);
  }
});

t.test('who may see it', { skip }, async (t) => {
  const { s } = await start(t);
  t.match(await json(s, '/dashboard/state'), { config: true });
  t.match(await json(s, '/plain/state'), { config: false });
  for (const path of ['configuration', 'configuration?kept=1', 'log']) {
    t.equal((await httpGet(s, `/plain/${path}`)).status, 404, 'not without a word');
    t.equal((await httpGet(s, `/dashboard/${path}`, { Host: 'rebound.example' })).status, 403);
    const answer = await httpGet(s, `/dashboard/${path}`);
    t.equal(answer.header('content-type'), 'application/json');
    t.equal(answer.header('cross-origin-resource-policy'), 'same-origin');
    t.equal(answer.header('cache-control'), 'no-store');
    t.equal(answer.header('access-control-allow-origin'), undefined);
    t.match(answer.header('content-security-policy'), "default-src 'none'");
    t.equal(
      (await raw(s, `POST /dashboard/${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)).status,
      405,
    );
  }
  t.match(await configMessage(t, serverConf('location / { dashboard config=maybe; }')), 'invalid parameter "config=maybe"');
  t.equal(await configMessage(t, serverConf('location / { dashboard config=on write=on; }')), undefined);
});

t.test('the end of the log, without secrets', { skip }, async (t) => {
  const { s } = await start(t);
  await httpGet(s, '/closed/a?access_token=hunter2&b=1');
  await s.logged('closed/a');
  const { path, lines } = await json(s, '/dashboard/log');
  t.equal(path, `${s.dir}/error.log`);
  const line = lines.find((each: string) => each.includes('/closed/a'));
  t.match(line, 'access_token=(hidden)&b=1');
  t.notMatch(JSON.stringify(lines), /hunter2/);
});

t.test('one process alone, and no history', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: `master_process off; configuration_history off;\n${serverConf('location /dashboard/ { dashboard config=on; }')}`,
  });
  t.match(await json(s, '/dashboard/configuration'), { history: null, files: [{ path: `${s.dir}/sluice.conf` }] });
  t.type((await json(s, '/dashboard/log')).lines, Array);
});

t.test('errors have the path of their location, and nothing of what clients ask for', { skip }, async (t) => {
  const { s } = await start(t);
  await httpGet(s, '/closed/evil');
  const found = await waitFor(async () =>
    (await json(s, '/dashboard/state')).reasons.find((each: { path: string }) => each.path === '/closed/'),
  );
  t.match(found.reason, /access forbidden by rule "deny all"/);
  t.notMatch(JSON.stringify(found), /evil/);
});

t.test(
  'in a browser: from a server to its lines, its locations, their group, and the log; hostile texts stay texts',
  { skip: skip || noBrowser },
  async (t) => {
    const { s, conf } = await start(t);
    await raw(
      s,
      `GET /closed/${EVIL.replaceAll(' ', '/')} HTTP/1.1\r\nHost: ${'localhost'}\r\nUser-Agent: ${EVIL}\r\nReferer: ${EVIL}\r\nConnection: close\r\n\r\n`,
    );
    await httpGet(s, '/app/');
    await s.reload(conf('location = /second { return 200 "second"; }'));
    const browser = await startBrowser(t);
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
    await page.goto(`http://127.0.0.1:${s.port(0)}/dashboard/`);
    const row = page.locator('#servers tbody tr', { hasText: 'localhost' });
    await row.locator('th a').first().click();
    const marked = page.locator('.line.marked');
    await marked.waitFor();
    t.match(await marked.textContent(), /server \{/);
    t.equal(await page.locator('#servers').isVisible(), false);
    const outline = page.locator('#outline');
    t.match(await outline.textContent(), 'location /app/ → upstream app');
    t.match(await outline.textContent(), EVIL);
    await outline.locator('a', { hasText: 'upstream app' }).first().click();
    await waitFor(async () => /upstream app \{/.test((await marked.textContent()) ?? ''));
    t.match(await page.locator('#in-force').textContent(), /Last reload: done/);
    await page.locator('#kept button', { hasText: 'Changes' }).click();
    const changes = page.locator('#changes');
    await changes.locator('.added').waitFor();
    t.match(await changes.locator('.added').allTextContents(), [/\+ .*location = \/second/]);
    t.match(await changes.locator('.taken').allTextContents(), [/- .*location = \/first/]);
    t.match(await page.locator('#files').textContent(), EVIL);

    await page.locator('#views a', { hasText: 'Now' }).click();
    t.match(await page.locator('#upstreams h3').textContent(), /from localhost \/app\//);
    await row.locator('th a', { hasText: 'log' }).click();
    const lines = page.locator('#log-lines .line');
    await lines.first().waitFor();
    t.equal(await page.locator('#find').inputValue(), 'server: localhost,');
    t.match((await lines.allTextContents()).join('\n'), EVIL.replaceAll(' ', '/'));
    await page.locator('#find').fill('no line has this');
    await page.locator('#log-lines .empty').waitFor();
    t.equal(await page.locator('img').count(), 0, 'no text becomes an element');
    t.equal(await page.title(), 'sluice');
    t.strictSame(wrong, []);
  },
);
