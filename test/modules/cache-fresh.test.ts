// What decides whether a response is kept and for how long, and when an old one is served. All of it is nginx's behaviour too.
import t from 'tap';
import { startCache, status } from '../support/cache.js';
import { configMessage } from '../support/config-message.js';
import { type OriginAnswer, startOrigin } from '../support/origin.js';
import { http, httpGet, RawClient, type Response, requestText } from '../support/raw-client.js';
import { waitFor } from '../support/wait.js';

/** Kept, and too old from the beginning. */
const OLD = { 'X-Accel-Expires': '@1' };
/** Kept, too old since a moment, and good while it is updated. */
const tooOld = (): Record<string, string> => ({
  'Cache-Control': 'stale-while-revalidate=600',
  'X-Accel-Expires': `@${Math.floor(Date.now() / 1000) - 5}`,
});
const later = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString();

t.test('headers of the response', async (t) => {
  const cases: readonly (readonly [headers: Record<string, string>, second: string])[] = [
    [{}, 'MISS'],
    [{ 'Cache-Control': 'max-age=60' }, 'HIT'],
    [{ 'Cache-Control': 'MAX-AGE=60, public' }, 'HIT'],
    [{ 'Cache-Control': 'max-age=0' }, 'MISS'],
    [{ 'Cache-Control': 'max-age=6x' }, 'MISS'],
    [{ 'Cache-Control': 's-maxage=60, max-age=0' }, 'HIT'],
    [{ 'Cache-Control': 's-maxage=0, max-age=60' }, 'MISS'],
    [{ 'Cache-Control': 'private, max-age=60' }, 'MISS'],
    [{ 'Cache-Control': 'no-cache' }, 'MISS'],
    [{ 'Cache-Control': 'max-age=60, no-store' }, 'MISS'],
    [{ Expires: later(60) }, 'HIT'],
    [{ Expires: later(-60) }, 'MISS'],
    [{ Expires: '0' }, 'MISS'],
    [{ Expires: later(-60), 'Cache-Control': 'max-age=60' }, 'HIT'],
    [{ 'Cache-Control': 'max-age=60', Expires: later(-60) }, 'HIT'],
    [{ 'Cache-Control': 'no-cache', Expires: later(60) }, 'MISS'],
    [{ 'X-Accel-Expires': '60' }, 'HIT'],
    [{ 'X-Accel-Expires': '0' }, 'MISS'],
    [{ 'X-Accel-Expires': '@1' }, 'EXPIRED'],
    [{ 'X-Accel-Expires': '60', 'Cache-Control': 'no-store' }, 'HIT'],
    [{ 'Cache-Control': 'no-store', 'X-Accel-Expires': '60' }, 'HIT'],
    [{ 'X-Accel-Expires': 'soon', 'Cache-Control': 'max-age=60' }, 'HIT'],
    [{ 'X-Accel-Expires': '60', 'Set-Cookie': 'a=b' }, 'MISS'],
    [{ 'X-Accel-Expires': '60', Vary: '*' }, 'MISS'],
    [{ 'X-Accel-Expires': '60', Vary: 'Accept-Encoding' }, 'HIT'],
    [{ 'X-Accel-Expires': '60', Vary: 'x'.repeat(129) }, 'MISS'],
  ];
  const origin = await startOrigin(t, ({ target }) => ({ headers: cases[Number(target.slice(1))]![0], body: target }));
  const s = await startCache(t, origin);
  for (const [i, [headers, second]] of cases.entries()) {
    t.equal(await status(s, `/${i}`), 'MISS');
    t.equal(await status(s, `/${i}`), second, JSON.stringify(headers));
  }
});

t.test('proxy_ignore_headers and proxy_cache_valid', async (t) => {
  const refusing: Record<string, Record<string, string>> = {
    'Cache-Control': { 'Cache-Control': 'no-store' },
    Expires: { Expires: later(-60) },
    'X-Accel-Expires': { 'X-Accel-Expires': '0' },
    'Set-Cookie': { 'Set-Cookie': 'a=b' },
    Vary: { Vary: '*' },
  };
  const names = Object.keys(refusing);
  const origin = await startOrigin(t, ({ target }) => ({ headers: refusing[target.split('/')[2]!]!, body: target }));
  const s = await startCache(t, origin, {
    location: 'proxy_cache_valid 200 1h;',
    more: names.map((name) => `location /ignore/${name} { PASS proxy_cache_valid any 1h; proxy_ignore_headers ${name}; }`).join('\n'),
  });
  for (const name of names) {
    await httpGet(s, `/plain/${name}`);
    t.equal(await status(s, `/plain/${name}`), 'MISS', name);
    await httpGet(s, `/ignore/${name}`);
    t.equal(await status(s, `/ignore/${name}`), 'HIT', name);
  }
});

t.test('proxy_cache_methods and proxy_cache_convert_head', async (t) => {
  const origin = await startOrigin(t, ({ method }) => ({
    headers: { 'Cache-Control': 'max-age=60' },
    body: method === 'HEAD' ? '' : 'body',
  }));
  const s = await startCache(t, origin, {
    more: `location /post { PASS proxy_cache_methods POST; proxy_cache_key $request_method$uri; }
      location /head { PASS proxy_cache_convert_head off; proxy_cache_key $request_method$uri; }`,
  });
  const ask = (method: string, path: string) => http(s, requestText(method, path, { Connection: 'close' }));
  t.equal((await ask('POST', '/')).header('x-status'), undefined);
  await ask('POST', '/post');
  t.equal((await ask('POST', '/post')).header('x-status'), 'HIT');
  t.equal((await ask('HEAD', '/a')).header('x-status'), 'MISS');
  t.equal(origin.requests.at(-1)!.method, 'GET');
  t.equal((await httpGet(s, '/a')).text, 'body');
  t.equal(await status(s, '/a'), 'HIT');
  await ask('HEAD', '/head');
  t.equal(origin.requests.at(-1)!.method, 'HEAD');
});

/** Failures of a backend, by the word that lets an old response be served in their place. */
const failures: Record<string, OriginAnswer> = {
  error: '',
  invalid_header: 'HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n',
  http_500: { status: 500, body: 'new' },
  http_502: { status: 502, body: 'new' },
  http_503: { status: 503, body: 'new' },
  http_504: { status: 504, body: 'new' },
  http_403: { status: 403, body: 'new' },
  http_404: { status: 404, body: 'new' },
  http_429: { status: 429, body: 'new' },
};

t.test('proxy_cache_use_stale', async (t) => {
  const origin = await startOrigin(t, async (request, reply) => {
    const word = request.target.split('/')[2]!;
    if (!seen.has(request.target)) {
      seen.add(request.target);
      return { headers: OLD, body: 'old' };
    }
    if (word === 'timeout') {
      await reply.gone();
    }
    const failure = failures[word];
    return failure === '' || failure === undefined ? reply.end() : failure;
  });
  const seen = new Set<string>();
  const words = [...Object.keys(failures), 'timeout'];
  const limit = (word: string): string => (word === 'timeout' ? 'proxy_read_timeout 1s;' : '');
  const s = await startCache(t, origin, {
    more: `${words.map((word) => `location /on/${word} { PASS proxy_cache_use_stale ${word}; ${limit(word)} }`).join('\n')}
      location /off/timeout { PASS ${limit('timeout')} }`,
  });
  for (const word of words) {
    await httpGet(s, `/on/${word}`);
    const stale = await httpGet(s, `/on/${word}`);
    t.strictSame([stale.status, stale.text, stale.header('x-status')], [200, 'old', 'STALE'], word);
    await httpGet(s, `/off/${word}`);
    const failed = await httpGet(s, `/off/${word}`);
    t.equal(failed.status, word === 'timeout' ? 504 : /\d+/.test(word) ? Number(word.slice(5)) : 502, word);
    t.equal(failed.header('x-status'), 'EXPIRED', word);
  }
});

t.test('stale-if-error and stale-while-revalidate', async (t) => {
  const stale = (what: string) => ({ headers: { ...OLD, 'Cache-Control': `${what}=9999999999` }, body: 'old' });
  const origin = await startOrigin(t, ({ target }) => stale(target.includes('error') ? 'stale-if-error' : 'stale-while-revalidate'));
  const s = await startCache(t, origin, { more: 'location /behind { PASS proxy_cache_background_update on; }' });
  await httpGet(s, '/error');
  await httpGet(s, '/while');
  await httpGet(s, '/behind');
  origin.answer((_request, reply) => reply.end());
  t.equal(await status(s, '/error'), 'STALE');
  t.equal(await status(s, '/while'), 'STALE', 'the longer of the two holds for errors too');
  // One request refreshes it; whoever comes meanwhile gets the old one.
  let release: (answer: OriginAnswer) => void = () => {};
  const held = new Promise<OriginAnswer>((done) => {
    release = done;
  });
  origin.answer(() => held);
  const count = origin.requests.length;
  const refresher = httpGet(s, '/while');
  await origin.received(count + 1);
  t.equal(await status(s, '/while'), 'UPDATING');
  const behind = async (): Promise<string | undefined> => (await http(s, requestText('GET', '/behind'))).header('x-status');
  t.equal(await behind(), 'STALE', 'the response does not wait for the refresh');
  await origin.received(count + 2);
  t.equal(await behind(), 'UPDATING');
  release({ headers: { 'Cache-Control': 'max-age=60' }, body: 'new' });
  t.equal((await refresher).header('x-status'), 'EXPIRED');
  t.equal((await httpGet(s, '/while')).text, 'new');
  t.equal(origin.requests.length, count + 2);
});

t.test('proxy_cache_use_stale updating with proxy_cache_background_update', async (t) => {
  let answers = 0;
  const origin = await startOrigin(t, () => ({ headers: answers++ === 0 ? OLD : { 'X-Accel-Expires': '60' }, body: `body ${answers}` }));
  const s = await startCache(t, origin, { location: 'proxy_cache_use_stale updating; proxy_cache_background_update on;' });
  await httpGet(s, '/a');
  const stale = await httpGet(s, '/a');
  t.strictSame([stale.text, stale.header('x-status')], ['body 1', 'STALE']);
  await origin.received(2);
  for (;;) {
    const { text } = await httpGet(s, '/a');
    if (text === 'body 2') {
      break;
    }
    t.equal(text, 'body 1');
  }
  t.equal(await status(s, '/a'), 'HIT');
});

t.test('stale-while-revalidate: who gets what while an entry is updated behind the clients, and after it', async (t) => {
  let asked = 0;
  let next: { readonly status?: number; readonly fresh?: boolean } = {};
  let gate: Promise<void> | undefined;
  const origin = await startOrigin(t, async ({ target }) => {
    const n = ++asked;
    const { status, fresh } = next;
    await gate;
    const validity = fresh ? { 'Cache-Control': 'max-age=600' } : tooOld();
    return { status: status ?? 200, headers: status === undefined ? validity : {}, body: `${target} ${n}` };
  });
  const s = await startCache(t, origin, {
    location: 'proxy_cache_background_update on;',
    more: `location ~ ^/matched/(.*)$ {
      proxy_cache_background_update on;
      proxy_pass http://127.0.0.1:${origin.port}/got/$1;
      add_header X-Status $upstream_cache_status always; }`,
  });
  const said = (response: Response): string => `${response.header('x-status')} ${response.text}`;
  /** What a client gets whose connection stays open. */
  const get = async (path: string): Promise<string> => said(await http(s, requestText('GET', path)));
  /** The same for one who waits for the end of the connection, which comes after that of the update. */
  const getWhole = async (path: string): Promise<string> => said(await httpGet(s, path));
  for (const [path, target] of [
    ['/a', '/a'],
    ['/matched/b', '/got/b'],
  ] as const) {
    asked = 0;
    next = {};
    t.equal(await get(path), `MISS ${target} 1`);
    let open = (): void => {};
    gate = new Promise((done) => {
      open = done;
    });
    const beginner = await RawClient.connect(s);
    beginner.send(requestText('GET', path));
    t.equal(said(await beginner.response()), `STALE ${target} 1`, 'it begins the update');
    await waitFor(() => asked === 2, { what: () => `request 2 for ${target}; there were ${asked}` });
    t.equal(await get(path), `UPDATING ${target} 1`);
    t.equal(await get(path), `UPDATING ${target} 1`);
    next = { status: 500 };
    beginner.send(requestText('GET', path, { Connection: 'close' }));
    gate = undefined;
    open();
    t.equal(said(await beginner.response()), `STALE ${target} 2`, 'its next request is taken up after the update, and begins another');
    await beginner.closed();
    t.equal(asked, 3);
    t.equal(await getWhole(path), `STALE ${target} 2`, 'the next begins another, since that one has failed');
    t.equal(asked, 4);
    next = { fresh: true };
    t.equal(await getWhole(path), `STALE ${target} 2`);
    t.equal(await getWhole(path), `HIT ${target} 5`);
    t.equal(await getWhole(path), `HIT ${target} 5`);
    t.equal(asked, 5);
  }
});

t.test('mistakes in proxy_cache_path and its kin', async (t) => {
  const cases: readonly (readonly [line: string, message: string])[] = [
    ['proxy_cache_path c;', 'invalid number of arguments in "proxy_cache_path" directive'],
    ['proxy_cache_path c levels=1;', '"proxy_cache_path" must have "keys_zone" parameter'],
    ['proxy_cache_path c keys_zone=a:1k;', 'keys zone "keys_zone=a:1k" is too small'],
    ['proxy_cache_path c keys_zone=a;', 'invalid keys zone size "keys_zone=a"'],
    ['proxy_cache_path c keys_zone=a:1m levels=3;', 'invalid "levels" "levels=3"'],
    ['proxy_cache_path c keys_zone=a:1m levels=1:1:1:1;', 'invalid "levels" "levels=1:1:1:1"'],
    ['proxy_cache_path c keys_zone=a:1m max_size=x;', 'invalid max_size value "max_size=x"'],
    ['proxy_cache_path c keys_zone=a:1m min_free=x;', 'invalid min_free value "min_free=x"'],
    ['proxy_cache_path c keys_zone=a:1m inactive=x;', 'invalid inactive value "inactive=x"'],
    ['proxy_cache_path c keys_zone=a:1m loader_files=x;', 'invalid loader_files value "loader_files=x"'],
    ['proxy_cache_path c keys_zone=a:1m use_temp_path=x;', 'invalid use_temp_path value "use_temp_path=x", it must be "on" or "off"'],
    ['proxy_cache_path c keys_zone=a:1m other=1;', 'invalid parameter "other=1"'],
    ['proxy_cache_path c keys_zone=a:1m; proxy_cache_path c keys_zone=b:1m;', 'the same path name'],
    ['proxy_cache_path c keys_zone=a:1m; proxy_cache_path d keys_zone=a:1m;', 'duplicate zone "a"'],
    ['server { location / { proxy_pass http://127.0.0.1:1; proxy_cache none; } }', '"proxy_cache" zone "none" is unknown'],
    ['proxy_cache_valid 99 1h;', 'invalid status "99"'],
    ['proxy_cache_valid 200 x;', 'invalid time value "x"'],
    ['proxy_cache_methods PUT;', 'invalid value "PUT"'],
    ['proxy_cache_use_stale sometimes;', 'invalid value "sometimes"'],
  ];
  for (const [line, message] of cases) {
    const found = await configMessage(t, `events {} http { ${line} }`);
    t.ok(found?.startsWith(message) || found?.includes(message), `${line} ${found}`);
  }
});
