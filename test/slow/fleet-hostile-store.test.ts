import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { type FakeStore, startFakeStore } from '../support/fake-store.js';
import { httpGet } from '../support/raw-client.js';
import { startRedis, withoutEngine } from '../support/redis.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'sluice alone has a shared store';

/** Everything that asks the store, on one machine. */
const conf = (port: number, store = ''): string =>
  `shared_store fleet { server 127.0.0.1:${port}; timeout 300ms; node one; ${store} }\n${serverConf(
    `location /rate { limit_req zone=rate burst=1 nodelay; stub_status; }
    location /both { limit_req zone=rate burst=1 nodelay; limit_req zone=wide burst=1 nodelay; stub_status; }
    location /conn { limit_conn conn 1; stub_status; }
    location /pair { set $pair $arg_value; return 200 $pair; }
    location /status { sluice_status; }`,
    `limit_req_zone $arg_key zone=rate:1m rate=1r/m sync; limit_req_zone $arg_key zone=wide:1m rate=1r/m sync;
    limit_conn_zone $server_name zone=conn:1m sync;
    keyval_zone zone=pairs:1m timeout=1h sync; keyval $arg_key $pair zone=pairs;`,
  )}`;

/** What a store answers that is in order, but for its programs. */
function sane([name = '', key]: readonly string[]): string | undefined {
  switch (name.toLowerCase()) {
    case 'info':
      return '$0\r\n\r\n';
    case 'cluster':
      return undefined;
    case 'eval':
    case 'evalsha':
      return '*0\r\n';
    case 'hscan':
      return '*2\r\n$1\r\n0\r\n*0\r\n';
    case 'xrange':
      return '*0\r\n';
    case 'xread':
      return undefined;
    default:
      return key === undefined ? '-ERR no\r\n' : '+OK\r\n';
  }
}

/** Answers of programs, none of which a program of ours gives. */
const ANSWERS: Readonly<Record<string, string>> = {
  nothing: '$-1\r\n',
  'an empty list': '*0\r\n',
  'no list': '*-1\r\n',
  'a word': '+OK\r\n',
  'a number': ':5\r\n',
  'a number below all': ':-9223372036854775808\r\n',
  'a list of texts': '*2\r\n$1\r\n0\r\n$1\r\n0\r\n',
  'a list of lists': '*2\r\n*1\r\n:0\r\n*1\r\n:0\r\n',
  'more than is held': '*2\r\n:0\r\n:9007199254740993\r\n',
  'less than nothing': '*2\r\n:0\r\n:-9223372036854775808\r\n',
  'a limit that is none': '*2\r\n:7\r\n:5000\r\n',
  'a limit below all': '*2\r\n:-1\r\n:5000\r\n',
  'too long a list': '*9\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n',
  'a list with an error in it': '*2\r\n-ERR in the list\r\n:0\r\n',
  'a type that there is not': '@5\r\n',
  'a length that is none': '$x\r\n',
  'a list that is too long': '*4294967296\r\n',
  'a list that does not come': '*1000000000\r\n',
  'a text that does not come': '$1000000000\r\nabc',
  'half an answer': '*2\r\n:0\r\n',
  'lists in lists': '*1\r\n'.repeat(100_000),
  'an answer and another one': '*2\r\n:0\r\n:0\r\n+OK\r\n:9\r\n',
  'an answer and nothing': '*2\r\n:0\r\n:0\r\n$-1\r\n',
  'an answer and no list': '*2\r\n:0\r\n:0\r\n*-1\r\n',
  'lists for which there is no memory': `*2\r\n${'*30000000\r\n'.repeat(1000)}`,
  'an error of many lines': '-ERR \u001b[2Jone\u0000two\r\n',
  'a word that leads elsewhere': '-MOVED 1 127.0.0.1:1\r\n',
  'a program that is never known': '-NOSCRIPT no\r\n',
};

const machine = (t: Test, port: number, store = ''): Promise<Server> => startServer(t, { conf: conf(port, store) });

t.test('answers that no program gives', { skip }, async (t) => {
  let answer = '*0\r\n';
  const store = await startFakeStore(t, (words) => (/^eval/i.test(words[0]!) ? answer : sane(words)));
  const s = await machine(t, store.port);
  const [worker] = s.workers();
  await s.logged('shared store "fleet" is connected');
  for (const [what, text] of Object.entries(ANSWERS)) {
    await waitFor(async () => JSON.parse((await httpGet(s, '/status')).text).shared_store.state === 'up', {
      what: `the store before ${what}`,
    });
    answer = text;
    const key = encodeURIComponent(what);
    for (const path of ['/rate', '/both']) {
      t.strictSame(
        [(await httpGet(s, `${path}?key=${key}${path}`)).status, (await httpGet(s, `${path}?key=${key}${path}`)).status],
        [200, 200],
        `${what}: ${path}`,
      );
    }
    t.equal((await httpGet(s, '/conn')).status, 200, `${what}: /conn`);
    t.equal((await httpGet(s, `/pair?key=${key}&value=v`)).text, 'v', `${what}: /pair`);
    t.equal((await httpGet(s, '/status')).status, 200, `${what}: /status`);
  }
  t.strictSame(s.workers(), [worker], 'the worker lives');
  t.notMatch(s.log(), /\u001b|\u0000/);
  t.match(s.log(), /is lost \(it gave an answer that its program does not give\)/);
  t.equal(s.log().match(/\[warn\] .* is lost /g)!.length, 1, 'one line: the others tell of the same trouble');
});

t.test('a store that breaks off in the middle of everything', { skip }, async (t) => {
  const pieces = ['', '*', '*2\r', '*2\r\n:0\r\n:', '+O'];
  let count = 0;
  const cut = (socket: Socket): undefined => void socket.end(pieces[count++ % pieces.length]!);
  const store = await startFakeStore(t, (words, socket) => {
    if (count % 3 === 2) {
      return cut(socket);
    }
    count++;
    return sane(words);
  });
  const s = await machine(t, store.port);
  const [worker] = s.workers();
  for (let i = 0; i < 60; i++) {
    t.equal((await httpGet(s, `/rate?key=${i}`)).status, 200);
  }
  t.strictSame(s.workers(), [worker], 'the worker lives');
});

t.test('a cluster that sends everybody in circles', { skip }, async (t) => {
  const at = (store: FakeStore | undefined): string => `127.0.0.1:${store?.port ?? 1}`;
  let store: FakeStore | undefined;
  const slots = (): string => `*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:${store?.port ?? 1}\r\n$40\r\n${'0'.repeat(40)}\r\n`;
  store = await startFakeStore(t, ([name = '', sub = '', ...rest]) => {
    if (/^cluster$/i.test(name)) {
      return /^slots$/i.test(sub) ? slots() : '-ERR no\r\n';
    }
    return /^(?:eval|evalsha|set|hscan|xread|xrange)$/i.test(name) ? `-MOVED ${rest.length} ${at(store)}\r\n` : '+OK\r\n';
  });
  const s = await machine(t, store.port, 'cluster on;');
  const [worker] = s.workers();
  for (let i = 0; i < 20; i++) {
    t.equal((await httpGet(s, `/both?key=${i}`)).status, 200);
  }
  const { calls } = JSON.parse((await httpGet(s, '/status')).text).shared_store;
  const programs = (store.commands.get('evalsha') ?? 0) + (store.commands.get('eval') ?? 0);
  t.ok(programs <= 20 * calls, `${programs} times a server was asked for ${calls} calls`);
  t.strictSame(s.workers(), [worker], 'the worker lives');
});

t.test('what another program put where ours keep theirs', { skip: skip || withoutEngine }, async (t) => {
  const redis = await startRedis(t);
  const s = await startServer(t, { conf: conf(redis.port).replace('timeout 300ms', 'timeout 10s') });
  await s.logged('shared store "fleet" is connected');
  const statuses = async (path: string): Promise<number[]> => [
    (await httpGet(s, path)).status,
    (await httpGet(s, path)).status,
    (await httpGet(s, path)).status,
  ];
  const bucket = (last: number, held: number): string => {
    const bytes = Buffer.alloc(16);
    bytes.writeDoubleBE(last, 0);
    bytes.writeDoubleBE(held, 8);
    return [...bytes].map((byte) => `\\${byte.toString().padStart(3, '0')}`).join('');
  };
  const buckets: Readonly<Record<string, readonly [last: number, held: number]>> = {
    endless: [0, Number.POSITIVE_INFINITY],
    huge: [0, 1e300],
    negative: [0, -1e300],
    none: [0, Number.NaN],
    never: [Number.NaN, 0],
    late: [Number.POSITIVE_INFINITY, 1000],
    early: [Number.NEGATIVE_INFINITY, 1000],
  };
  for (const [key, [last, held]] of Object.entries(buckets)) {
    const put = `local text = string.gsub(ARGV[1], '\\\\(%d%d%d)', function(n) return string.char(tonumber(n)) end) redis.call('SET', KEYS[1], text) return #text`;
    t.equal(await redis.ask('EVAL', put, '1', `sluice:fleet:r:rate:${key}`, bucket(last, held)), '16');
    t.strictSame(await statuses(`/rate?key=${key}`), [200, 200, 503], `a bucket that is ${key}`);
  }
  // A bucket of a time to come leaks from now on.
  const ahead = `local time = redis.call('TIME') redis.call('SET', KEYS[1], struct.pack('>dd', time[1] * 1000 + 3600000, 1000)) return 1`;
  await redis.ask('EVAL', ahead, '1', 'sluice:fleet:r:rate:ahead');
  t.strictSame(await statuses('/rate?key=ahead'), [503, 503, 503], 'it is full as it was');
  const left = Number(await redis.ask('PTTL', 'sluice:fleet:r:rate:ahead'));
  t.ok(left > 0 && left <= 130_000, `and goes when it is empty: in ${left} ms`);
  // Twenty thousand workers that are no more, and one that holds more than there is.
  const fill = `for i = 1, 20000 do redis.call('HSET', KEYS[1], 'w' .. i, '1 5') end redis.call('HSET', KEYS[1], 'odd', 'x', 'long', string.rep('9', 300) .. ' 5') return 1`;
  await redis.ask('EVAL', fill, '1', 'sluice:fleet:c:conn:localhost');
  t.equal((await httpGet(s, '/conn')).status, 200);
  await waitFor(async () => (await redis.ask('EXISTS', 'sluice:fleet:c:conn:localhost')) === '0', { what: 'all that is over to go' });
  for (const key of ['sluice:fleet:c:conn:localhost', 'sluice:{fleet}:machines', 'sluice:{fleet}:changes', 'sluice:{fleet}:pairs']) {
    await redis.ask('DEL', key);
    await redis.ask('SET', key, 'x');
  }
  t.equal((await httpGet(s, '/conn')).status, 200);
  t.equal((await httpGet(s, '/pair?key=a&value=v')).text, 'v');
  t.equal((await httpGet(s, '/rate?key=x')).status, 200);
  t.equal((await httpGet(s, '/status')).status, 200);
});
