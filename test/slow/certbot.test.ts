import { execFile, spawn, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { connect, type PeerCertificate } from 'node:tls';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { serverCommand } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { startNameServer } from '../support/name-server.js';
import { reservePort } from '../support/ports.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const NAME = 'site.example.com';
const lacks = (command: string, ...args: string[]): boolean => spawnSync(command, args).error !== undefined;
const none = t.testdir({});
const plugins = spawnSync('certbot', ['plugins', '--config-dir', none, '--work-dir', none, '--logs-dir', none]);
const missing =
  (lacks('certbot', '--version') && 'no certbot') ||
  (!`${plugins.stdout}`.includes('nginx') && 'certbot has no plugin for nginx') ||
  (lacks('pebble', '-h') && 'no pebble');

/** An authority that asks the server for its proof, and believes our name server. Resolves with the address of its directory. */
async function startAuthority(t: Test, server: Server, dns: number): Promise<string> {
  const [directory, management] = [await reservePort(), await reservePort()];
  t.teardown(() => {
    directory.release();
    management.release();
  });
  const pebble = {
    listenAddress: `127.0.0.1:${directory.port}`,
    managementListenAddress: `127.0.0.1:${management.port}`,
    certificate: certs().rsa.cert,
    privateKey: certs().rsa.key,
    httpPort: server.port(0),
    tlsPort: server.port(1),
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  };
  await server.write('pebble.json', JSON.stringify({ pebble }));
  const child = spawn('pebble', ['-config', `${server.dir}/pebble.json`, '-dnsserver', `127.0.0.1:${dns}`], {
    env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0' },
  });
  t.teardown(() => child.kill());
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('latin1').on('data', (text: string) => (said += text));
  }
  await waitFor(() => said.includes('ACME directory available'), { what: () => `pebble\n${said}` });
  return `https://127.0.0.1:${directory.port}/dir`;
}

function certificateOf(server: Server): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: server.port(1), servername: NAME, rejectUnauthorized: false });
    socket.on('secureConnect', () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

t.test('certbot obtains a certificate, writes it into the configuration and reloads', { skip: missing, timeout: 240_000 }, async (t) => {
  // Another name gets its certificate from sluice's own client, which leaves certbot's challenges alone.
  const beside = `# certbot adds a listener at %%PORT_1%%.
    resolver 127.0.0.1;
    acme_issuer other { uri https://127.0.0.1:1/dir; state_path %%DIR%%/other; }
    server { listen 127.0.0.1:%%PORT_2%% ssl; server_name own.example.com; acme_certificate other;
      ssl_certificate $acme_certificate; ssl_certificate_key $acme_certificate_key; }`;
  const server = await startServer(t, {
    conf: httpConf(`${beside}\nserver {\nlisten 127.0.0.1:%%PORT_0%%;\nserver_name ${NAME};\nlocation / { return 200 "$scheme"; }\n}`),
    asRoot: true,
  });
  const dns = await startNameServer(t, { [NAME]: [{ type: 'A', value: '127.0.0.1' }] });
  const authority = await startAuthority(t, server, dns.port);
  // certbot starts a server that does not run yet; here it has to talk to the one of this test.
  const own = [...serverCommand(), '-p', `${server.dir}/`, '-g', `"pid ${server.dir}/server.pid;"`].join(' ');
  await server.write('ctl', `#!/bin/sh\nexec ${own} "$@"\n`);
  spawnSync('chmod', ['+x', `${server.dir}/ctl`]);
  symlinkSync('sluice.conf', `${server.dir}/nginx.conf`);
  const folders = ['config', 'work', 'logs'].flatMap((each) => [`--${each}-dir`, `${server.dir}/certbot/${each}`]);
  const nginx = ['--nginx', '--nginx-server-root', server.dir, '--nginx-ctl', `${server.dir}/ctl`, '--nginx-sleep-seconds', '3'];
  const ports = ['--http-01-port', String(server.port(0)), '--https-port', String(server.port(1))];
  const consent = ['--non-interactive', '--agree-tos', '--register-unsafely-without-email', '--no-redirect'];
  const args = ['run', '-d', NAME, '--server', authority, ...folders, ...nginx, ...ports, ...consent];
  const { stdout } = await promisify(execFile)('certbot', args, { env: { ...process.env, REQUESTS_CA_BUNDLE: certs().ca.cert } });
  t.match(stdout, `Congratulations! You have successfully enabled HTTPS on https://${NAME}`);
  const shown = await waitFor(() => certificateOf(server).catch(() => undefined));
  t.match(String(shown!.issuer.CN), /^Pebble Intermediate CA/);
  t.equal(shown!.subjectaltname, `DNS:${NAME}`);
  t.match(server.read('sluice.conf'), 'managed by Certbot');
});
