import { readdirSync } from 'node:fs';
import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { type OriginRequest, startOrigin } from '../support/origin.js';
import { exchange, httpGet, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const body = Buffer.from(Array.from({ length: 100_003 }, (_, i) => 97 + ((i * 7 + (i >> 8)) % 26)));

/** Serves the body, or the range of it that is asked for. */
function ranged({ header }: OriginRequest, etag = '"v1"'): { status: number; headers: Record<string, string>; body: Buffer } {
  const found = /^bytes=(\d+)-(\d+)$/.exec(header('range') ?? '');
  const headers: Record<string, string> = { ETag: etag, 'Accept-Ranges': 'bytes', 'Content-Type': 'text/plain' };
  if (found === null) {
    return { status: 200, headers, body };
  }
  const start = Number(found[1]);
  const end = Math.min(Number(found[2]) + 1, body.length);
  return {
    status: 206,
    headers: { ...headers, 'Content-Range': `bytes ${start}-${end - 1}/${body.length}` },
    body: body.subarray(start, end),
  };
}

const conf = (port: number, more = ''): string =>
  serverConf(
    `location / { slice 10k; proxy_pass http://127.0.0.1:${port}; proxy_cache Z; proxy_cache_key $uri$slice_range; proxy_cache_valid 200 206 1h;
       proxy_set_header Range $slice_range; proxy_http_version 1.1; proxy_set_header Connection ""; add_header X-Status $upstream_cache_status; ${more} }
     location /off/ { proxy_pass http://127.0.0.1:${port}; proxy_set_header X-Range "[$slice_range]"; }`,
    'proxy_temp_path %%DIR%%/temp; proxy_cache_path %%DIR%%/cache levels=1:2 keys_zone=Z:1m;',
  );

t.test('slices of a location with captures are asked for at the same address', async (t) => {
  const origin = await startOrigin(t, (request) => ranged(request));
  const s = await startServer(t, {
    conf: serverConf(
      `location ~ ^/matched/(.*)$ { slice 50k; proxy_pass http://127.0.0.1:${origin.port}/got/$1; proxy_set_header Range $slice_range; }`,
    ),
  });
  t.ok((await httpGet(s, '/matched/a')).body.equals(body));
  t.strictSame(
    origin.requests.map(({ target }) => target),
    ['/got/a', '/got/a'],
  );
});

t.test('once all slices have come there is none', async (t) => {
  const origin = await startOrigin(t, (request) => ranged(request));
  const s = await startServer(t, {
    conf: serverConf(
      `location / { slice 200k; proxy_pass http://127.0.0.1:${origin.port}; proxy_set_header Range $slice_range; access_log %%DIR%%/slice.log slice; }`,
      "log_format slice '$slice_range';",
    ),
  });
  t.ok((await httpGet(s, '/')).body.equals(body));
  t.equal(await waitFor(() => s.read('slice.log')), '-\n');
});

t.test('a response in slices, from the backend and from the cache', async (t) => {
  const origin = await startOrigin(t, (request) => ranged(request));
  const s = await startServer(t, { conf: conf(origin.port) });
  // The first slices come one after the other, as they are needed.
  const part = await httpGet(s, '/a', { Range: 'bytes=25000-31000' });
  t.equal(part.status, 206);
  t.equal(part.header('content-range'), `bytes 25000-31000/${body.length}`);
  t.equal(part.header('content-length'), '6001');
  t.ok(part.body.equals(body.subarray(25_000, 31_001)));
  t.strictSame(
    origin.requests.map((request) => request.header('range')),
    ['bytes=20480-30719', 'bytes=30720-40959'],
  );
  const whole = await httpGet(s, '/a');
  t.equal(whole.status, 200);
  t.equal(whole.header('content-length'), String(body.length));
  t.equal(whole.header('content-range'), undefined);
  t.equal(whole.header('accept-ranges'), 'bytes');
  t.ok(whole.body.equals(body));
  t.equal(origin.requests.length, 10, 'two of ten slices were there');
  const again = await httpGet(s, '/a');
  t.equal(again.header('x-status'), 'HIT');
  t.ok(again.body.equals(body));
  t.equal(origin.requests.length, 10);
  const end = await httpGet(s, '/a', { Range: 'bytes=-5' });
  t.equal(end.status, 206);
  t.equal(end.text, body.subarray(-5).toString('latin1'));
  // Several ranges are answered with the whole, one that lies beyond the end with 416.
  const several = await httpGet(s, '/a', { Range: 'bytes=0-1,5-6' });
  t.equal(several.status, 200);
  t.ok(several.body.equals(body));
  t.equal((await httpGet(s, '/b', { Range: 'bytes=0-4', 'If-Range': '"v1"' })).text, body.subarray(0, 5).toString('latin1'));
  t.equal((await httpGet(s, '/a', { 'If-None-Match': '"v1"' })).status, 304);
});

t.test('slices that do not fit end the response', async (t) => {
  const origin = await startOrigin(t, (request) => ranged(request, request.header('range')?.startsWith('bytes=0-') ? '"v1"' : '"v2"'));
  const s = await startServer(t, { conf: conf(origin.port) });
  t.notOk((await httpGet(s, '/a')).complete);
  await s.logged('etag mismatch in slice response');
  origin.answer((request) => ({ ...ranged(request), headers: { 'Content-Range': 'bytes 5-9/100003' } }));
  await httpGet(s, '/b').catch(() => undefined);
  await s.logged('unexpected range in slice response: 5-10, expected: 0-10245');
  origin.answer((request) => ({ ...ranged(request), headers: { 'Content-Range': 'bytes 0-10239/*' } }));
  await httpGet(s, '/c').catch(() => undefined);
  await s.logged('no complete length in slice response');
  origin.answer((request) => ({ ...ranged(request), headers: { 'Content-Range': 'lines 0-1/2' } }));
  await httpGet(s, '/d').catch(() => undefined);
  await s.logged('invalid range in slice response');
  origin.answer((request) => (request.header('range')?.startsWith('bytes=0-') ? ranged(request) : { status: 404, body: 'gone' }));
  t.notOk((await httpGet(s, '/e')).complete);
  await s.logged('unexpected status code 404 in slice response');
  origin.answer((request) => (request.header('range')?.startsWith('bytes=0-') ? ranged(request) : { body }));
  t.notOk((await httpGet(s, '/f')).complete);
  await s.logged('unexpected status code 200 in slice response');
});

t.test('a small part that does not fit breaks off before a byte was sent, and is not cached', async (t) => {
  const letters = Buffer.from('abcdefghijklmnopqrstuvwxy');
  /** What is wrong with each part but the first, by path. */
  const wrong: Readonly<Record<string, { status?: number; etag?: string; range?: string; body?: string }>> = {
    etag: { etag: '"v2"' },
    noetag: { etag: '' },
    whole: { status: 200, range: '' },
    missing: { status: 404, range: '', body: 'gone' },
    nothing: { status: 204, range: '', body: '' },
    unchanged: { status: 304, range: '', body: '' },
    elsewhere: { status: 302, range: '', body: '' },
    unsatisfiable: { status: 416, range: 'bytes */25', body: '' },
    norange: { range: '' },
    nolength: { range: 'bytes 10-19/*' },
    otherplace: { range: 'bytes 11-19/25' },
    otherlength: { range: 'bytes 10-19/13' },
    otherunit: { range: 'items 10-19/25' },
    longer: { range: 'bytes 10-20/25' },
    huge: { range: 'bytes 10-19/18446744073709551616' },
    junk: { range: 'bytes 10-19/25x' },
  };
  const origin = await startOrigin(t, ({ target, header }) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header('range')!)!;
    const part = letters.subarray(Number(first), Number(last) + 1);
    const how = first === '0' ? {} : (wrong[target.split('/').at(-1)!] ?? {});
    const range = how.range ?? `bytes ${first}-${Number(first) + part.length - 1}/25`;
    const etag = how.etag ?? '"v1"';
    return {
      status: how.status ?? 206,
      headers: { ...(etag === '' ? {} : { ETag: etag }), ...(range === '' ? {} : { 'Content-Range': range }) },
      body: how.body ?? part,
    };
  });
  const s = await startServer(t, {
    conf: serverConf(
      `proxy_http_version 1.1; proxy_set_header Range $slice_range; slice 10; sendfile on;
       location /plain/ { proxy_pass http://127.0.0.1:${origin.port}; }
       location /kept/ { proxy_pass http://127.0.0.1:${origin.port}; proxy_cache Z; proxy_cache_key $uri$slice_range; proxy_cache_valid any 1h; }`,
      'proxy_temp_path %%DIR%%/temp; proxy_cache_path %%DIR%%/cache keys_zone=Z:1m;',
    ),
  });
  for (const folder of ['plain', 'kept']) {
    for (const path of Object.keys(wrong)) {
      t.equal(await exchange(s, requestText('GET', `/${folder}/${path}`)), '', `${folder} ${path}`);
    }
    const whole = await httpGet(s, `/${folder}/right`);
    t.strictSame([whole.status, whole.text, whole.header('content-length')], [200, letters.toString(), '25']);
  }
  t.equal(readdirSync(`${s.dir}/cache`).length, Object.keys(wrong).length + 3, 'the first part of each, and all three of the right one');
});

t.test('a backend that knows no ranges; locations without slices', async (t) => {
  const origin = await startOrigin(t, (request) => ({ body: `whole ${request.header('x-range') ?? ''}` }));
  const s = await startServer(t, { conf: conf(origin.port) });
  t.equal((await httpGet(s, '/a')).text, 'whole ');
  t.equal((await httpGet(s, '/off/a')).text, 'whole []');
  t.match(await configMessage(t, 'events {} http { slice 1x; }'), /"slice" directive invalid value/);
});

t.test('slices of a response to which filters add, or which they change', async (t) => {
  const origin = await startOrigin(t, (request) => ranged(request));
  const slices = `slice 10k; proxy_pass http://127.0.0.1:${origin.port}; proxy_set_header Range $slice_range; proxy_http_version 1.1;`;
  const s = await startServer(t, {
    conf: serverConf(`
      location = /before { return 200 "before "; }
      location = /after { return 200 " after"; }
      location /added { ${slices} add_before_body /before; add_after_body /after; addition_types *; }
      location /changed { ${slices} sub_filter nothing-like-it x; sub_filter_types *; }`),
  });
  const whole = body.toString();
  // Filters that change a body have no ranges of it: all of it is sent, whichever slice was asked for first.
  for (const headers of [{}, { Range: 'bytes=0-3' }, { Range: 'bytes=50000-50003' }] as Record<string, string>[]) {
    const added = await httpGet(s, '/added', headers);
    t.equal(added.status, 200);
    t.ok(added.text === `before ${whole} after`, `addition, ${headers['Range']}`);
    const changed = await httpGet(s, '/changed', headers);
    t.equal(changed.status, 200);
    t.ok(changed.text === whole, `sub_filter, ${headers['Range']}`);
  }
});
