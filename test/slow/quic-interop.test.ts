// The cases of quic-interop-runner that need one host alone, with ngtcp2's client, whose QUIC is none of ours, and a proxy that harms
// datagrams. What is measured there (goodput, crosstraffic) is that everything arrives here.
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { noQuicClient, type QuicResponses, quicGet } from '../support/gtlsclient.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { type UdpHarm, UdpProxy } from '../support/udp-proxy.js';

const { rsa } = certs();
const skip = noQuicClient;
const SIZES = { small: 5_000, middle: 500_000, large: 2_000_000 };
const files = Object.fromEntries(Object.entries(SIZES).map(([name, size]) => [`html/${name}`, randomBytes(size / 2).toString('hex')]));
const hash = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex');
const PATIENT = ['--timeout=60s', '--handshake-timeout=60s'];

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

  await t.test('keyupdate', async (t) => {
    const output = await whole(t, port, ['large'], ['--key-update=1ms', '--max-data=100K']);
    t.match(output, /key update|Updating traffic key/i);
  });

  await t.test('rebind-port and connectionmigration', async (t) => {
    const slow = ['--max-data=100K', '--change-local-addr=5ms'];
    // A client that has nothing to say behind its new port is never found there: its request is still to come.
    await whole(t, port, ['large'], [...slow, '--nat-rebinding', '--delay-stream=50ms']);
    await whole(t, port, ['large'], slow);
  });

  await t.test('ipv6', async (t) => {
    await whole(t, server.port(2), ['small', 'middle'], [], '::1');
  });

  await t.test('ecn', async (t) => {
    for (const [n, host] of [
      [0, '127.0.0.1'],
      [2, '::1'],
    ] as const) {
      const output = await whole(t, server.port(n), ['middle'], [], host);
      const marks = [...output.matchAll(/Received packet: .* ecn=0x([0-3])/g)].map(([, mark]) => mark);
      t.ok(marks.length > 20, `${marks.length} packets`);
      t.equal(marks.at(-1), '2', 'still marked at the end, since the client says that marks arrive');
    }
  });
});

t.test('through a proxy that harms', { skip }, async (t) => {
  const server = await start(t);
  const rows: readonly (readonly [string, UdpHarm, readonly string[], number])[] = [
    ['handshakeloss', { lost: 0.3 }, ['small'], 3],
    ['transferloss', { lost: 0.02 }, ['large'], 1],
    ['handshakecorruption', { broken: 0.3 }, ['small'], 3],
    ['transfercorruption', { broken: 0.02 }, ['large'], 1],
    ['reordering and copies', { late: 0.05, twice: 0.05 }, ['large'], 1],
  ];
  for (const [what, harm, names, times] of rows) {
    await t.test(what, async (t) => {
      const proxy = await UdpProxy.open(server.port(0), harm);
      t.teardown(() => proxy.close());
      for (let i = 0; i < times; i++) {
        await whole(t, proxy.port, names);
      }
    });
  }

  await t.test('goodput and crosstraffic: several at once', async (t) => {
    await Promise.all([1, 2, 3].map(() => whole(t, server.port(0), ['large'])));
  });

  await t.test('blackhole: nothing passes for a while', async (t) => {
    const proxy = await UdpProxy.open(server.port(0));
    t.teardown(() => proxy.close());
    const done = whole(t, proxy.port, ['large'], ['--max-data=200K']);
    await proxy.until(60);
    proxy.blackhole = true;
    const before = proxy.dropped;
    await proxy.until(before + 3, 'dropped');
    proxy.blackhole = false;
    await done;
  });

  await t.test('rebind-addr: the server sees another port in the middle', async (t) => {
    const proxy = await UdpProxy.open(server.port(0));
    t.teardown(() => proxy.close());
    const done = whole(t, proxy.port, ['large'], ['--max-data=200K']);
    await proxy.until(60);
    proxy.rebind();
    await done;
  });

  await t.test('longrtt', async (t) => {
    const proxy = await UdpProxy.open(server.port(0), { delay: 200 });
    t.teardown(() => proxy.close());
    await whole(t, proxy.port, ['small', 'middle']);
  });
});
