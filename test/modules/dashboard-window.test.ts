import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { noBrowser, startBrowser } from '../support/browser.js';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'ours';

t.test('figures of one window; rows are found, sorted, and left out', { skip: skip || noBrowser }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `location /dashboard { dashboard; } location /bad { return 500; } location /good { return 200 x; }`,
      `server { listen 127.0.0.1:%%PORT_1%%; server_name alone; location / { return 200 y; } }`,
    ),
  });
  const browser = await startBrowser(t);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  await page.goto(`http://127.0.0.1:${s.port(0)}/dashboard/`);
  const servers = page.locator('#servers tbody tr');
  await servers.nth(1).waitFor();
  for (let i = 0; i < 6; i++) {
    await httpGet(s, '/bad');
    await httpGet(s, '/good');
    await httpGet(s.port(1), '/');
  }
  const cell = (row: string, at: number): Promise<string | null> => servers.filter({ hasText: row }).locator('td').nth(at).textContent();
  await waitFor(async () => (await cell('localhost', 5)) === '6');
  const tile = (name: string) => page.locator('.tile', { hasText: name });
  const named = /last (\d+ s|\d+ min)/;
  const windows = await Promise.all(
    [tile('Errors'), tile('Requests'), page.locator('#servers h2')].map(
      async (place) => named.exec((await place.textContent()) ?? '')?.[0],
    ),
  );
  t.ok(windows[0]);
  t.strictSame(new Set(windows).size, 1, 'one window, and its name');
  t.equal(await page.locator('#state .pill.bad').count(), 1);
  t.match(await page.locator('#state').textContent(), /of responses are 5xx, last/);

  await page.locator('#find').fill('alone');
  t.strictSame(await servers.locator('th').allTextContents(), ['alone']);
  await page.locator('#find').fill('');
  await page.locator('#failed').check();
  t.strictSame(await servers.locator('th').allTextContents(), ['localhost']);
  await page.locator('#failed').uncheck();
  const requests = page.locator('#servers th button', { hasText: 'requests' });
  await requests.click();
  t.equal(await page.locator('#servers th[aria-sort]').getAttribute('aria-sort'), 'descending');
  t.strictSame(await servers.locator('th').allTextContents(), ['localhost', 'alone']);
  await requests.click();
  t.strictSame(await servers.locator('th').allTextContents(), ['alone', 'localhost']);
  await page.locator('#servers th button', { hasText: 'Name' }).focus();
  await page.keyboard.press('Enter');
  t.strictSame(await servers.locator('th').allTextContents(), ['alone', 'localhost']);

  const past = JSON.parse((await httpGet(s, '/dashboard/history?range=3600')).text).past;
  t.match(past, { seconds: Number, servers: Object, peers: {}, reasons: Array });
  await page.locator('#range-hour').focus();
  await page.keyboard.press(' ');
  await waitFor(async () => !/last \d+ s/.test((await tile('Errors').textContent()) ?? '') || past.seconds < 60);
  t.strictSame(wrong, []);
});
