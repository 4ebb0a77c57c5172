// Makes the pictures of README and the guides: `node scripts/pictures.mjs` starts the built server with backends of its own, sends
// requests, and writes docs/guides/images/. It needs Chromium (Debian's package chromium).
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const images = `${root}docs/guides/images/`;
const program = `${root}dist/sluice.js`;
const folder = mkdtempSync(join(tmpdir(), 'sluice-pictures-'));
/** Seconds of requests before the pictures are taken. */
const SECONDS = Number(process.argv[2] ?? 40);

const listening = (server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
const backend = (slow) =>
  createServer(({ url = '' }, response) => {
    const status = url.includes('missing') ? 404 : url.includes('broken') ? 503 : 200;
    setTimeout(() => response.writeHead(status, { 'Cache-Control': 'max-age=60' }).end('x'.repeat(2000)), slow);
  });
const [first, second] = [backend(8), backend(20)];
const ports = [await listening(first), await listening(second)];
const probe = createServer();
const port = await listening(probe);
probe.close();

mkdirSync(`${folder}/logs`);
writeFileSync(
  `${folder}/sluice.conf`,
  `nginx_compatibility on;
user root;
events {}
http {
    access_log off;
    status_history history;
    proxy_cache_path cache keys_zone=pages:1m max_size=1g;
    limit_req_zone $binary_remote_addr zone=clients:1m rate=1000r/s;
    upstream shop {
        zone shop 64k;
        server 127.0.0.1:${ports[0]};
        server 127.0.0.1:${ports[1]};
    }
    server {
        listen 127.0.0.1:${port};
        server_name shop.example;
        location / { proxy_pass http://shop; proxy_next_upstream off; }
        location /images/ { status_zone images; proxy_pass http://shop; proxy_cache pages; }
        location /api/ { status_zone api; limit_req zone=clients burst=100; proxy_pass http://shop; }
        location /dashboard/ { dashboard; allow 127.0.0.1; deny all; }
        location /old/ { return 301 /new/; }
    }
}
`,
);
const server = spawn(process.execPath, [program, 'run', '-p', `${folder}/`, '-c', 'sluice.conf', '--attached'], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
await new Promise((done) => {
  server.stdout.on('data', (text) => String(text).includes('serving on') && done(undefined));
});

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } });
  await page.goto(`http://127.0.0.1:${port}/dashboard/`);
  const paths = ['/', '/shelf', '/images/a', '/images/b', '/api/cart', '/old/page', '/missing', '/'];
  const send = async () => {
    for (let i = 0; i < 12; i++) {
      const path = i === 7 && Math.random() < 0.1 ? '/broken' : paths[Math.floor(Math.random() * paths.length)];
      await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' }).then(
        (answer) => answer.arrayBuffer(),
        () => {},
      );
    }
  };
  const until = async (seconds) => {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
      await Promise.all([send(), send(), sleep(300 + Math.random() * 400)]);
    }
  };
  const shoot = async (name, theme) => {
    if ((await page.locator('html').getAttribute('data-theme')) !== theme) {
      await page.locator('#theme').click();
    }
    await page.screenshot({ path: images + name });
  };
  await until(SECONDS);
  await shoot('dashboard.png', 'light');
  await page.setViewportSize({ width: 390, height: 844 });
  await shoot('dashboard-phone.png', 'light');
  await page.setViewportSize({ width: 1440, height: 1000 });
  second.close();
  second.closeAllConnections();
  await until(SECONDS / 4);
  await page.locator('#upstreams .pill.bad').waitFor({ timeout: 20_000 });
  await shoot('dashboard-dark.png', 'dark');
} finally {
  await browser.close();
  server.kill('SIGQUIT');
  first.close();
  first.closeAllConnections();
  await new Promise((done) => server.once('close', done));
}

writeFileSync(
  `${folder}/sluice.conf`,
  `nginx_compatibility on;
events {}
http {
    limit_req_zone $binary_remote_addr zone=clients:1m rate=10r/s;
    upstream app { server 127.0.0.1:3000; }
    server {
        listen 80;
        server_name example.com;
        rewrite ^/shop/(.*)$ /store/$1;
        location /store/ {
            limit_req zone=clients burst=20;
            add_header X-Frame-Options DENY;
            proxy_pass http://app;
        }
    }
}
`,
);
const command = ['explain', 'http://example.com/shop/cart'];
const said = execFileSync(process.execPath, [program, ...command, '--color', '-p', `${folder}/`, '-c', 'sluice.conf'], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
const drawn = execFileSync(process.execPath, [`${root}scripts/terminal-picture.mjs`, `sluice ${command.join(' ')}`], {
  input: said,
  encoding: 'utf8',
});
writeFileSync(`${images}explain.svg`, drawn);
rmSync(folder, { recursive: true, force: true });
