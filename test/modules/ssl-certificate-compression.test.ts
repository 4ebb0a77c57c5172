import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { type ConnectionOptions, connect, createSecureContext, type SecureContextOptions, type TLSSocket } from 'node:tls';
import t from 'tap';
import { loadLibrary } from '../../src/shared/native/native.js';
import { whyNoCompression } from '../../src/worker/net/openssl/certificate-compression.js';
import { contextAddress } from '../../src/worker/net/openssl/context-address.js';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { makePrefix } from '../support/prefix.js';
import { testConfig } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';

const skip = againstNginx ? 'it depends on what nginx is linked with' : false;
const why = skip ? '' : whyNoCompression();
const pair = ({ cert, key }: { cert: string; key: string }): string => `ssl_certificate ${cert}; ssl_certificate_key ${key};`;

/** A certificate whose names repeat themselves: about 12 KB, and a tenth of that when it is compressed. */
function makeLong(dir: string, name: string, kind: readonly string[]): { cert: string; key: string } {
  const names = Array.from({ length: 300 }, (_, i) => `DNS:name-${i}.a-rather-long-domain.example.com`).join(',');
  const [cert, key] = [`${dir}/${name}.crt`, `${dir}/${name}.key`];
  const args = ['req', '-x509', '-nodes', '-newkey', ...kind, '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=long'];
  execFileSync('openssl', [...args, '-addext', `subjectAltName=DNS:localhost,${names}`], { stdio: 'pipe' });
  // Workers of another user read it for a handshake.
  chmodSync(key, 0o644);
  return { cert, key };
}

/** Has a client ask for one coding alone. */
function prefer(context: unknown, algorithm: number): void {
  const library = loadLibrary();
  if (typeof library !== 'string') {
    library.find('int SSL_CTX_set1_cert_comp_preference(intptr_t, void *, size_t)')(
      contextAddress(context),
      new Int32Array([algorithm]),
      1,
    );
  }
}

/** How many bytes a server sent for a handshake, whose certificate was checked. */
function handshakeBytes(port: number, options: ConnectionOptions): Promise<{ bytes: number; tls: TLSSocket }> {
  return new Promise((done, fail) => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.once('error', fail);
    const tls = connect({ socket, servername: 'localhost', ...options });
    tls.once('error', fail);
    tls.once('secureConnect', () => done({ bytes: socket.bytesRead, tls }));
  });
}

t.test('certificates leave compressed where a client takes that', { skip: skip || why || false }, async (t) => {
  const { dir } = await makePrefix(t, {});
  const rsa = makeLong(dir, 'rsa', ['rsa:2048']);
  const ec = makeLong(dir, 'ec', ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']);
  const on = 'ssl_certificate_compression on;';
  const s = await startServer(t, {
    conf: `${httpConf(`
      ssl_session_tickets off;
      server { listen 127.0.0.1:%%PORT_0%% ssl; ${pair(rsa)} ${pair(ec)} ${on} return 200 "ok"; }
      server { listen 127.0.0.1:%%PORT_1%% ssl; ${pair(rsa)} return 200 "ok"; }
      map $ssl_server_name $file { default ${rsa.cert.replace('.crt', '')}; }
      server { listen 127.0.0.1:%%PORT_2%% ssl; ssl_certificate $file.crt; ssl_certificate_key $file.key; ${on} return 200 "ok"; }`)}
      stream { server { listen 127.0.0.1:%%PORT_3%% ssl; ${pair(rsa)} ${on} return "ok"; } }`,
  });
  const ca = [readFileSync(rsa.cert), readFileSync(ec.cert)];
  const bytes = async (port: number, options: ConnectionOptions = {}): Promise<number> => {
    const { bytes, tls } = await handshakeBytes(s.port(port), { ca, ...options });
    t.match(tls.getPeerX509Certificate()?.subjectAltName, 'name-299.a-rather-long', 'the certificate is whole, and trusted');
    tls.destroy();
    return bytes;
  };
  t.ok((await bytes(0)) > 12_000, 'a client that does not ask for it');
  const asking = (algorithm: number, more: SecureContextOptions = {}): ConnectionOptions => {
    const secureContext = createSecureContext({ ca, ...more });
    prefer(secureContext.context, algorithm);
    return { secureContext };
  };
  for (const [algorithm, name] of ['zlib', 'brotli', 'zstd'].entries()) {
    t.ok((await bytes(0, asking(algorithm + 1))) < 6_000, name);
  }
  t.ok((await bytes(1, asking(1))) > 12_000, 'off by default');
  t.ok((await bytes(0, asking(1, { sigalgs: 'rsa_pss_rsae_sha256' }))) < 6_000, 'each certificate of a server');
  t.ok((await bytes(0, asking(1, { maxVersion: 'TLSv1.2' }))) > 12_000, 'TLS 1.2 has nothing of the kind');
  t.ok((await bytes(3, asking(1))) < 6_000, 'stream');
  t.ok((await bytes(2, asking(1))) > 12_000, 'certificates that variables name are read for each handshake');
  await s.reload();
  t.ok((await bytes(0, asking(1))) < 6_000, 'after a reload');
});

t.test('what -t says', { skip }, async (t) => {
  const { rsa } = certs();
  const server = (more: string): string =>
    httpConf(`server { listen 127.0.0.1:%%PORT_0%% ssl; ${pair(rsa)} server_name localhost; ${more} }`);
  const stapling = 'ssl_certificate_compression on; ssl_stapling on;';
  t.match(await configMessage(t, server(stapling)), '"ssl_stapling" is incompatible with "ssl_certificate_compression"');
  const { code, stderr } = await testConfig(t, server('ssl_certificate_compression on;'));
  t.equal(code, 0);
  t.equal(/"ssl_certificate_compression" is not supported on this platform, ignored/.test(stderr), why !== '', stderr);
  const variable = 'ssl_certificate_compression on; ssl_certificate $a.crt; ssl_certificate_key $a.key;';
  if (why === '') {
    const { stderr } = await testConfig(t, httpConf(`server { listen 127.0.0.1:%%PORT_0%% ssl; set $a a; ${variable} }`));
    t.match(stderr, '[warn] SSL_CTX_compress_certs() failed, ignored');
  }
});
