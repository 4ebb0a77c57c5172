import { type Feature, feature } from './feature.js';
import { tlsOf } from './features-tls.js';

/** Names that variables of `stream` can have in their place. */
const NAMES = ['localhost', 'localhost', 'a.example.com', 'example.org', '$ssl_preread_server_name'];

const ANSWER = 'HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\nX-By: $protocol $server_addr\\r\\n\\r\\nok\\n';

/** What a server of `stream` does with its clients. */
export const streamHandlers: readonly Feature[] = [
  feature('stream-proxy', (r) => ({
    session: `proxy_pass ${r.oneOf(['%%GROUP%%', '%%BACKEND%%'])}; ${r.oneOf([
      '',
      '',
      'proxy_buffer_size 16;',
      'proxy_half_close on;',
      'proxy_upload_rate 10m; proxy_download_rate 10m;',
      'proxy_socket_keepalive on; tcp_nodelay off;',
      'proxy_protocol on;',
    ])}`,
  })),
  feature('stream-two', (r) => ({
    stream: `upstream two_%%CASE%% { ${r.oneOf(['', 'least_conn;'])} server 127.0.0.1:1 max_fails=0; server %%BACKEND%% backup max_fails=0; }`,
    session: `proxy_pass two_%%CASE%%; ${r.oneOf(['', '', 'proxy_next_upstream off;', 'proxy_next_upstream_tries 1;', 'proxy_protocol on;'])}`,
  })),
  feature('stream-group', (r) => ({
    stream: `upstream many_%%CASE%% { ${r.oneOf(['', 'least_conn;', 'hash $remote_addr;', 'hash $server_addr consistent;', 'random;'])} server %%BACKEND%% max_fails=0; server %%BACKEND%% weight=2 max_fails=0; }`,
    session: `proxy_pass many_%%CASE%%; ${r.oneOf(['', 'proxy_protocol on;'])}`,
  })),
  feature('stream-map', (r) => ({
    stream: `map $${r.oneOf(['server_addr', 'remote_addr', 'protocol', 'ssl_preread_server_name'])} $to_%%CASE%% { ~^127 %%BACKEND%%; TCP %%GROUP%%; localhost %%BACKEND%%; default ${r.oneOf(['%%GROUP%%', '""', '127.0.0.1:1', 'no.where:1'])}; }`,
    session: `proxy_pass $to_%%CASE%%; ${r.oneOf(['', 'ssl_preread on;'])}`,
  })),
  feature('stream-tls', (r) => ({
    session: `proxy_pass %%GROUP%%; proxy_ssl on; ${tlsOf(r, 'proxy', NAMES).replace(/\$arg_x/g, '1')} ${r.oneOf(['', 'proxy_ssl_alpn http/1.1;', 'proxy_protocol on;', 'proxy_buffer_size 64;'])}`,
  })),
  feature('stream-return', (r) => ({
    session: r.oneOf([
      `return "${ANSWER}";`,
      `preread_buffer_size 64; ssl_preread on; return "${ANSWER}";`,
      'return "";',
      `set $said $remote_addr; return "${ANSWER.replace('$protocol', '$said')}";`,
    ]),
  })),
  feature('stream-preread', (r) => ({
    stream: `map $ssl_preread_${r.oneOf(['server_name', 'protocol', 'alpn_protocols'])} $by_%%CASE%% { localhost %%BACKEND%%; ~http %%BACKEND%%; ~TLS %%GROUP%%; default ${r.oneOf(['%%BACKEND%%', '127.0.0.1:1'])}; }`,
    session: `ssl_preread on; proxy_pass $by_%%CASE%%; ${r.oneOf(['', '', 'preread_buffer_size 64;', 'preread_timeout 10m;', 'proxy_protocol on;'])}`,
  })),
  feature('stream-js', (r) => ({
    session: `${r.oneOf(['js_preread main.preread;', 'js_filter main.filterUp;', 'js_filter main.filterDown;', 'js_access main.admit;', 'js_preread main.preread; js_filter main.filterDown;'])} proxy_pass %%GROUP%%;`,
  })),
];

/** Servers of `stream` with a server of `http` behind them. */
export const frontHandlers: readonly Feature[] = [
  feature('stream-front', (r) => ({
    session: `proxy_pass %%DOOR%%; proxy_protocol on; ${r.oneOf(['', '', 'proxy_buffer_size 64;', 'proxy_half_close on;', 'ssl_preread on;', 'js_filter main.through;'])}`,
  })),
  feature('stream-pass', (r) => ({ session: `pass %%HTTP%%; ${r.oneOf(['', 'ssl_preread on; preread_timeout 10m;'])}` })),
];

/** What comes on top in a server of `stream`. */
export const streamModifiers: readonly Feature[] = [
  feature('stream-access', (r) => ({
    session: r.oneOf([
      'allow 127.0.0.1; deny all;',
      'deny 10.0.0.9;',
      'allow 127.0.0.0/8; deny all;',
      'deny all;',
      'allow 10.0.0.0/8; deny all;',
    ]),
  })),
  feature('stream-limit', (r) => ({
    session: `limit_conn sessions ${r.oneOf([1, 10])}; ${r.oneOf(['', 'limit_conn_dry_run on;', 'limit_conn_log_level warn;'])}`,
  })),
  feature('stream-realip', (r) => ({ session: `set_real_ip_from ${r.oneOf(['127.0.0.0/8', '10.0.0.0/8'])};` })),
  feature('stream-set', () => ({ session: 'set $kept "$remote_addr $protocol";' })),
  feature('stream-tcp', (r) => ({
    session: r.oneOf([
      'tcp_nodelay off;',
      'proxy_timeout 10m;',
      'proxy_connect_timeout 10m;',
      'preread_buffer_size 16;',
      'proxy_bind 127.0.0.3;',
      'proxy_bind 192.0.2.1;',
      'proxy_bind $remote_addr;',
    ]),
  })),
];
