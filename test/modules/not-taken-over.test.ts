// Settings of `http` are checked where a server takes them over, as nginx does when it merges them: what no server has may be wrong.
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { httpConf } from '../support/server.js';

const CACHES = ['proxy', 'fastcgi', 'scgi', 'uwsgi'].map(
  (family) => [`${family}_cache none;`, `${family}_cache off;`, `"${family}_cache" zone "none" is unknown in %%FILE%%:8`] as const,
);

t.test('what no server takes over may be wrong', async (t) => {
  for (const [http, own, message] of [
    ...CACHES,
    [
      'large_client_header_buffers 4 256;',
      'large_client_header_buffers 4 8k;',
      'the "large_client_header_buffers" size must be equal to or greater than "connection_pool_size" in %%FILE%%:8',
    ],
    ['charset koi8-r; source_charset utf-8;', 'charset off;', 'no "charset_map" between the charsets "utf-8" and "koi8-r"'],
    ['proxy_buffers 1 4k;', 'proxy_buffers 8 4k;', 'there must be at least 2 "proxy_buffers" in %%FILE%%:8'],
    ['proxy_set_header A $nobodys;', 'proxy_set_header A x;', 'unknown "nobodys" variable'],
    ['secure_link_secret x; secure_link $arg_a;', 'secure_link $arg_b;', undefined],
  ] as const) {
    // The zone is missed when zones are made.
    const none = http.includes('_cache none;') ? 'zero size shared memory zone "none"' : undefined;
    t.equal(await configMessage(t, httpConf(http)), none, http);
    t.equal(await configMessage(t, httpConf(`${http}\nserver { ${own} }`)), none, `${http} ${own}`);
    t.equal(await configMessage(t, httpConf(`${http}\nserver { }`)), message, `${http} server { }`);
  }
});

t.test('what only a location has is checked at the end of http', async (t) => {
  for (const [location, message] of [
    ['proxy_cache none;', '"proxy_cache" zone "none" is unknown in %%FILE%%:9'],
    [
      'secure_link_secret x; secure_link $arg_a;',
      '"secure_link_secret" cannot be mixed with "secure_link" and "secure_link_md5" in %%FILE%%:9',
    ],
  ] as const) {
    t.equal(await configMessage(t, httpConf(`server {\nlocation / { ${location} } }\n`)), message, location);
  }
  const pool = 'the "large_client_header_buffers" size must be equal to or greater than "connection_pool_size" in %%FILE%%:9';
  t.equal(await configMessage(t, httpConf('server {\nlarge_client_header_buffers 4 256; }\n')), pool);
});
