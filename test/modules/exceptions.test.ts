import { type ConnectionOptions, connect } from 'node:tls';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('nginx has no exceptions');
}

// A mistake of ours that throws in the middle of a request: a digest of `boom` does.
const FAULT = `import crypto from 'node:crypto';
const { hash } = crypto;
crypto.hash = (...all) => {
  if (String(all[1]).includes('boom')) { throw new Error('on purpose'); }
  return hash(...all);
};`;

t.test('an exception in the middle of a request costs that request alone', async (t) => {
  const { dir } = await makePrefix(t, { 'fault.mjs': FAULT });
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: httpConf(`
      proxy_cache_path %%DIR%%/cache keys_zone=c:1m;
      server {
        listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        location / { proxy_cache c; proxy_cache_key $arg_b; proxy_pass http://127.0.0.1:%%PORT_0%%/answer; }
        location /answer { return 200 "<>"; }
      }`),
    preload: `file://${dir}/fault.mjs`,
    expectAlerts: /given up after an exception/,
  });
  t.equal((await httpGet(s, '/?b=x')).text, '<>');
  await t.rejects(httpGet(s, '/?b=boom'), 'in plain text');
  const over = (options: ConnectionOptions, b: string): Promise<string> =>
    new Promise((done) => {
      let text = '';
      const socket = connect({ host: '127.0.0.1', port: s.port(1), rejectUnauthorized: false, ...options }, () =>
        // With the last bytes of the handshake.
        socket.write(requestText('GET', `/?b=${b}`, { Connection: 'close' })),
      );
      socket.on('data', (piece) => (text += piece));
      socket.on('error', () => {});
      socket.on('close', () => done(text));
    });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    t.equal(await over({ maxVersion }, 'boom'), '', maxVersion);
    t.match(await over({ maxVersion }, 'x'), /<>$/, maxVersion);
  }
  await s.logged(/given up after an exception: .*on purpose/);
});
