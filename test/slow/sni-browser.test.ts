import t from 'tap';
import { noBrowser, startBrowser } from '../support/browser.js';
import { certs } from '../support/certs.js';
import { startServer } from '../support/server.js';

t.test('Chromium, passed on by the name in its hello', { skip: noBrowser }, async (t) => {
  const { rsa, second } = certs();
  const site = (name: string, port: number, cert: string, key: string, more = ''): string => `
    server { listen 127.0.0.1:%%PORT_${port}%% ssl; http2 on; ssl_certificate ${cert}; ssl_certificate_key ${key};
      location / { default_type text/html; return 200 "<title>${name}</title>$ssl_server_name $server_protocol"; ${more} } }`;
  const s = await startServer(t, {
    conf: `events {}
      http { access_log off; ${site('one', 1, rsa.cert, rsa.key)} ${site('two', 2, second.cert, second.key)} }
      stream {
        log_format names '$ssl_preread_server_name $ssl_preread_alpn_protocols $status';
        access_log %%DIR%%/access.log names;
        map $ssl_preread_server_name $site { one.example.com 127.0.0.1:%%PORT_1%%; example.org 127.0.0.1:%%PORT_2%%; }
        server { listen 127.0.0.1:%%PORT_0%%; ssl_preread on; proxy_pass $site; }
      }`,
  });
  const browser = await startBrowser(t, ['--host-resolver-rules=MAP * 127.0.0.1', '--ignore-certificate-errors']);
  const page = await browser.newPage();
  for (const [name, title] of [
    ['one.example.com', 'one'],
    ['example.org', 'two'],
  ] as const) {
    await page.goto(`https://${name}:${s.port(0)}/`);
    t.equal(await page.title(), title);
    t.equal(await page.locator('body').innerText(), `${name} HTTP/2.0`, "the handshake is the backend's");
  }
  await t.rejects(page.goto(`https://other.example.com:${s.port(0)}/`), { message: /ERR_/ });
  await browser.close();
  await s.accessLogged(/^one\.example\.com h2,http\/1\.1 200$/m);
  await s.accessLogged(/^example\.org h2,http\/1\.1 200$/m);
  await s.accessLogged(/^other\.example\.com h2,http\/1\.1 500$/m);
});
