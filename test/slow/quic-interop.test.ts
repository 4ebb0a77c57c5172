// Cases of quic-interop-runner that need one host alone, with ngtcp2's client, whose QUIC is none of ours.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { noQuicClient, type QuicResponses, quicGet } from '../support/gtlsclient.js';
import { httpConf, type Server, startServer } from '../support/server.js';

const { rsa } = certs();
const skip = noQuicClient;
const SIZES = { small: 5_000, middle: 500_000, large: 2_000_000 };
const files = Object.fromEntries(Object.entries(SIZES).map(([name, size]) => [`html/${name}`, randomBytes(size / 2).toString('hex')]));
const hash = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex');
const PATIENT = ['--timeout=60s'];

const listen = (n: number, address: string, lines = ''): string =>
  `server { listen ${address}:%%PORT_${n}%% quic; server_name localhost; root %%DIR%%/html; ${lines}
    location /seen { return 200 "$ssl_session_reused $ssl_early_data $ssl_cipher"; } }`;

const start = (t: Test): Promise<Server> =>
  startServer(t, {
    conf: httpConf(
      `ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; ssl_early_data on;
      log_format h3 '$request_uri $remote_port $status'; access_log %%DIR%%/h3.log h3;
      ${listen(0, '127.0.0.1')} ${listen(1, '127.0.0.1', 'quic_retry on;')} ${listen(2, '[::1]')}`,
      'worker_processes 2;',
    ),
    files,
  });

/** Downloads files, and compares them. Returns what the client has said. */
async function whole(t: Test, port: number, names: readonly string[], options: readonly string[] = [], host?: string): Promise<string> {
  const found: QuicResponses = await quicGet(
    port,
    names.map((name) => `/${name}`),
    [...PATIENT, '--no-quic-dump', '--no-http-dump', ...options],
    host,
  );
  for (const name of names) {
    t.equal(hash(found.bodies[name]!), hash(files[`html/${name}`]!), name);
  }
  return found.output;
}

t.test('between a client and the server', { skip }, async (t) => {
  const server = await start(t);
  const port = server.port(0);
  const file = (name: string): string => join(server.dir, name);

  await t.test('handshake, transfer, http3', async (t) => {
    await whole(t, port, ['small']);
    await whole(t, port, ['small', 'middle', 'large']);
  });

  await t.test('multiconnect', async (t) => {
    for (let i = 0; i < 5; i++) {
      await whole(t, port, ['small'], ['--disable-early-data']);
    }
  });

  await t.test('retry', async (t) => {
    const token = [`--token-file=${file('token')}`];
    await whole(t, server.port(1), ['small'], token);
    const kept = readFileSync(file('token'), 'latin1');
    t.match(kept, /BEGIN/);
  });

  await t.test('resumption and zerortt', async (t) => {
    const options = [`--session-file=${file('session')}`, `--tp-file=${file('parameters')}`];
    const seen = async (more: readonly string[]): Promise<string> =>
      (await quicGet(port, ['/seen'], [...PATIENT, ...options, ...more])).bodies['seen']!;
    t.match(await seen(['--disable-early-data']), /^\. /);
    t.match(await seen(['--disable-early-data']), /^r {2}TLS/);
    t.match(await seen([]), /^r 1 TLS/, 'the request came as early data');
  });

  await t.test('chacha20', async (t) => {
    const options = ['--ciphers=NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+CHACHA20-POLY1305'];
    t.match((await quicGet(port, ['/seen'], [...PATIENT, ...options])).bodies['seen'], /TLS_CHACHA20_POLY1305_SHA256$/);
    await whole(t, port, ['middle'], options);
  });
});
