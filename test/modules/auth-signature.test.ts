import t from 'tap';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { digestOf, signed, type ToSign } from '../support/signatures.js';
import { keySet, newKey, sharedKey, type TestKey } from '../support/tokens.js';

const SHOP = sharedKey('shop', 'a secret of thirty-two letters..');
const BANK = newKey('bank', 'EdDSA');
const now = (): number => Math.floor(Date.now() / 1000);

t.test('what signatures must be like', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `error_log %%DIR%%/error.log info; client_body_buffer_size 16k; client_max_body_size 1m;
      auth_signature "api"; auth_signature_key_file keys;
      error_page 418 =200 @in; location @in { return 200 "[$signature_keyid]"; }
      location / { try_files /none =418; }
      location /date { auth_signature_components date; try_files /none =418; }
      location /uri { auth_signature_components @target-uri; try_files /none =418; }
      location /tag { auth_signature_tag "my app"; try_files /none =418; }
      location /short { auth_signature_max_age 10s; auth_signature_leeway 0; try_files /none =418; }
      location /zone { auth_signature_key_zone keys; try_files /none =418; }
      location /missing { auth_signature_key_file none; try_files /none =418; }
      location /off { auth_signature off; return 200 "[$signature_keyid]"; }
      location /any { satisfy any; deny all; try_files /none =418; }
      location /either { satisfy any; allow all; try_files /none =418; }
      location /limit { limit_req zone=key; try_files /none =418; }
      location /nobody { auth_signature off; limit_except GET { auth_signature ""; } empty_gif; }
      location = /inner { try_files /none /again$is_args$args; }
      location = /again { auth_signature_max_age 100s; try_files /none =418; }
      location /told { error_page 401 = @told; try_files /none =418; }
      location @told { auth_signature off; return 200 "$error_reason [$signature_keyid]"; }
      location /api { auth_signature off; api write=on; }`,
      'keyval_zone zone=keys:1m; limit_req_zone $signature_keyid zone=key:1m rate=1r/m;',
    ),
    files: { keys: keySet(SHOP, BANK, newKey('other', 'EdDSA')) },
  });
  const send = async (key: TestKey, request: ToSign, changed: Record<string, string> = {}, path = request.path, body?: string) => {
    const { method = 'GET' } = request;
    const sent = body ?? request.body?.toString('latin1') ?? '';
    const { status, text } = await http(s, requestText(method, path, { ...signed(key, request), ...changed }, sent));
    return status === 200 ? text : status;
  };
  const yes = '[shop]';

  await t.test('components', async (t) => {
    t.equal(await send(SHOP, { path: '/a?b=c' }), yes);
    t.equal(await send(BANK, { path: '/a' }), '[bank]');
    t.equal(await send(SHOP, { path: '/a', components: ['@method', '@target-uri'] }), yes, 'one says as much as three');
    t.equal(await send(SHOP, { path: '/a', components: ['@method', '@authority', '@request-target'] }), yes);
    t.equal(await send(SHOP, { path: '/uri?q', components: ['@target-uri'] }), yes);
    t.equal(await send(SHOP, { path: '/uri', components: ['@authority', '@path', '@query', '@scheme'] }), 401);
    for (const left of ['@method', '@authority', '@path', '@query']) {
      const components = ['@method', '@authority', '@path', '@query'].filter((one) => one !== left);
      t.equal(await send(SHOP, { path: '/a', components }), 401, `without ${left}`);
    }
    t.equal(await send(SHOP, { path: '/date', headers: { date: 'today' }, components: ['date'] }), yes);
    t.equal(await send(SHOP, { path: '/date', headers: { date: 'today' }, components: ['date'] }, { date: 'tomorrow' }), 401);
    t.equal(await send(SHOP, { path: '/date', components: ['date'], values: { '"date"': '' } }), 401, 'no such header');
    // All that can be changed on the way.
    t.equal(await send(SHOP, { path: '/a?b' }, {}, '/a?c'), 401);
    t.equal(await send(SHOP, { path: '/a' }, {}, '/a?'), yes, 'an empty query is none, as the standard has it');
    t.equal(await send(SHOP, { path: '/a' }, {}, '/%61'), 401, 'another way to write the path');
    t.equal(await send(SHOP, { path: '/%61' }), yes);
    t.equal(await send(SHOP, { path: '/a/../b' }), yes, 'as it was sent');
    t.equal(await send(SHOP, { path: '/a/../b' }, {}, '/b'), 401);
    t.equal(await send(SHOP, { path: '/a', method: 'DELETE' }), yes);
    t.equal(await send(SHOP, { path: '/a', authority: 'other' }), 401);
    t.equal(await send(SHOP, { path: '/a', authority: 'example.com:8080' }, { Host: 'EXAMPLE.com:8080' }), yes);
    t.equal(await send(SHOP, { path: '/a', authority: 'example.com' }, { Host: 'example.com:80' }), yes, 'the usual port');
    t.equal(await send(SHOP, { path: '/a', authority: 'example.com:443' }, { Host: 'example.com:443' }), yes, 'not the usual port here');
  });

  await t.test('times', async (t) => {
    t.equal(await send(SHOP, { path: '/', params: { created: undefined } }), 401);
    t.equal(await send(SHOP, { path: '/', params: { created: now() - 310 } }), yes, 'within the leeway');
    t.equal(await send(SHOP, { path: '/', params: { created: now() - 400 } }), 401);
    t.equal(await send(SHOP, { path: '/', params: { created: now() + 20 } }), yes);
    t.equal(await send(SHOP, { path: '/', params: { created: now() + 100 } }), 401);
    t.equal(await send(SHOP, { path: '/', params: { expires: now() - 10 } }), yes);
    t.equal(await send(SHOP, { path: '/', params: { expires: now() - 100 } }), 401);
    t.equal(await send(SHOP, { path: '/', params: { expires: 'x' } }), 401);
    t.equal(await send(SHOP, { path: '/short', params: { created: now() - 20 } }), 401);
  });

  await t.test('keys and algorithms', async (t) => {
    for (const alg of ['hmac-sha256', undefined]) {
      t.equal(await send(SHOP, { path: '/', params: { alg } }), yes, alg ?? 'none said');
    }
    for (const alg of ['ed25519', 'hmac-sha512', 'none', 'rsa-v1_5-sha256', 'HMAC-SHA256']) {
      t.equal(await send(SHOP, { path: '/', params: { alg } }), 401, alg);
    }
    t.equal(await send(SHOP, { path: '/', params: { keyid: undefined } }), 401);
    t.equal(await send(SHOP, { path: '/', params: { keyid: 'bank' } }), 401);
    t.equal(await send(SHOP, { path: '/', params: { keyid: '__proto__' } }), 401);
    // Whoever knows the public key of another signs with it as a secret.
    for (const secret of [BANK.jwk.x!, Buffer.from(BANK.jwk.x!, 'base64url')]) {
      t.equal(await send({ ...sharedKey('bank', secret) }, { path: '/' }), 401);
    }
    t.equal(await send({ ...SHOP, secret: Buffer.from('another secret of another letter') }, { path: '/' }), 401);
    t.equal(await send(SHOP, { path: '/missing' }), 500);
    for (const [name, value] of [
      ['plain', Buffer.from(SHOP.secret as Buffer).toString('base64')],
      ['whole', JSON.stringify({ ...BANK.jwk, kid: undefined })],
      ['rsa', JSON.stringify(newKey('x', 'RS256').jwk)],
      ['bad', '{'],
      ['worse', 'no base64!'],
    ] as const) {
      await http(s, requestText('POST', '/api/9/http/keyvals/keys', {}, JSON.stringify({ [name]: value })));
    }
    t.equal(await send({ ...SHOP, jwk: { kid: 'plain' } }, { path: '/zone' }), '[plain]');
    t.equal(await send({ ...BANK, jwk: { kid: 'whole' } }, { path: '/zone' }), '[whole]');
    t.equal(await send({ ...SHOP, jwk: { kid: 'whole' } }, { path: '/zone' }), 401);
    t.equal(await send({ ...SHOP, jwk: { kid: 'bad' } }, { path: '/zone' }), 401);
    t.equal(await send({ ...SHOP, jwk: { kid: 'worse' } }, { path: '/zone' }), 401);
    t.equal(await send(SHOP, { path: '/zone' }), yes, 'the file counts, too');
  });

  await t.test('bodies', async (t) => {
    const body = 'amount=5';
    const post: ToSign = { method: 'POST', path: '/', body };
    t.equal(await send(SHOP, post), yes);
    t.equal(await send(SHOP, post, {}, '/', 'amount=6'), 401);
    t.equal(await send(SHOP, post, {}, '/', ''), 401, 'the body was taken away');
    t.equal(await send(SHOP, post, { 'content-digest': digestOf('amount=6') }, '/', 'amount=6'), 401);
    t.equal(await send(SHOP, { method: 'POST', path: '/' }, {}, '/', body), 401, 'a body was put behind');
    t.equal(await send(SHOP, { method: 'POST', path: '/' }, { 'content-digest': digestOf(body) }, '/', body), 401);
    t.equal(await send(SHOP, { ...post, headers: { 'content-digest': digestOf(body, 'sha-512') } }), yes);
    t.equal(await send(SHOP, { ...post, headers: { 'content-digest': `md5=:AAAA:, ${digestOf(body)}` } }), yes, 'others are passed over');
    t.equal(await send(SHOP, { ...post, headers: { 'content-digest': 'md5=:xxxx:' } }), 401, 'none that is safe');
    t.equal(
      await send(SHOP, { ...post, headers: { 'content-digest': `${digestOf(body)}, ${digestOf('x', 'sha-512')}` } }),
      401,
      'all must be right',
    );
    t.equal(await send(SHOP, { ...post, headers: { 'content-digest': `${digestOf('x')}, ${digestOf(body)}` } }), 401, 'twice');
    for (const digest of ['', 'sha-256', 'sha-256=5', 'sha-256=::', 'x', 'sha-256=(:AAAA:)', ':AAAA:']) {
      t.equal(await send(SHOP, { ...post, headers: { 'content-digest': digest } }), 401, digest);
    }
    t.equal(await send(SHOP, { path: '/', body: '' }), yes, 'a digest of nothing');
    const large = 'x'.repeat(600_000);
    t.equal(await send(SHOP, { ...post, body: large }), yes, 'from its file, in pieces');
    t.equal(await send(SHOP, { ...post, body: large }, {}, '/', `${large.slice(1)}y`), 401);
    t.equal(await send(SHOP, { ...post, body: 'x'.repeat(1_100_000) }), 413);
    const head = (request: ToSign): string =>
      requestText('POST', '/', { ...signed(SHOP, request), 'Transfer-Encoding': 'chunked', Connection: 'close' });
    t.equal((await http(s, `${head(post)}3\r\namo\r\n5\r\nunt=5\r\n0\r\n\r\n`)).text, yes, 'in chunks');
    t.equal((await http(s, `${head(post)}3\r\namo\r\n5\r\nunt=6\r\n0\r\n\r\n`)).status, 401);
    t.equal((await http(s, `${head({ method: 'POST', path: '/' })}3\r\namo\r\n0\r\n\r\n`)).status, 401);
    const slow = await RawClient.connect(s);
    slow.send(requestText('POST', '/', signed(SHOP, post), body).slice(0, -5));
    slow.send('unt=5'.slice(-5));
    t.equal((await slow.response()).text, yes);
    slow.destroy();
    // A client that goes in the middle of its body.
    const gone = await RawClient.connect(s);
    gone.send(requestText('POST', '/', signed(SHOP, { ...post, body: large }), large).slice(0, 300_000));
    gone.socket.resetAndDestroy();
    t.equal(await send(SHOP, post), yes);
    const waits = await RawClient.connect(s);
    waits.send(requestText('POST', '/', { ...signed(SHOP, post), Expect: '100-continue' }, body).slice(0, -body.length));
    t.equal((await waits.interim()).status, 100);
    waits.send(body);
    t.equal((await waits.response()).text, yes);
    waits.destroy();
    const refused = await http(
      s,
      requestText(
        'POST',
        '/',
        { ...signed({ ...SHOP, secret: Buffer.from('x') }, post), Expect: '100-continue', Connection: 'close' },
        body,
      ).slice(0, -body.length),
    );
    t.strictSame([refused.status, refused.interim.length], [401, 0], 'no body is asked for whose signature is wrong');
  });

  await t.test('fields that could be read in two ways', async (t) => {
    const good = signed(SHOP, { path: '/' });
    const input = good['signature-input']!;
    const value = good['signature']!;
    for (const [changed, why] of [
      [{ 'signature-input': `${input}, ${input}` }, 'a label twice'],
      [{ 'signature-input': `${input}, other=()` }, 'one without a signature'],
      [{ signature: `${value}, other=:AAAA:` }, 'one without an input'],
      [{ 'signature-input': input.replace('sig=', 'other=') }, 'another label'],
      [{ signature: value.replace(/:/g, '"') }, 'a text'],
      [{ signature: value.replace(':', ': ') }, 'a space'],
      [{ signature: value.slice(0, -1) }, 'no end'],
      [{ 'signature-input': input.replace(/\(.*\)/, 'x') }, 'no list'],
      [{ 'signature-input': input.replace('"@method"', '"@method" "@method"') }, 'a component twice'],
      [{ 'signature-input': input.replace('"@method"', '@method') }, 'no text'],
      [{ 'signature-input': input.replace('"@method"', '"@method";req') }, 'one of another message'],
      [{ 'signature-input': input.replace('"@method"', '"@METHOD"') }, 'capital letters'],
      [{ 'signature-input': input.replace('"@method"', '"@signature-params"') }, 'itself'],
      [{ 'signature-input': `${input};created=1` }, 'a parameter twice'],
      [{ 'signature-input': '' }, 'nothing'],
      [{ 'signature-input': `sig=(${'"@method" '.repeat(500)})` }, 'many'],
      [
        {
          'signature-input': Array.from({ length: 5 }, (_, i) => input.replace('sig', `s${i}`)).join(', '),
          signature: Array.from({ length: 5 }, (_, i) => value.replace('sig', `s${i}`)).join(', '),
        },
        'too many',
      ],
    ] as readonly (readonly [Record<string, string>, string])[]) {
      t.equal((await httpGet(s, '/', { ...good, ...changed })).status, 401, why);
    }
    t.equal((await httpGet(s, '/', good)).text, yes);
    t.equal(
      (await httpGet(s, '/', { ...good, 'signature-input': input.replace('"@method" ', '"@method"   ') })).text,
      yes,
      'spaces that say nothing',
    );
    const raw = (lines: string): Promise<number> =>
      http(s, `GET /date HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines}\r\n`).then(({ status }) => status);
    const two = signed(SHOP, { path: '/date', components: ['date', 'x-a'], values: { '"date"': 'today', '"x-a"': 'b, c' } });
    const fields = `Signature-Input: ${two['signature-input']}\r\nSignature: ${two['signature']}\r\n`;
    t.equal(await raw(`Date: today\r\nX-A: b\r\nX-A:  c \r\n${fields}`), 200, 'lines of one name');
    t.equal(await raw(`Date: today\r\nX-A: c\r\nX-A: b\r\n${fields}`), 401);
    t.not(await raw(`Date: today\r\nX-A: b,\r\n c\r\n${fields}`), 200, 'a folded line');
    const inner = signed(SHOP, {
      path: '/date',
      components: ['date', 'x-a'],
      values: { '"date"': 'today\n"x-a": b\n"x-b"', '"x-a"': 'b' },
    });
    t.equal(
      await raw(`Date: today\r\nX-A: b\r\nX-B: c\r\nSignature-Input: ${inner['signature-input']}\r\nSignature: ${inner['signature']}\r\n`),
      401,
    );
    for (const [component, value, status] of [
      ['"x-d";key="b"', '2;q', 200],
      ['"x-d";key="c"', '?1', 200],
      ['"x-d";key="d"', '', 401],
      ['"x-d";bs', ':YT0xLCAgYj0yO3E=:, :Yw==:', 200],
      ['"x-d";sf', 'a=1, b=2;q, c', 401],
      ['"priority";sf', 'u=1, i', 200],
      ['"priority";tr', 'u=1, i', 401],
      ['"priority";sf;bs', 'u=1, i', 401],
      ['"priority";sf=?0', 'u=1,   i', 401],
      ['"priority";key=b', '', 401],
      ['"x-u"', 'é', 401],
      ['"@query-param";name="q"', '', 401],
      ['"@status"', '200', 401],
      ['"@none"', '', 401],
      ['"x y"', '', 401],
    ] as const) {
      const one = signed(SHOP, { path: '/date', components: ['date', component], values: { '"date"': 'today', [component]: value } });
      t.equal(
        await raw(
          `Date: today\r\nX-D: a=1,  b=2;q\r\nX-D: c\r\nPriority: u=1,   i\r\nX-U: é\r\nSignature-Input: ${one['signature-input']}\r\nSignature: ${one['signature']}\r\n`,
        ),
        status,
        component,
      );
    }
    for (const [query, name, value, status] of [
      ['a=b%20c', 'a', 'b%20c', 200],
      ['a=b+c', 'a', 'b%20c', 200],
      ['a=%C3%A9!', 'a', '%C3%A9%21', 200],
      ['%C3%A9=1', '%C3%A9', '1', 200],
      ['a=1&a=1', 'a', '1', 401],
      ['a=1&%61=2', 'a', '1', 401],
      ['a=%FF', 'a', '%EF%BF%BD', 401],
      ['%FF=1', '%EF%BF%BD', '1', 401],
      ['b=1', 'a', '1', 401],
    ] as const) {
      const component = `"@query-param";name="${name}"`;
      const one = signed(SHOP, { path: `/uri?${query}`, components: ['@target-uri', component], values: { [component]: value } });
      t.equal((await httpGet(s, `/uri?${query}`, one)).status, status, query);
    }
  });

  await t.test('several signatures, and tags', async (t) => {
    const one = signed(BANK, { path: '/tag', label: 'a', params: { tag: 'their app' } });
    const other = signed(SHOP, { path: '/tag', label: 'b', params: { tag: 'my app' } });
    const both = {
      'signature-input': `${one['signature-input']}, ${other['signature-input']}`,
      signature: `${one['signature']}, ${other['signature']}`,
    };
    t.equal((await httpGet(s, '/tag', both)).text, yes);
    t.equal((await httpGet(s, '/tag', one)).status, 401);
    t.equal((await httpGet(s, '/', signed(SHOP, { path: '/' }))).text, yes);
    t.match(
      (await httpGet(s, '/tag')).header('Accept-Signature'),
      'sig=("@method" "@authority" "@path" "@query" "content-digest");created;keyid;tag="my app"',
    );
  });

  await t.test('refusals, and what else may let a request in', async (t) => {
    const none = await httpGet(s, '/');
    t.strictSame(
      [none.status, none.header('WWW-Authenticate'), none.header('Accept-Signature')],
      [401, 'Signature realm="api"', 'sig=("@method" "@authority" "@path" "@query" "content-digest");created;keyid'],
    );
    t.equal(await send(SHOP, { path: '/off' }), '[]');
    t.equal(await send(SHOP, { path: '/any' }), yes);
    const any = await httpGet(s, '/any');
    t.strictSame([any.status, any.header('Accept-Signature')], [401, undefined]);
    const post: ToSign = { method: 'POST', path: '/either', body: 'x' };
    const either = await http(s, requestText('POST', '/either', { ...signed(SHOP, post), Connection: 'close' }, 'y'));
    t.equal(either.text, '[]', 'nobody has signed this body');
    t.equal((await http(s, requestText('POST', '/nobody', { Connection: 'close' }, 'y'))).status, 401);
    t.equal((await http(s, requestText('DELETE', '/nobody'))).header('WWW-Authenticate'), 'Signature');
    t.equal((await httpGet(s, '/nobody')).status, 200);
    t.equal(await send(SHOP, { path: '/inner?x' }), yes, 'behind a redirect inside the server');
    t.equal(await send(SHOP, { path: '/limit' }), yes);
    t.equal(await send(SHOP, { path: '/limit' }), 503);
    t.equal(await send(BANK, { path: '/limit' }), '[bank]');
    const told = (await http(s, requestText('POST', '/told', signed(SHOP, { ...post, path: '/told' }), 'y'))).text;
    t.equal(told, 'the signature is refused: the body is not the one that was signed []');
    t.equal((await httpGet(s, '/told')).text, 'no signature was provided []');
    for (const line of [
      'it is wrong',
      'its key is not known',
      'it has expired',
      'it was created in the future',
      'it does not say when it was created',
      'it names no key',
      'it does not cover "@method"',
      'it covers "date", which the request has not',
      '"@method" is covered twice',
    ]) {
      t.ok(s.log().includes(`the signature is refused: ${line}`), line);
    }
    t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
  });
});

t.test('what costs more than it should, and what is not as it seems', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `error_log %%DIR%%/error.log info; large_client_header_buffers 8 64k; client_body_in_file_only clean; ignore_invalid_headers off;
      auth_signature x; auth_signature_key_file keys; auth_signature_components @method; auth_signature_nonce_zone nonces;
      location / { try_files /none =418; } error_page 418 =200 @in; location @in { return 200 "[$signature_keyid]"; }`,
      'keyval_zone zone=nonces:1m;',
    ),
    files: { keys: keySet(SHOP) },
  });
  // Many parts of one long header, and of one long query, in each of four signatures.
  const many = (count: number, one: (i: number) => string, separator: string): string =>
    Array.from({ length: count }, (_, i) => one(i)).join(separator);
  const input = (i: number): string =>
    `s${i}=("@method" ${many(120, (n) => (n % 2 === 0 ? `"x";key="a${n}"` : `"@query-param";name="a${n}"`), ' ')});created=${now()};keyid="shop";nonce="n"`;
  const { status } = await httpGet(s, `/?${many(3000, (i) => `a${i}=1`, '&')}`, {
    'Signature-Input': many(4, input, ', '),
    Signature: many(4, (i) => `s${i}=:AAAA:`, ', '),
    X: `${many(120, (i) => `a${i}="${'x'.repeat(400)}"`, ', ')}`,
  });
  t.equal(status, 401);
  await s.logged(/the signature is refused: it is wrong/);
  const send = (request: ToSign, lines: Record<string, string> = {}, body = '') =>
    http(s, requestText(request.method ?? 'GET', request.path, { ...signed(SHOP, request), ...lines, Connection: 'close' }, body)).then(
      ({ status }) => status,
    );
  const x = (value: string): ToSign => ({ path: '/', components: ['@method', 'x'], values: { '"x"': value } });
  t.equal(await send(x('a'), { X: ' \t a \t ' }), 200, 'blanks around a value');
  t.equal(await send(x('a'), { X: 'a\xa0' }), 401, 'no blank of HTTP');
  t.equal(await send(x(`a${' '.repeat(40_000)}b`), { X: `a${' '.repeat(40_000)}b` }), 200, 'blanks within');
  t.equal(
    await send({ path: '/', components: ['@method', '"@path"'], values: { '"@path"': '/other' } }, { '@path': '/other' }),
    401,
    'a header that is called so',
  );
  t.equal(
    await send({ path: '/', method: 'POST', components: ['@method', 'content-digest'], body: 'a' }, {}, 'a'),
    200,
    'a body that is always in a file',
  );
  t.equal(await send({ path: '/', method: 'POST', components: ['@method', 'content-digest'], body: 'a' }, {}, 'b'), 401);
  t.equal(await send({ path: '/', components: ['@method', 'content-digest'], body: '' }), 200);
  // Two on one connection, and one that leaves while its nonce is noted.
  const pair = [signed(SHOP, { path: '/', components: ['@method'] }), signed(SHOP, { path: '/', components: ['@method'] })];
  const client = await RawClient.connect(s);
  client.send(pair.map((headers) => requestText('GET', '/', headers)).join(''), 'GET', 'GET');
  t.strictSame([(await client.response()).text, (await client.response()).text], ['[shop]', '[shop]']);
  client.destroy();
  const half = await RawClient.connect(s);
  half.send(requestText('GET', '/', signed(SHOP, { path: '/', components: ['@method'] }))).end();
  t.equal((await half.response()).text, '[shop]', 'a client that has ended its side');
  half.destroy();
  const gone = await RawClient.connect(s);
  gone.send(requestText('GET', '/', signed(SHOP, { path: '/', components: ['@method'] })));
  gone.socket.resetAndDestroy();
  t.equal(await send({ path: '/', components: ['@method'] }), 200);
  t.notMatch(s.log(), /\[(alert|crit|emerg)\]/);
});
