import { certs, pem } from '../support/certs.js';
import type { Files } from '../support/prefix.js';
import { type Feature, feature } from './feature.js';
import { cgi } from './features.js';
import type { Random } from './random.js';

/** Names that the backend's certificate has, and others. */
const NAMES = ['localhost', 'localhost', 'a.example.com', 'example.org', '$host', '$arg_x'];

const TRUST = 'trusted_certificate %%DIR%%/tls/ca.crt;';

/** What is said of TLS to a backend, without the beginnings of the directives' names. */
const SETTINGS: readonly (readonly string[])[] = [
  ['', '', 'session_reuse off;'],
  [
    '',
    '',
    `verify on; ${TRUST}`,
    `verify on; ${TRUST} verify_depth 0;`,
    'verify on; trusted_certificate %%DIR%%/tls/other.crt;',
    `verify on; ${TRUST} crl %%DIR%%/tls/empty.crl;`,
  ],
  [
    '',
    '',
    'protocols TLSv1.2;',
    'protocols TLSv1.3;',
    'protocols TLSv1.2; ciphers ECDHE-ECDSA-AES128-GCM-SHA256;',
    'protocols TLSv1.2; ciphers ECDHE-RSA-AES128-GCM-SHA256;',
  ],
  [
    '',
    '',
    'certificate %%DIR%%/tls/client.crt; certificate_key %%DIR%%/tls/client.key;',
    'certificate %%DIR%%/tls/$arg_x.crt; certificate_key %%DIR%%/tls/$arg_x.key;',
  ],
  ['', 'server_name on;', 'server_name on;'],
];

/** Directives of a family about TLS to its backends. `names`: for whom the backend may be. */
export const tlsOf = (r: Random, family: string, names = NAMES): string =>
  [...SETTINGS.map((some) => r.oneOf(some)), r.oneOf(['', `name ${r.oneOf(names)};`])]
    .flatMap((text) => text.split(/(?<=;) /))
    .filter((text) => text !== '')
    .map((text) => `${family}_ssl_${text}`)
    .join(' ');

/** Certificates and their keys, which backends ask for. */
export function tlsFiles(): Files {
  const { ca, other, client, crl, crlWithClient } = certs();
  return {
    'tls/ca.crt': pem(ca.cert),
    'tls/other.crt': pem(other.cert),
    'tls/client.crt': pem(client.cert),
    'tls/client.key': pem(client.key),
    'tls/empty.crl': pem(crl),
    'tls/client.crl': pem(crlWithClient),
    // For `?x=1`.
    'tls/1.crt': pem(client.cert),
    'tls/1.key': pem(client.key),
  };
}

/** Content that comes from backends over TLS. */
export const tlsHandlers: readonly Feature[] = [
  feature('https', (r) => ({
    location: `proxy_pass https://%%GROUP%%${r.oneOf(['', '', '/prefix/', '$request_uri'])}; ${tlsOf(r, 'proxy')}`,
  })),
  feature('https-kept', (r) => ({
    http: `upstream kept_%%CASE%% { server %%BACKEND%% max_fails=0; keepalive ${r.oneOf([1, 4])}; ${r.oneOf(['', 'keepalive_requests 1;', 'hash $uri;'])} }`,
    location: `proxy_pass https://kept_%%CASE%%; ${tlsOf(r, 'proxy')} ${r.oneOf(['', 'proxy_http_version 2;', 'proxy_request_buffering off;', 'proxy_next_upstream error timeout invalid_header http_502 non_idempotent;'])}`,
  })),
  feature('https-two', (r) => ({
    http: `upstream two_%%CASE%% { server 127.0.0.1:1 max_fails=0; server %%BACKEND%% backup max_fails=0; }`,
    location: `proxy_pass https://two_%%CASE%%; ${tlsOf(r, 'proxy')}`,
  })),
  feature('grpcs', (r) => ({ location: `grpc_pass grpcs://%%GROUP%%; ${tlsOf(r, 'grpc')}` })),
  feature('suwsgi', (r) => ({ location: `${cgi('uwsgi').replace('uwsgi_pass ', 'uwsgi_pass suwsgi://')} ${tlsOf(r, 'uwsgi')}` })),
];

/** What is asked of clients about themselves. */
export const clientCertificates: readonly Feature[] = [
  feature('client-certificate', (r) => ({
    server: `ssl_verify_client ${r.oneOf(['on', 'optional', 'optional', 'optional_no_ca'])}; ssl_client_certificate %%DIR%%/tls/${r.oneOf(['ca', 'ca', 'other'])}.crt; ${r.oneOf(['', 'ssl_verify_depth 0;', 'ssl_crl %%DIR%%/tls/client.crl;', 'ssl_session_tickets off;', 'error_page 495 496 =403 /error;', 'error_page 400 495 @failed;'])}
add_header X-Verify "$ssl_client_verify" always; add_header X-Name "$ssl_client_s_dn|$ssl_client_i_dn|$ssl_client_s_dn_legacy|$ssl_client_serial|$ssl_client_fingerprint|$ssl_server_name" always;`,
    location: r.oneOf([
      '',
      '',
      'if ($ssl_client_verify != SUCCESS) { return 403 "$ssl_client_verify\n"; }',
      'add_header X-Dates "$ssl_client_v_start|$ssl_client_v_end|$ssl_client_v_remain" always; add_header X-Verify $ssl_client_verify;',
      'proxy_set_header X-Certificate $ssl_client_escaped_cert; proxy_pass http://%%GROUP%%;',
      'return 200 "$ssl_client_raw_cert";',
    ]),
  })),
];

/** What may be said of requests that came before the handshake was over. */
export const tlsModifiers: readonly Feature[] = [
  feature('early', (r) => ({
    location: r.oneOf([
      'proxy_set_header Early-Data $ssl_early_data;',
      'if ($ssl_early_data) { return 425; }',
      'add_header X-Early "$ssl_early_data" always;',
    ]),
  })),
];
