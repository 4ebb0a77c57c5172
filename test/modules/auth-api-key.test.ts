import { createHash } from 'node:crypto';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const hashOf = (key: string): string => createHash('sha256').update(key, 'latin1').digest('hex');
const sent = (key: string): Record<string, string> => ({ 'X-API-Key': key });

t.test('keys of a file and of a zone', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `
      auth_api_key "programs"; auth_api_key_file api-keys;
      location / { try_files /none @ok; }
      location /query { auth_api_key x key=$arg_key; try_files /none @ok; }
      location /zone { auth_api_key_zone keys; try_files /none @ok; }
      location /both { auth_api_key_file more-keys; auth_api_key_zone keys; try_files /none @ok; }
      location /many { auth_api_key_file many; try_files /none @ok; }
      location /missing { auth_api_key_file none; try_files /none @ok; }
      location /open { auth_api_key off; return 200 "[$api_key_name]"; }
      location /nameless { auth_api_key ""; try_files /none @ok; }
      location /limited { limit_req zone=program; try_files /none @ok; }
      location /any { satisfy any; deny all; try_files /none @ok; }
      location /api { auth_api_key off; api write=on; }
      location @ok { auth_api_key off; return 200 $api_key_name; }`,
      'keyval_zone zone=keys:1m; limit_req_zone $api_key_name zone=program:1m rate=1r/m;',
    ),
    files: {
      'api-keys': `# programs\nshop:${hashOf('secret one')}\n\nstock: and more:${hashOf('secret two').toUpperCase()}\nbad:plain text\nagain:${hashOf('secret one')}\n`,
      many: Array.from({ length: 3000 }, (_, i) => `n${i}:${hashOf(`key ${i}`)}\n`).join(''),
      'more-keys': `other:${hashOf('secret three')}\n`,
    },
  });
  const get = async (path: string, key?: string) => {
    const { status, text } = await httpGet(s, path, key === undefined ? {} : sent(key));
    return [status, status === 200 ? text : ''];
  };
  const none = await httpGet(s, '/');
  t.strictSame([none.status, none.header('WWW-Authenticate')], [401, 'ApiKey realm="programs"']);
  t.equal((await httpGet(s, '/nameless')).header('WWW-Authenticate'), 'ApiKey');
  t.strictSame(await get('/', 'secret one'), [200, 'shop']);
  t.strictSame(await get('/', 'secret two'), [200, 'stock: and more']);
  for (const wrong of ['', 'secret', 'secret one.', 'plain text', hashOf('secret one')]) {
    t.strictSame(await get('/', wrong), [401, ''], wrong);
  }
  t.strictSame(await get('/query?key=none', 'secret one'), [401, '']);
  t.strictSame(await get('/open', 'secret one'), [200, '[]']);
  t.strictSame(await get('/missing', 'secret one'), [500, '']);
  t.strictSame(await get('/missing'), [401, '']);
  t.strictSame(await get('/any', 'secret one'), [200, 'shop']);
  t.strictSame(await get('/any', 'secret'), [401, '']);
  t.strictSame(await get('/limited', 'wrong'), [401, ''], 'a wrong key counts for nobody');
  t.strictSame(await get('/limited', 'secret one'), [200, 'shop']);
  t.strictSame(await get('/limited', 'secret one'), [503, '']);
  t.strictSame(await get('/limited', 'secret two'), [200, 'stock: and more']);
  t.strictSame(await get('/zone', 'secret four'), [401, '']);
  await http(s, requestText('POST', '/api/9/http/keyvals/keys', {}, JSON.stringify({ [hashOf('secret four')]: 'four' })));
  t.strictSame(await get('/zone', 'secret four'), [200, 'four'], 'a key that came while the server ran');
  t.strictSame(await get('/both', 'secret four'), [200, 'four']);
  t.strictSame(await get('/both', 'secret three'), [200, 'other']);
  t.strictSame(await get('/both', 'secret one'), [401, '']);
  t.strictSame(await get('/many', 'key 2999'), [200, 'n2999'], 'a large file');
  await s.write('many', `x:${hashOf('key 2999')}\n${'#\n'.repeat(100_000)}`);
  t.strictSame(await get('/many', 'key 2999'), [200, 'x']);
  t.strictSame(await get('/many', 'key 2998'), [401, '']);
  await s.write('api-keys', `shop:${hashOf('a new one')}\n`);
  t.strictSame(await get('/', 'secret one'), [401, '']);
  t.strictSame(await get('/', 'a new one'), [200, 'shop']);
  const log = s.log();
  t.match(log, /API keys ".*api-keys": line 5 is not used: it is not NAME:HASH/);
  t.match(log, /line 6 is not used: the key is there twice/);
  t.notMatch(log, 'plain text');
  t.notMatch(log, 'secret one');
});

t.test('configurations', async (t) => {
  const message = (text: string) => configMessage(t, serverConf(text));
  t.equal(await message('auth_api_key a b;'), 'invalid parameter "b" in %%FILE%%:11');
  t.equal(await message('auth_api_key a key=b;'), 'invalid parameter "key=b" in %%FILE%%:11');
  t.equal(await message('auth_api_key a; auth_api_key off;'), '"auth_api_key" directive is duplicate in %%FILE%%:11');
  t.equal(await message('auth_api_key_file $host;'), 'invalid file "$host" in %%FILE%%:11');
  t.match(await message('auth_api_key_zone nosuch;'), /zone/);
});
