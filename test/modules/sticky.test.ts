import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { httpGet, pipeline, RawClient, type Response, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** Backends on ports 1 to 3, each of which answers with its number and sets the cookie that the query asks for. */
const BACKENDS = [1, 2, 3]
  .map(
    (n) => `server {
      listen 127.0.0.1:%%PORT_${n}%%;
      location / { add_header Set-Cookie $arg_set; return 200 ${n}; }
      location /refuse { return 50${[0, 0, 2, 3][n]}; }
    }`,
  )
  .join('\n');

/** The backends, and a server for each group: `/NAME` goes to the group of that name. */
function conf(groups: Readonly<Record<string, string>>, main = '', location = ''): string {
  const upstreams = Object.entries(groups).map(([name, lines]) => `upstream ${name} { ${lines} }`);
  const locations = Object.keys(groups).map((name) => `location /${name}/ { proxy_pass http://${name}/; ${location} }`);
  return httpConf(
    `${BACKENDS}\n${upstreams.join('\n')}\nserver { listen 127.0.0.1:%%PORT_0%%; add_header X-Pid $pid; ${locations.join('\n')} }`,
    main,
  );
}

const server = (n: number, rest = ''): string => `server 127.0.0.1:%%PORT_${n}%% ${rest};`;
const TWO = server(1) + server(2);
const ROUTED = server(1, 'route=a') + server(2, 'route=b') + server(3, 'route=c');

const body = ({ text }: Response): string => text;

async function bodies(s: Server, count: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  let all = '';
  for (let i = 0; i < count; i++) {
    all += body(await httpGet(s, path, headers));
  }
  return all;
}

const cookies = (response: Response): string[] => response.headers.filter(([name]) => name === 'Set-Cookie').map(([, value]) => value);
const sidOf = (s: Server, n: number): string =>
  createHash('md5')
    .update(`127.0.0.1:${s.port(n)}`)
    .digest('hex');

t.test('cookie: names the server and brings the client back to it', async (t) => {
  const s = await startServer(t, { conf: conf({ u: `${TWO} sticky cookie srv;`, one: `${server(1)} sticky cookie srv;` }) });
  const first = await httpGet(s, '/u/?set=app=1');
  t.equal(body(first), '1');
  t.strictSame(cookies(first), [`srv=${sidOf(s, 1)}`, 'app=1'], 'before what the backend sends');
  t.equal(await bodies(s, 4, '/u/', { Cookie: `a=b; srv=${sidOf(s, 2)}` }), '2222');
  t.equal(await bodies(s, 4, '/u/', { Cookie: `srv=${sidOf(s, 1)}` }), '1111');
  const unknown = await httpGet(s, '/u/', { Cookie: 'srv=nobody' });
  t.strictSame(cookies(unknown), [`srv=${sidOf(s, Number(body(unknown)))}`], 'a value that no server has');
  t.strictSame(cookies(await httpGet(s, '/one/', { Cookie: `srv=${sidOf(s, 2)}` })), [`srv=${sidOf(s, 1)}`]);
});

t.test('cookie: attributes', async (t) => {
  const s = await startServer(t, {
    conf: conf({
      all: `${server(1, 'route=x')} sticky cookie srv expires=1h domain=.example.com httponly secure samesite=Lax path=/app;`,
      max: `${server(1, 'route=x')} sticky cookie srv expires=max;`,
      variable: `${server(1, 'route=x')} sticky cookie srv domain=$arg_domain samesite=$arg_site;`,
    }),
  });
  const all = cookies(await httpGet(s, '/all/'))[0]!;
  t.match(
    all,
    /^srv=x; expires=\w{3}, \d\d-\w{3}-\d\d \d\d:\d\d:\d\d GMT; max-age=3600; domain=\.example\.com; httponly; secure; samesite=Lax; path=\/app$/,
  );
  t.strictSame(cookies(await httpGet(s, '/max/')), ['srv=x; expires=Thu, 31-Dec-37 23:55:55 GMT; max-age=315360000']);
  t.strictSame(cookies(await httpGet(s, '/variable/')), ['srv=x']);
  t.strictSame(cookies(await httpGet(s, '/variable/?domain=a.b&site=NONE')), ['srv=x; domain=a.b; samesite=NONE']);
  t.strictSame(cookies(await httpGet(s, '/variable/?site=what')), ['srv=x; samesite=strict'], 'no such value');
});

t.test('cookie: when a server fails', async (t) => {
  const s = await startServer(t, {
    conf: conf(
      {
        u: `${ROUTED} sticky cookie srv;`,
        down: `${server(1, 'down route=a')} sticky cookie srv;`,
        last: `${server(1, 'route=a')} sticky cookie srv;`,
      },
      '',
      'proxy_next_upstream http_502;',
    ),
    compatible: true,
  });
  const retried = await httpGet(s, '/u/refuse', { Cookie: 'srv=b' });
  t.equal(retried.status, 500, 'the second server answers with 502, the first one with 500');
  t.strictSame(cookies(retried), ['srv=a'], 'one cookie, of the server that answered');
  const none = await httpGet(s, '/down/', { Cookie: 'srv=a' });
  t.strictSame([none.status, cookies(none)], [502, []], 'no server, no cookie');
  const failed = await httpGet(s, '/last/refuse');
  t.strictSame([failed.status, cookies(failed)], [500, ['srv=a']]);
});

t.test('cookie: on an error page of the server itself', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`upstream gone { server 127.0.0.1:%%PORT_1%% route=a; sticky cookie srv; }
      server { listen 127.0.0.1:%%PORT_0%%;
        location / { proxy_pass http://gone; }
        location /page { proxy_pass http://gone; error_page 502 = /sorry; }
        location = /sorry { return 200 sorry; } }`),
  });
  const bare = await httpGet(s, '/');
  t.strictSame([bare.status, cookies(bare)], [502, ['srv=a']]);
  const page = await httpGet(s, '/page');
  t.strictSame([page.status, page.text, cookies(page)], [200, 'sorry', ['srv=a']]);
});

t.test('route: with every way to balance', async (t) => {
  const methods = {
    plain: '',
    least: 'least_conn;',
    time: 'least_time header;',
    ip: 'ip_hash;',
    hash: 'hash $request_uri;',
    ring: 'hash $request_uri consistent;',
    chance: 'random;',
    two: 'random two;',
  };
  const groups = Object.entries(methods).map(
    ([name, method]) => [name, `${method} ${ROUTED} sticky route $cookie_route $arg_route;`] as const,
  );
  const s = await startServer(t, { conf: conf(Object.fromEntries(groups)) });
  for (const name of Object.keys(methods)) {
    t.equal(await bodies(s, 3, `/${name}/?route=c`), '333', name);
    t.equal(await bodies(s, 3, `/${name}/?route=c`, { Cookie: 'route=b' }), '222', `${name}: the first variable with a value`);
    t.match(await bodies(s, 3, `/${name}/?route=d`), /^[123]{3}$/, `${name}: no such route`);
  }
});

t.test('route: servers that do not take everybody', async (t) => {
  const s = await startServer(t, {
    conf: conf({
      drain: `${server(1, 'route=a drain')} ${server(2, 'route=b')} sticky route $arg_route;`,
      alone: `${server(1, 'route=a drain')} sticky route $arg_route;`,
      down: `${server(1, 'route=a down')} ${server(2, 'route=b')} sticky route $arg_route;`,
      backup: `${server(1, 'route=a')} ${server(2, 'route=b backup')} sticky route $arg_route;`,
      same: `${server(1, 'route=a')} ${server(2, 'route=a')} sticky route $arg_route;`,
    }),
    compatible: true,
  });
  t.equal(await bodies(s, 3, '/drain/'), '222', 'new clients');
  t.equal(await bodies(s, 3, '/drain/?route=a'), '111', 'those that belong there');
  t.equal(await bodies(s, 2, '/alone/?route=a'), '11');
  t.equal((await httpGet(s, '/alone/')).status, 502);
  t.equal(await bodies(s, 2, '/down/?route=a'), '22');
  t.equal(await bodies(s, 2, '/backup/?route=b'), '11', 'a backup server waits for its turn');
  t.equal(await bodies(s, 2, '/same/?route=a'), '11', 'the first of its name');
});

t.test('route: a server that is full', async (t) => {
  const origin = await startOrigin(t, (_request, reply) => reply.gone().then(() => undefined));
  const s = await startServer(t, {
    conf: conf({
      full: `server 127.0.0.1:${origin.port} route=a max_conns=1; ${server(2, 'route=b')} sticky route $arg_route;`,
    }),
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/full/?route=a'));
  await origin.received(1);
  t.equal(await bodies(s, 2, '/full/?route=a'), '22');
  client.destroy();
});

/** Sends requests, some at once, until every worker has answered one. Gives the bodies, all of them different ones. */
async function fromEveryWorker(s: Server, workers: number, path: string): Promise<string[]> {
  const pids = new Set<string>();
  const texts = new Set<string>();
  await waitFor(
    async () => {
      const responses = await Promise.all(Array.from({ length: 8 }, () => httpGet(s, path)));
      for (const response of responses) {
        pids.add(response.header('x-pid')!);
        texts.add(body(response));
      }
      return pids.size === workers;
    },
    { what: () => `all workers: ${[...pids].join(' ')}` },
  );
  return [...texts];
}

const LEARN = (zone: string, rest = ''): string =>
  `sticky learn zone=${zone}:1m lookup=$cookie_app lookup=$arg_s create=$upstream_cookie_app create=$arg_new ${rest};`;

t.test('learn: sessions that backends begin', async (t) => {
  const s = await startServer(t, {
    conf: conf({ u: `${ROUTED} ${LEARN('u')}`, other: `${ROUTED} ${LEARN('other')}` }, '', 'proxy_next_upstream http_500;'),
  });
  t.equal(await bodies(s, 3, '/u/?s=one'), '123', 'nobody knows it');
  t.equal(body(await httpGet(s, '/u/?set=app=one')), '1');
  t.equal(body(await httpGet(s, '/u/?new=two')), '2');
  t.equal(await bodies(s, 3, '/u/', { Cookie: 'app=one' }), '111');
  t.equal(await bodies(s, 3, '/u/?s=two'), '222');
  t.not(await bodies(s, 4, '/u/?s=TWO'), '2222', 'the case of a session matters');
  t.equal(await bodies(s, 3, '/u/?s=two', { Cookie: 'app=one' }), '111', 'the first variable that has a value');
  t.equal(await bodies(s, 3, '/other/?s=two'), '123', 'groups do not share sessions');
  // The first server answers with 500; the answers of the others tell who they are.
  const moved = (await httpGet(s, '/u/refuse?s=one')).status - 500;
  t.ok(moved === 2 || moved === 3);
  t.equal(await bodies(s, 3, '/u/?s=one'), String(moved).repeat(3), 'the session has moved');
});

t.test('learn: all workers know the same sessions, and the next configuration too', async (t) => {
  const groups = {
    u: `${ROUTED} ${LEARN('u')}`,
    shared: `zone shared 256k; ${ROUTED} ${LEARN('s')}`,
    changed: `zone changed 256k; ${ROUTED} sticky route $arg_route;`,
  };
  const s = await startServer(t, { conf: conf(groups, 'worker_processes 2;') });
  for (const group of ['u', 'shared']) {
    for (const session of ['a', 'b', 'c', 'd']) {
      const home = body(await httpGet(s, `/${group}/?new=${session}`));
      t.strictSame(await fromEveryWorker(s, 2, `/${group}/?s=${session}`), [home], `${group} ${session}`);
    }
  }
  t.strictSame(await fromEveryWorker(s, 2, '/changed/?route=c'), ['3'], 'with the state of the servers in a zone');
  const home = body(await httpGet(s, '/u/?new=kept'));
  await s.reload(
    conf({ ...groups, u: `${server(3, 'route=c')} ${ROUTED.replaceAll(';', ' drain;')} ${LEARN('u')}` }, 'worker_processes 2;'),
  );
  t.strictSame(await fromEveryWorker(s, 2, '/u/?s=kept'), [home], 'after a reload, at a server that takes no new ones');
  await t.rejects(
    s.reload(conf({ u: ROUTED, shared: `${ROUTED} ${LEARN('u')}` }, 'worker_processes 2;')),
    /sticky zone "u" is used in upstream "shared" while previously it was used in upstream "u"/,
  );
});

t.test('learn: sessions end', async (t) => {
  const s = await startServer(t, {
    conf: conf({ u: `${ROUTED} ${LEARN('u', 'timeout=2s')}` }),
  });
  const home = body(await httpGet(s, '/u/?new=short'));
  t.equal(await bodies(s, 2, '/u/?s=short'), home + home);
  // Each response begins another session, so that this one is not used.
  await waitFor(async () => body(await httpGet(s, '/u/?s=short&new=other')) !== home, { what: 'the end of a session' });
});

t.test('learn: a full zone forgets what was used least recently', async (t) => {
  const s = await startServer(t, { conf: conf({ u: `${ROUTED} ${LEARN('u').replace('1m', '32k')}` }) });
  const requests = Array.from({ length: 150 }, (_, i) => requestText('GET', `/u/?new=${i}`));
  const homes = (await pipeline(s, requests)).map(body);
  await s.logged(/\[warn\] .*could not allocate node in sticky session zone "u", expiring least recently used session/);
  t.equal(await bodies(s, 2, '/u/?s=149'), homes[149]!.repeat(2));
  t.not(await bodies(s, 4, '/u/?s=0'), homes[0]!.repeat(4));
});

t.test('learn: at the header', async (t) => {
  const origin = await startOrigin(t, async (_request, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab');
    return reply.gone().then(() => undefined);
  });
  const group = (zone: string, rest: string): string => `server 127.0.0.1:${origin.port}; ${server(2)} ${LEARN(zone, rest)}`;
  const s = await startServer(t, {
    conf: conf({ soon: group('soon', 'header'), late: group('late', '') }, '', 'proxy_buffering off;'),
  });
  for (const [name, expected] of [
    ['soon', 'again'],
    ['late', '2'],
  ] as const) {
    const client = await RawClient.connect(s);
    client.send(requestText('GET', `/${name}/?new=x`));
    await client.until('ab');
    if (expected === 'again') {
      const before = origin.requests.length;
      const second = await RawClient.connect(s);
      second.send(requestText('GET', `/${name}/?s=x`));
      await origin.received(before + 1);
      t.pass('the session is known while the response is under way');
      second.destroy();
    } else {
      t.equal(body(await httpGet(s, `/${name}/?s=x`)), expected, 'the session is not known before the end');
    }
    client.destroy();
  }
});

t.test('wrong arguments', async (t: Test) => {
  const zone = 'zone=z:1m';
  const both = 'create=$arg_a lookup=$arg_a';
  const cases: readonly (readonly [string, string])[] = [
    ['sticky cookie', 'invalid number of arguments in "sticky" directive'],
    ['sticky what a', 'unknown parameter "what"'],
    ['sticky cookie a; sticky cookie b', '"sticky" directive is duplicate'],
    ['sticky cookie ""', '"sticky" directive empty cookie name'],
    ['sticky cookie a what', 'unknown parameter "what"'],
    ['sticky cookie a httponly=1', 'unknown parameter "httponly=1"'],
    ['sticky cookie a domain', 'unknown parameter "domain"'],
    ['sticky cookie a domain=', '"sticky" directive no value for "domain"'],
    ['sticky cookie a domain=a domain=b', '"sticky" directive parameter "domain" is duplicate'],
    ['sticky cookie a path=', '"sticky" directive no value for "path"'],
    ['sticky cookie a path=/ path=/', '"sticky" directive parameter "path" is duplicate'],
    ['sticky cookie a expires=x', '"sticky" directive invalid "expires" parameter value'],
    ['sticky cookie a expires=1 expires=max', '"sticky" directive parameter "expires" is duplicate'],
    ['sticky cookie a httponly httponly', '"sticky" directive parameter "httponly" is duplicate'],
    ['sticky cookie a secure secure', '"sticky" directive parameter "secure" is duplicate'],
    ['sticky cookie a samesite=', '"sticky" directive invalid "samesite" parameter value'],
    ['sticky cookie a samesite=maybe', '"sticky" directive invalid "samesite" parameter value'],
    ['sticky cookie a samesite=lax samesite=lax', '"sticky" directive parameter "samesite" is duplicate'],
    ['sticky route name', 'invalid variable name "name"'],
    ['sticky route $', 'invalid variable name "$"'],
    [`sticky learn ${both}`, '"sticky" directive "zone" parameter is not specified'],
    [`sticky learn ${zone} create=$arg_a`, '"sticky" directive "lookup" parameter is not specified'],
    [`sticky learn ${zone} lookup=$arg_a`, '"sticky" directive "create" parameter is not specified'],
    [`sticky learn ${zone} ${zone} ${both}`, '"sticky" directive duplicate zone'],
    [`sticky learn zone=z ${both}`, '"sticky" directive zone size is not specified'],
    [`sticky learn zone=:1m ${both}`, '"sticky" directive zone name is not specified'],
    [`sticky learn zone=z:x ${both}`, '"sticky" directive invalid zone size'],
    [`sticky learn zone=z:8k ${both}`, '"sticky" directive zone is too small'],
    [`sticky learn ${zone} ${both} timeout=0`, '"sticky" directive invalid timeout'],
    [`sticky learn ${zone} ${both} timeout=1 timeout=2`, '"sticky" directive duplicate timeout'],
    [`sticky learn ${zone} create=a lookup=$arg_a`, '"sticky" directive missing variable in the "create" parameter'],
    [`sticky learn ${zone} create=$arg_a lookup=`, '"sticky" directive missing variable in the "lookup" parameter'],
    [`sticky learn ${zone} ${both} what`, 'unknown parameter "what"'],
    [
      `sticky learn ${zone} ${both}; } upstream v { server 127.0.0.1:1; sticky learn ${zone} ${both}`,
      'sticky zone "z" is already used in upstream "u"',
    ],
    [`server 127.0.0.1:2 route=`, 'route is empty'],
    [`server 127.0.0.1:2 route=${'x'.repeat(33)}`, 'route is longer than 32'],
  ];
  for (const [lines, message] of cases) {
    const found = await configMessage(t, httpConf(`upstream u {\nserver 127.0.0.1:1;\n${lines};\n}`));
    t.equal(found, `${message} in %%FILE%%:8`, lines);
  }
  t.equal(await configMessage(t, httpConf('server { sticky cookie a; }')), '"sticky" directive is not allowed here in %%FILE%%:6');
  t.equal(
    await configMessage(t, httpConf('upstream u { server 127.0.0.1:1; sticky route $nothing_of_the_kind; }')),
    'unknown "nothing_of_the_kind" variable',
  );
});
