import { X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connect } from 'node:tls';
import type { Test } from 'tap';
import { type NameServer, startNameServer } from './name-server.js';
import { type Pebble, type PebbleOptions, startPebble } from './pebble.js';
import { reservePort } from './ports.js';
import { httpConf, type Server } from './server.js';
import { waitFor } from './wait.js';

/** A CA, the ports at which it looks for answers, and a name server that knows all names of example.com. */
export interface Scene {
  readonly ca: Pebble;
  readonly dns: NameServer;
  readonly http: number;
  readonly tls: number;
  /** An `acme_issuer` block for the CA, with further lines. */
  issuer(name: string, lines?: string): string;
}

export async function scene(t: Test, names: readonly string[], options: Partial<PebbleOptions> = {}): Promise<Scene> {
  const [http, tls] = [await reservePort(), await reservePort()];
  t.teardown(() => {
    http.release();
    tls.release();
  });
  const here = [{ type: 'A', value: '127.0.0.1' }] as const;
  const dns = await startNameServer(t, Object.fromEntries(['localhost', ...names].map((name) => [name, here])));
  const ca = await startPebble(t, t.testdir({}), { dnsPort: dns.port, httpPort: http.port, tlsPort: tls.port, ...options });
  return {
    ca,
    dns,
    http: http.port,
    tls: tls.port,
    issuer: (name, lines = '') =>
      `acme_issuer ${name} { uri ${ca.directory}; ssl_trusted_certificate ${ca.trusted}; state_path %%DIR%%/${name}; ${lines} }`,
  };
}

/** The usual configuration: a port for challenges, on which all else is forbidden, and one server for TLS. */
export function conf({ dns, http, tls, issuer }: Scene, names: string, lines = '', more = '', main = ''): string {
  return httpConf(
    `resolver 127.0.0.1:${dns.port} ipv6=off;
    ${issuer('ca', `accept_terms_of_service; ${lines}`)}
    server { listen 127.0.0.1:${http}; deny all; return 403; }
    server {
      listen 127.0.0.1:${tls} ssl;
      server_name ${names};
      acme_certificate ca;
      ssl_certificate $acme_certificate;
      ssl_certificate_key $acme_certificate_key;
      location / { return 200 secret; }
    }
    ${more}`,
    main,
  );
}

/** What a client that trusts `ca` is shown, or why there is no handshake. */
export function shown(port: number, servername: string, ca?: string): Promise<X509Certificate | Error> {
  return new Promise((resolve) => {
    const name = /^[\d.]+$/.test(servername) ? {} : { servername };
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca, checkServerIdentity: () => undefined };
    const socket = connect({ host: '127.0.0.1', port, ...name, ...trust });
    socket.on('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()!);
      socket.destroy();
    });
    socket.on('error', resolve);
  });
}

export const isCertificate = (found: X509Certificate | Error): found is X509Certificate => found instanceof X509Certificate;

export async function certificateOf(server: Server, port: number, name: string, ca?: string): Promise<X509Certificate> {
  const found = await waitFor(
    async () => {
      const result = await shown(port, name, ca);
      return isCertificate(result) && result;
    },
    { what: () => `a certificate for ${name}\n${server.log().slice(-1500)}` },
  );
  return found as X509Certificate;
}

export const issued = (server: Server): number => server.log().split('certificate issued').length - 1;
export const stateOf = (server: Server, issuer = 'ca'): string[] => readdirSync(`${server.dir}/${issuer}`).sort();
