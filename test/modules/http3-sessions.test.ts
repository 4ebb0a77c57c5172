import { join } from 'node:path';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { httpConf, startServer } from '../support/server.js';

const { rsa } = certs();

t.test('sessions over QUIC, which a client resumes', { skip: againstNginx ? 'another server' : noQuicClient }, async (t) => {
  const listen = (port: number, lines: string): string =>
    `server { listen 127.0.0.1:%%PORT_${port}%% quic; server_name localhost; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
      ${lines} location / { return 200 "$ssl_session_reused $ssl_cipher $ssl_session_id"; } }`;
  const server = await startServer(t, {
    conf: httpConf(
      [
        listen(0, ''),
        listen(1, 'ssl_session_tickets off; ssl_session_cache shared:S:1m;'),
        listen(2, 'ssl_session_tickets off; ssl_session_cache builtin;'),
        listen(3, 'ssl_session_tickets off; ssl_session_cache none;'),
        listen(4, 'ssl_session_tickets off;'),
      ].join('\n'),
      'worker_processes 1;',
    ),
  });
  const session = (port: number): string => join(server.dir, `session-${port}`);
  const ask = async (port: number): Promise<string> => {
    const options = [`--session-file=${session(port)}`, '--disable-early-data'];
    const { bodies, output } = await quicGet(server.port(port), ['/x'], options);
    return bodies['x'] || output;
  };
  for (const [port, reused] of [true, true, true, false, false].entries()) {
    t.match(await ask(port), /^\. TLS_AES_128_GCM_SHA256 /);
    // Where the cache's zone is held just then, the next ticket names a session that is there.
    let text = await ask(port);
    for (let i = 0; i < 20 && reused && !text.startsWith('r'); i++) {
      text = await ask(port);
    }
    t.match(text, reused ? /^r TLS_AES_128_GCM_SHA256 [0-9a-f]{64}/ : /^\. /, `${port}`);
  }
});

t.test('a ticket whose key is not that of new tickets any more', { skip: againstNginx ? 'another server' : noQuicClient }, async (t) => {
  const conf = (...names: string[]): string =>
    httpConf(
      `server { listen 127.0.0.1:%%PORT_0%% quic; server_name localhost; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        ssl_early_data on; ${names.map((name) => `ssl_session_ticket_key %%DIR%%/${name}.key;`).join(' ')}
        location / { return 200 "<$ssl_session_reused> <$ssl_early_data>"; } }`,
      'worker_processes 1;',
    );
  const server = await startServer(t, { conf: conf('one'), files: { 'one.key': 'a'.repeat(48), 'two.key': 'b'.repeat(48) } });
  const ask = async (...more: string[]): Promise<string> => {
    const { bodies, output } = await quicGet(server.port(0), ['/x'], [`--session-file=${server.dir}/session`, ...more]);
    return bodies['x'] || output;
  };
  t.match(await ask('--disable-early-data'), '<.>');
  await server.reload(conf('two', 'one'));
  t.match(await ask('--disable-early-data'), '<r>');
  await server.reload(conf('two'));
  t.match(await ask('--disable-early-data'), '<r>', 'what it got is a ticket with the newest key');
});
