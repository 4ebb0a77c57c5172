import { readdirSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import t from 'tap';
import { certs } from '../support/certs.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';
import { fileHarms, insideHarms, zoneFiles } from '../support/zone-harm.js';

interface Greeted {
  readonly text: string;
  readonly session: Buffer | undefined;
}

/** One request on a TLS connection of its own. Rejects when the handshake fails. */
function greet(port: number, maxVersion: 'TLSv1.2' | 'TLSv1.3', session?: Buffer): Promise<Greeted> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion, session });
    let text = '';
    let given: Buffer | undefined;
    socket.setEncoding('latin1');
    socket.on('session', (data: Buffer) => (given = data));
    socket.on('secureConnect', () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('data', (data: string) => (text += data));
    socket.on('error', reject);
    socket.on('close', () => resolve({ text: text.slice(text.indexOf('\r\n\r\n') + 4), session: given }));
  });
}

/** What a stream server says to who connects. */
function said(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: '127.0.0.1', port });
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (data: string) => (text += data));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

t.test('harm to zones of TLS sessions and tickets and of keyval in stream, also while a reload goes on', async (t) => {
  const { cert, key } = certs().rsa;
  const tls = `ssl_certificate ${cert}; ssl_certificate_key ${key}; return 200 $ssl_session_reused;`;
  const s = await startServer(t, {
    conf: `${httpConf(
      `server { listen 127.0.0.1:%%PORT_0%%; location /api { api write=on; } }
      server { listen 127.0.0.1:%%PORT_1%% ssl; ssl_session_tickets off; ssl_session_cache shared:S:1m; ${tls} }
      server { listen 127.0.0.1:%%PORT_2%% ssl; ssl_session_tickets on; ssl_session_cache shared:T:1m; ${tls} }`,
      'worker_processes 2; zone_directory %%DIR%%/zones;',
    )}
    stream { keyval_zone zone=pairs:64k; keyval $server_addr $kv zone=pairs; server { listen 127.0.0.1:%%PORT_3%%; return "[$kv]"; } }`,
    asRoot: true,
    expectAlerts: /zone "[^"]+"/,
  });
  const [run] = readdirSync(`${s.dir}/zones`).map((name) => `${s.dir}/zones/${name}`);
  const change = async (method: string, body: object): Promise<number> =>
    (
      await http(
        s,
        requestText(
          method,
          '/api/9/stream/keyvals/pairs',
          { Connection: 'close', 'Content-Type': 'application/json' },
          JSON.stringify(body),
        ),
      )
    ).status;
  const ways = [1, 2].flatMap((port) => (['TLSv1.2', 'TLSv1.3'] as const).map((version) => [port, version] as const));
  const sessions = new Map<string, Buffer>();
  const use = async (what: string): Promise<void> => {
    // What was given before the harm may be known or not: there is a handshake.
    for (const [port, version] of ways) {
      const session = sessions.get(`${port} ${version}`);
      for (let i = 0; i < 4; i++) {
        t.match((await greet(s.port(port), version, session)).text, /^[r.]$/, `${what}: ${version} on ${port}`);
      }
    }
    // What is given now is known to all workers, once both have found the new file.
    for (const [port, version] of ways) {
      const again = async (): Promise<boolean> => {
        const { session } = await greet(s.port(port), version);
        sessions.set(`${port} ${version}`, session!);
        for (let i = 0; i < 8; i++) {
          if ((await greet(s.port(port), version, session)).text !== 'r') {
            return false;
          }
        }
        return true;
      };
      await waitFor(again, { what: () => `${what}: ${version} on ${port} goes on ${s.log()}` });
    }
    // A worker that has not found out yet changes a file that is gone already.
    const changed = async (): Promise<boolean> => {
      if ((await change('PATCH', { '127.0.0.1': what })) !== 204) {
        await change('POST', { '127.0.0.1': what });
      }
      const all = await Promise.all(Array.from({ length: 8 }, () => said(s.port(3))));
      return all.every((text) => text === `[${what}]`);
    };
    await waitFor(changed, { what: () => `${what}: the pair ${s.log()}` });
    t.equal((await httpGet(s, '/api/9/slabs')).status, 200, what);
    t.notMatch(s.log(), /exited on signal|exited with (fatal )?code [1-9]|exception/, `${what}: no worker has ended`);
  };
  await change('POST', { '127.0.0.1': '0' });
  await use('before');
  for (const [what, harm] of Object.entries({ ...fileHarms, ...insideHarms })) {
    zoneFiles(run!).forEach(harm);
    await use(what);
  }
  for (const what of ['overwritten', 'emptied', 'removed'] as const) {
    const reloading = s.reload();
    zoneFiles(run!).forEach(fileHarms[what]!);
    await Promise.all([reloading, use(`${what} while it reloads`)]);
  }
});
