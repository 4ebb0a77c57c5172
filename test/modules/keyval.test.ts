import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx sells it';

/** Asks the API; gives the status, and the code of an error or the body. */
async function ask(s: Server, method: string, path: string, body: unknown = ''): Promise<unknown[]> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await http(s, requestText(method, `/api/9/${path}`, { Connection: 'close' }, Buffer.from(text).toString('latin1')));
  const value = answer.text === '' ? '' : JSON.parse(Buffer.from(answer.text, 'latin1').toString());
  return [answer.status, value.error?.code ?? value];
}

/** What all workers say: nine connections, each of which any of them may serve. */
async function all(s: Server, path: string): Promise<string[]> {
  const texts = [];
  for (let i = 0; i < 9; i++) {
    texts.push((await httpGet(s, path)).text);
  }
  return [...new Set(texts)];
}

t.test('pairs are added, changed and removed in all workers at once', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 3;\n${serverConf(
      'location /api { api write=on; } location /read { api; } location / { return 200 "<$text>"; }',
      'keyval $arg_k $text zone=one; keyval_zone zone=one:32k; keyval_zone zone=timed:32k timeout=1h;',
    )}`,
  });
  const one = 'http/keyvals/one';
  t.strictSame(await ask(s, 'GET', 'http/keyvals'), [200, { one: {}, timed: {} }]);
  t.strictSame(await ask(s, 'GET', 'http/keyvals?fields='), [200, ['one', 'timed']]);
  t.strictSame(await all(s, '/?k=a'), ['<>']);
  t.strictSame(await ask(s, 'POST', one, { a: '1', b: 'grün' }), [201, ''], 'several into an empty zone');
  t.strictSame(await all(s, '/?k=a'), ['<1>']);
  t.strictSame(await all(s, '/?k=A'), ['<>'], 'case counts');
  t.strictSame(await ask(s, 'GET', one), [200, { a: '1', b: 'grün' }]);
  t.strictSame(await ask(s, 'GET', `${one}?key=b`), [200, { b: 'grün' }]);
  t.strictSame(await ask(s, 'PATCH', one, { a: '2' }), [204, '']);
  t.strictSame(await all(s, '/?k=a'), ['<2>']);
  t.strictSame(await ask(s, 'PATCH', one, { a: 15 }), [204, '']);
  t.strictSame(await all(s, '/?k=a'), ['<15>'], 'a number is text');
  t.strictSame(await ask(s, 'PATCH', one, { a: null }), [204, '']);
  t.strictSame(await all(s, '/?k=a'), ['<>']);
  t.strictSame(await ask(s, 'POST', one, { a: '3' }), [201, ''], 'what was removed can be added');
  t.strictSame(await all(s, '/?k=a'), ['<3>']);
  for (const [method, path, body, status, code] of [
    ['POST', one, { a: '1' }, 409, 'KeyvalKeyExists'],
    ['POST', one, { c: '1', d: '2' }, 400, 'KeyvalFormatError'],
    ['POST', one, {}, 400, 'KeyvalFormatError'],
    ['POST', one, [], 400, 'KeyvalFormatError'],
    ['POST', one, { '': '1' }, 400, 'KeyvalFormatError'],
    ['POST', one, { c: true }, 400, 'KeyvalFormatError'],
    ['POST', one, { c: null }, 400, 'KeyvalFormatError'],
    ['POST', one, { c: { value: '1', other: 1 } }, 400, 'KeyvalFormatError'],
    ['POST', one, { c: { value: '1', expire: 1000 } }, 400, 'KeyvalFormatError'],
    ['POST', 'http/keyvals/timed', { c: { value: '1', expire: 0.5 } }, 400, 'KeyvalFormatError'],
    ['POST', one, '{', 415, 'JsonError'],
    ['POST', one, { c: 'x'.repeat(40_000) }, 413, 'KeyvalOutOfMemory'],
    ['PATCH', one, { c: '1' }, 404, 'KeyvalKeyNotFound'],
    ['PATCH', one, { a: '1', b: '1' }, 400, 'KeyvalFormatError'],
    ['GET', `${one}?key=c`, '', 404, 'KeyvalKeyNotFound'],
    ['GET', 'http/keyvals/none', '', 404, 'KeyvalNotFound'],
    ['GET', 'stream/keyvals/one', '', 404, 'PathNotFound'],
    ['PUT', one, { a: '1' }, 405, undefined],
    ['DELETE', 'http/keyvals', '', 405, 'MethodDisabled'],
  ] as const) {
    const answer =
      method === 'PUT'
        ? [(await http(s, requestText(method, `/api/9/${path}`, { Connection: 'close' }))).status, undefined]
        : await ask(s, method, path, body);
    t.strictSame(answer, [status, code], `${method} ${path} ${JSON.stringify(body).slice(0, 60)}`);
  }
  const refused = await http(s, requestText('POST', '/read/9/http/keyvals/one', { Connection: 'close' }, '{"x": "1"}'));
  t.match(refused.text, '"MethodDisabled"');
  t.strictSame(await ask(s, 'DELETE', one), [204, '']);
  t.strictSame(await ask(s, 'GET', one), [200, {}]);
  t.strictSame(await all(s, '/?k=a'), ['<>']);
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`key${i}`, 'x'.repeat(150)]));
  t.strictSame(await ask(s, 'POST', 'http/keyvals/timed', many), [413, 'KeyvalOutOfMemory'], 'all or none');
  t.strictSame(await ask(s, 'GET', 'http/keyvals/timed'), [200, {}]);
});

t.test('pairs end', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: `worker_processes 2;\n${serverConf(
      'location /api { api write=on; } location / { return 200 "<$text>"; }',
      'keyval_zone zone=one:32k timeout=10m; keyval $arg_k $text zone=one;',
    )}`,
  });
  const one = 'http/keyvals/one';
  t.strictSame(await ask(s, 'POST', one, { short: { value: '1', expire: 1 }, long: '2' }), [201, '']);
  await waitFor(async () => (await all(s, '/?k=short')).join() === '<>', { what: () => 'the pair to end' });
  t.strictSame(await ask(s, 'GET', one), [200, { long: '2' }]);
  t.strictSame(await ask(s, 'PATCH', one, { short: '1' }), [404, 'KeyvalKeyNotFound']);
  t.strictSame(await ask(s, 'PATCH', one, { long: { expire: 1 } }), [204, ''], 'the time alone');
  await waitFor(async () => (await all(s, '/?k=long')).join() === '<>', { what: () => 'the pair to end' });
});

t.test('networks and prefixes', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      'location /api { api write=on; } location / { return 200 "$net $prefix"; }',
      `keyval_zone zone=nets:64k type=ip; keyval $arg_a $net zone=nets;
       keyval_zone zone=paths:64k type=prefix; keyval $arg_p $prefix zone=paths;`,
    ),
  });
  const nets = { '10.0.0.0/8': 'ten', '10.1.0.0/16': 'one', '10.1.2.3': 'host', '2001:db8::/32': 'doc', '2001:db8::1': 'six' };
  t.strictSame(await ask(s, 'POST', 'http/keyvals/nets', nets), [201, '']);
  t.strictSame(await ask(s, 'POST', 'http/keyvals/paths', { '/': 'root', '/a/': 'a', '/a/b': 'ab' }), [201, '']);
  for (const [asked, found] of [
    ['10.9.9.9', 'ten'],
    ['10.1.9.9', 'one'],
    ['10.1.2.3', 'host'],
    ['::ffff:10.1.2.3', 'host'],
    ['10.1.0.0/24', 'one'],
    ['10.0.0.0/7', ''],
    ['11.0.0.0', ''],
    ['2001:db8::1', 'six'],
    ['2001:db8:1::', 'doc'],
    ['2001:db9::', ''],
    ['no address', ''],
  ] as const) {
    t.equal((await httpGet(s, `/?a=${encodeURIComponent(asked)}`.replaceAll('%3A', ':').replaceAll('%2F', '/'))).text, `${found} `, asked);
  }
  for (const [asked, found] of [
    ['/', 'root'],
    ['/b', 'root'],
    ['/a/', 'a'],
    ['/a/c', 'a'],
    ['/a/bc', 'ab'],
    ['x', ''],
  ] as const) {
    t.equal((await httpGet(s, `/?p=${asked}`)).text, ` ${found}`, asked);
  }
  t.strictSame(await ask(s, 'POST', 'http/keyvals/nets', { 'no address': '1' }), [400, 'KeyvalFormatError']);
  t.strictSame(await ask(s, 'PATCH', 'http/keyvals/nets', { '10.1.0.0/16': null }), [204, '']);
  t.strictSame(await ask(s, 'PATCH', 'http/keyvals/paths', { '/a/': null }), [204, '']);
  t.equal((await httpGet(s, '/?a=10.1.9.9&p=/a/c')).text, 'ten root');
});

t.test('a state file keeps pairs over restarts', { skip }, async (t) => {
  const s = await startServer(t, {
    expectAlerts: /the state .* cannot be used/,
    files: { 'state/note': '' },
    conf: `worker_processes 2;\n${serverConf(
      'location /api { api write=on; } location / { return 200 "<$text>"; }',
      'keyval_zone zone=one:32k timeout=1h state=%%DIR%%/state/one.json; keyval $arg_k $text zone=one;',
    )}`,
  });
  chmodSync(`${s.dir}/state`, 0o777);
  const one = 'http/keyvals/one';
  const file = `${s.dir}/state/one.json`;
  t.strictSame(await ask(s, 'POST', one, { 'a "ü"': 'ö', b: '2' }), [201, '']);
  const stored = JSON.parse(readFileSync(file, 'utf8'));
  t.match(stored, { 'a "ü"': { value: 'ö', expires: /^\d{4}-.*Z$/ }, b: { value: '2' } }, 'it is there with the answer');
  await s.reload();
  t.strictSame(await all(s, '/?k=b'), ['<2>']);
  await s.stop();
  writeFileSync(file, JSON.stringify({ ...stored, old: { value: '1', expires: '2020-01-01T00:00:00Z' }, new: 'ever' }));
  await s.start();
  t.strictSame(await ask(s, 'GET', one), [200, { 'a "ü"': 'ö', b: '2', new: 'ever' }]);
  t.strictSame(await all(s, '/?k=new'), ['<ever>']);
  t.strictSame(await ask(s, 'DELETE', one), [204, '']);
  await waitFor(() => readFileSync(file, 'utf8') === '{}\n', { what: () => 'the empty state' });
  await s.stop();
  writeFileSync(file, '{"a": ');
  await s.start();
  t.strictSame(await ask(s, 'GET', one), [200, {}]);
  t.equal(readFileSync(`${file}.damaged`, 'utf8'), '{"a": ', 'nothing is lost');
  await s.logged(/\[alert\].*keyval zone "one": the state ".*" cannot be used/);
});

t.test('a variable that is assigned changes its pair', { skip }, async (t) => {
  const s = await startServer(t, {
    files: { 'state/note': '' },
    conf: `worker_processes 2;\n${serverConf(
      `location /api { api write=on; } location / { return 200 "<$text>"; }
       location /set { set $before $text; set $text "$arg_v"; return 200 "$before>$text"; }
       location /ip { set $net 1; return 200; }`,
      `keyval_zone zone=one:32k state=%%DIR%%/state/one.json; keyval $arg_k $text zone=one;
       keyval_zone zone=two:32k type=ip; keyval $arg_k $net zone=two;`,
    )}`,
  });
  chmodSync(`${s.dir}/state`, 0o777);
  t.equal((await httpGet(s, '/set?k=a&v=1')).text, '>1');
  // The other worker sees it once the transaction is through, which may wait for another one.
  const seen = (text: string): Promise<unknown> =>
    waitFor(async () => (await all(s, '/?k=a')).join() === text, { what: () => `both workers to see ${text}` });
  await seen('<1>');
  t.equal((await httpGet(s, '/set?k=a&v=2')).text, '1>2');
  await seen('<2>');
  await httpGet(s, '/ip?k=a');
  await s.logged(/\[error\].*"a" cannot be a key of the keyval zone "two"/);
  await s.stop('QUIT');
  t.strictSame(JSON.parse(readFileSync(`${s.dir}/state/one.json`, 'utf8')), { a: '2' }, 'written at the latest at the end');
});

t.test('a zone whose file is lost keeps its pairs', { skip }, async (t) => {
  const s = await startServer(t, {
    files: { 'zones/note': '' },
    conf: `worker_processes 2; zone_directory %%DIR%%/zones;\n${serverConf(
      'location /api { api write=on; } location / { return 200 "<$text>"; }',
      'keyval_zone zone=lost:32k; keyval $arg_k $text zone=lost;',
    )}`,
  });
  t.strictSame(await ask(s, 'POST', 'http/keyvals/lost', { a: '1', b: '2' }), [201, '']);
  t.strictSame(await all(s, '/?k=a'), ['<1>']);
  const [run] = readdirSync(`${s.dir}/zones`).filter((name) => name.startsWith('sluice-'));
  for (const file of readdirSync(`${s.dir}/zones/${run}`).filter((name) => name.startsWith('lost-'))) {
    rmSync(`${s.dir}/zones/${run}/${file}`);
  }
  await waitFor(
    async () => {
      t.strictSame(await all(s, '/?k=a'), ['<1>']);
      return s.log().split('was removed or replaced').length === 3;
    },
    { what: () => `both workers to notice\n${s.log()}` },
  );
  // Before that, a worker writes to a file that nobody else has any more.
  t.strictSame(await ask(s, 'PATCH', 'http/keyvals/lost', { a: '3' }), [204, '']);
  await waitFor(async () => (await all(s, '/?k=a')).join() === '<3>', { what: () => 'both workers to use the new file' });
  t.strictSame(await ask(s, 'GET', 'http/keyvals/lost'), [200, { a: '3', b: '2' }]);
});

t.test('in stream', { skip }, async (t) => {
  const s = await startServer(t, {
    conf: `${httpConf('server { listen 127.0.0.1:%%PORT_0%%; location /api { api write=on; } }')}
      stream {
        keyval_zone zone=ports:32k;
        keyval $server_port $text zone=ports;
        server { listen 127.0.0.1:%%PORT_1%%; return "<$text>"; }
      }`,
  });
  const rest = async (): Promise<string> => (await RawClient.connect(s.port(1))).rest();
  t.equal(await rest(), '<>');
  t.strictSame(await ask(s, 'POST', 'stream/keyvals/ports', { [s.port(1)]: 'here' }), [201, '']);
  t.equal(await rest(), '<here>');
  t.strictSame(await ask(s, 'GET', 'stream/keyvals'), [200, { ports: { [s.port(1)]: 'here' } }]);
  t.strictSame(await ask(s, 'GET', 'http/keyvals'), [200, {}]);
});

t.test('wrong arguments', { skip }, async (t) => {
  for (const [lines, message] of [
    ['keyval_zone state=x;', '"keyval_zone" directive must have "zone" parameter'],
    ['keyval_zone zone=a;', 'invalid zone size "zone=a"'],
    ['keyval_zone zone=a:1k;', 'zone "zone=a:1k" is too small'],
    ['keyval_zone zone=a:32k type=x;', 'invalid type "type=x"'],
    ['keyval_zone zone=a:32k timeout=x;', 'invalid timeout value "timeout=x"'],
    ['keyval_zone zone=a:32k other;', 'invalid parameter "other"'],
    ['keyval_zone zone=a:32k sync;', '"keyval_zone" directive with "sync" must have "timeout" parameter'],
    ['keyval_zone zone=a:32k; keyval_zone zone=a:32k;', 'duplicate zone "a"'],
    ['keyval $uri name zone=a;', 'invalid variable name "name"'],
    ['keyval $uri $uri zone=a;', 'the duplicate "uri" variable'],
    ['keyval $uri $x zone;', 'invalid parameter "zone"'],
    ['keyval $uri $x zone=none;', 'zero size shared memory zone "none"'],
  ] as const) {
    t.match(await configMessage(t, serverConf('', lines)), message, lines);
  }
});
