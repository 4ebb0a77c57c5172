import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';

const message = async (t: Test, conf: string): Promise<string | undefined> =>
  (await configMessage(t, conf))?.replace(/ in %%FILE%%:\d+$/, '');

t.test('a directive without effect is refused a second time as any other', async (t) => {
  for (const [text, name] of [
    ['pcre_jit on; pcre_jit on; events { }', 'pcre_jit'],
    ['events { multi_accept on; multi_accept on; }', 'multi_accept'],
    ['events { } http { types_hash_max_size 1024; types_hash_max_size 1024; }', 'types_hash_max_size'],
    ['events { } http { server_names_hash_max_size 1024; server_names_hash_max_size 1024; }', 'server_names_hash_max_size'],
    ['events { } http { server { gzip_buffers 4 8k; gzip_buffers 4 8k; } }', 'gzip_buffers'],
    ['events { } http { server { http2_pool_size 4k; http2_pool_size 4k; } }', 'http2_pool_size'],
    ['events { } http { read_ahead 1k; read_ahead 1k; }', 'read_ahead'],
    ['events { } http { upstream u { server 127.0.0.1; least_time header; least_time header; } }', 'least_time'],
  ] as const) {
    t.equal(await message(t, text), `"${name}" directive is duplicate`, text);
  }
  t.equal(await message(t, 'thread_pool a threads=1; thread_pool b threads=1; events { }'), undefined);
  t.equal(await message(t, 'events { } http { gzip_buffers 4 8k; server { gzip_buffers 4 8k; } }'), undefined);
});

t.test('that a server has no certificate is told after all else', async (t) => {
  const { cert } = certs().rsa;
  const conf = `events { } http {
    server { listen 127.0.0.1:8443 ssl; }
    server { ssl_certificate ${cert}; ssl_certificate_key /nowhere/key; } }`;
  t.match(await message(t, conf), /^cannot load certificate key "\/nowhere\/key"/);
  t.match(
    await message(t, conf.replace('ssl_certificate_key /nowhere/key', 'ssl_certificate_key $none')),
    /^no "ssl_certificate" is defined for/,
  );
});

t.test('a mask of processors is read from its end', async (t) => {
  t.equal(await message(t, 'worker_cpu_affinity on; events { }'), 'invalid character "n" in "worker_cpu_affinity"');
});

t.test('a variable that is taken is refused before its block is read', async (t) => {
  for (const block of ['map $uri $https { x y z; }', 'geo $https { x y z; }', 'split_clients $uri $https { x y z; }']) {
    t.equal(await message(t, `events { } http { ${block} }`), 'the duplicate "https" variable', block);
  }
});
