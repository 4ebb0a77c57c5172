// hash, ip_hash, least_conn, least_time, random and round robin: which of three backends answers.
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { type Origin, type Reply, startOrigin } from '../support/origin.js';
import { httpGet, pipeline, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** Backends on ports 1 to 3, each of which answers with its number. Nobody listens on port 4. */
const BACKENDS = [1, 2, 3].map((n) => `server { listen 127.0.0.1:%%PORT_${n}%%; location / { return 200 ${n}; } }`).join('\n');

const server = (n: number, rest = ''): string => `server 127.0.0.1:%%PORT_${n}%% ${rest};`;
const THREE = server(1) + server(2) + server(3);

/** The backends, and a location for each group: `/NAME` goes to the group of that name. */
function conf(groups: Readonly<Record<string, string>>): string {
  const upstreams = Object.entries(groups).map(([name, lines]) => `upstream ${name} { ${lines} }`);
  const locations = Object.keys(groups).map((name) => `location /${name} { proxy_pass http://${name}; }`);
  return httpConf(`${BACKENDS}
    ${upstreams.join('\n')}
    server {
      listen 127.0.0.1:%%PORT_0%%;
      set_real_ip_from 127.0.0.1;
      real_ip_header X-Client;
      add_header X-Tried $upstream_addr;
      ${locations.join('\n')}
    }`);
}

/** The texts of the answers to so many requests, which come over one connection. */
async function answers(s: Server, count: number, path: (i: number) => string, headers: (i: number) => Record<string, string> = () => ({})) {
  const responses = await pipeline(
    s,
    Array.from({ length: count }, (_, i) => requestText('GET', path(i), headers(i))),
  );
  return responses.map(({ text }) => text).join('');
}

t.test('round robin: weights are mixed smoothly; backup and down', async (t) => {
  const s = await startServer(t, {
    conf: conf({
      weights: server(1, 'weight=5') + server(2) + server(3),
      down: server(1, 'down') + server(2) + server(3, 'backup'),
      backup: server(4) + server(3, 'backup'),
      tried: server(4, 'max_fails=1 fail_timeout=1h') + server(1),
    }),
  });
  t.equal(await answers(s, 14, () => '/weights'), '11213111121311');
  t.equal(await answers(s, 3, () => '/down'), '222');
  t.equal(await answers(s, 3, () => '/backup'), '333');
  const first = await httpGet(s, '/tried');
  t.strictSame([first.text, first.header('X-Tried')], ['1', `127.0.0.1:${s.port(4)}, 127.0.0.1:${s.port(1)}`]);
  t.equal((await httpGet(s, '/tried')).header('X-Tried'), `127.0.0.1:${s.port(1)}`, 'not asked again within fail_timeout');
});

t.test('hash: a key has its server; consistent: few keys move when one leaves', async (t) => {
  const s = await startServer(t, {
    conf: conf({
      plain: `hash $arg_k; ${server(1, 'weight=2')}${server(2)}${server(3)}`,
      ring: `hash $arg_k consistent; ${THREE}`,
      less: `hash $arg_k consistent; ${server(1)}${server(3)}`,
      gone: `hash $arg_k consistent; ${server(1)}${server(2, 'down')}${server(3)}`,
    }),
  });
  t.equal(await answers(s, 20, (i) => `/plain?k=key${i}`), PLAIN_HASH);
  const ring = await answers(s, 60, (i) => `/ring?k=key${i}`);
  t.equal(await answers(s, 60, (i) => `/ring?k=key${i}`), ring);
  for (const group of ['less', 'gone']) {
    const others = await answers(s, 60, (i) => `/${group}?k=key${i}`);
    t.notMatch(others, /2/, group);
    t.ok(
      [...ring].every((n, i) => n === '2' || others[i] === n),
      `${group}: only the keys of the missing server move`,
    );
  }
  t.match(ring, /1/);
  t.match(ring, /2/);
  t.match(ring, /3/);
});
const PLAIN_HASH = '31122113131321123131';

t.test('ip_hash: by the first three parts of an IPv4 address', async (t) => {
  const s = await startServer(t, {
    conf: conf({
      ip: `ip_hash; ${server(1, 'weight=2')}${server(2)}${server(3)}`,
      down: `ip_hash; ${server(1)}${server(2, 'down')}${server(3)}`,
    }),
  });
  const from = (address: (i: number) => string) => (i: number) => ({ 'X-Client': address(i) });
  t.equal(
    await answers(
      s,
      20,
      () => '/ip',
      from((i) => `192.0.${i}.7`),
    ),
    IP_HASH,
  );
  t.equal(
    new Set(
      await answers(
        s,
        5,
        () => '/ip',
        from((i) => `198.51.100.${i}`),
      ),
    ).size,
    1,
  );
  t.equal(
    await answers(
      s,
      6,
      () => '/ip',
      from((i) => `2001:db8:${i}::1`),
    ),
    IP6_HASH,
  );
  t.notMatch(
    await answers(
      s,
      12,
      () => '/down',
      from((i) => `192.0.${i}.7`),
    ),
    /2/,
  );
});
const IP_HASH = '12311231123112311211';
const IP6_HASH = '121212';

t.test('random: all servers that can be asked', async (t) => {
  const s = await startServer(t, {
    conf: conf({
      random: `random; ${THREE}`,
      two: `random two least_conn; ${server(1)}${server(2, 'down')}${server(3)}`,
      left: `random; ${server(1)}${server(4)}`,
    }),
  });
  t.equal(new Set(await answers(s, 60, () => '/random')).size, 3);
  t.equal([...new Set(await answers(s, 30, () => '/two'))].sort().join(''), '13');
  t.equal(await answers(s, 10, () => '/left'), '1111111111', 'a server that fails is not the answer');
});

/** Two backends that answer with their number when told to. */
async function startHolders(t: Test): Promise<{ origins: Origin[]; held: (() => void)[][] }> {
  const held: (() => void)[][] = [[], []];
  const origins = await Promise.all(
    held.map((waiting, i) =>
      startOrigin(t, async (request, _reply: Reply) => {
        if (request.target.includes('hold')) {
          await new Promise<void>((done) => waiting.push(done));
        }
        return { body: String(i + 1) };
      }),
    ),
  );
  return { origins, held };
}

t.test('least_conn: the server with the fewest requests under way, by weight', async (t) => {
  const { origins, held } = await startHolders(t);
  const [one, two] = origins.map(({ port }) => port);
  const s = await startServer(t, {
    conf: conf({ least: `least_conn; server 127.0.0.1:${one} weight=2; server 127.0.0.1:${two};` }),
  });
  const clients: RawClient[] = [];
  const hold = async (): Promise<string> => {
    const before = held.map((waiting) => waiting.length);
    const client = await RawClient.connect(s);
    clients.push(client);
    client.send(requestText('GET', '/least?hold'));
    return waitFor(() => {
      const at = held.findIndex((waiting, i) => waiting.length > before[i]!);
      return at === -1 ? undefined : String(at + 1);
    });
  };
  let order = '';
  for (let i = 0; i < 6; i++) {
    order += await hold();
  }
  t.equal(order, '121211');
  for (const finish of held[1]!.splice(0)) {
    finish();
  }
  t.equal((await clients[1]!.response()).text, '2');
  t.equal((await clients[3]!.response()).text, '2');
  t.equal((await httpGet(s, '/least')).text, '2', 'nothing is under way there');
  for (const finish of held[0]!.splice(0)) {
    finish();
  }
  for (const i of [0, 2, 4, 5]) {
    t.equal((await clients[i]!.response()).text, '1');
  }
});

t.test('least_time: the server that answers sooner', { skip: againstNginx && 'nginx sells it' }, async (t) => {
  const [slow, fast] = await Promise.all([
    startOrigin(t, async (_request, reply) => {
      await reply.sleep(400);
      return { body: 'slow' };
    }),
    startOrigin(t, { body: 'fast' }),
  ]);
  const s = await startServer(t, {
    conf: conf({ time: `least_time header; server 127.0.0.1:${slow!.port}; server 127.0.0.1:${fast!.port};` }),
  });
  const texts: string[] = [];
  for (let i = 0; i < 10; i++) {
    texts.push((await httpGet(s, '/time')).text);
  }
  t.ok(texts.filter((text) => text === 'slow').length <= 2, texts.join(' '));
});

t.test('max_conns: no more under way at a server than that', async (t) => {
  const { origins, held } = await startHolders(t);
  const s = await startServer(t, { conf: conf({ max: `server 127.0.0.1:${origins[0]!.port} max_conns=1; zone max 64k;` }) });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/max?hold'));
  await waitFor(() => held[0]!.length === 1);
  t.equal((await httpGet(s, '/max')).status, againstNginx ? 502 : 503);
  held[0]![0]!();
  t.equal((await client.response()).text, '1');
  t.equal((await httpGet(s, '/max')).text, '1');
});

t.test('slow_start: a server that works again gets its share little by little', { skip: againstNginx && 'nginx sells it' }, async (t) => {
  const back = await startOrigin(t, (_request, reply) => reply.reset());
  const s = await startServer(t, {
    conf: conf({
      soft: `server 127.0.0.1:${back.port} max_fails=1 fail_timeout=1s slow_start=1h; ${server(2)}`,
    }),
  });
  t.equal(await answers(s, 2, () => '/soft'), '22');
  back.answer({ body: '1' });
  const seen = await waitFor(async () => ((await httpGet(s, '/soft')).text === '1' ? 'back' : undefined), {
    what: () => 'the server that is back',
  });
  t.equal(seen, 'back');
  t.equal(await answers(s, 12, () => '/soft'), '222222222222', 'its weight is near nothing yet');
});

t.test('messages', async (t) => {
  const message = (lines: string): Promise<string | undefined> => configMessage(t, `events {} http { upstream u { ${lines} } }`);
  const wants = (parameter: string): string => `balancing method does not support parameter "${parameter}" in %%FILE%%:1`;
  for (const method of ['ip_hash;', 'hash $uri;', 'hash $uri consistent;', 'random;']) {
    t.equal(await message(`${method} server 127.0.0.1 backup;`), wants('backup'), method);
    if (!againstNginx) {
      t.equal(await message(`${method} server 127.0.0.1 slow_start=1s;`), wants('slow_start=1s'), method);
    }
  }
  t.equal(await message('least_conn; server 127.0.0.1; server 127.0.0.2 backup;'), undefined);
  t.equal(await message('random two least_foo; server 127.0.0.1;'), 'invalid parameter "least_foo" in %%FILE%%:1');
  t.equal(await message('random three; server 127.0.0.1;'), 'invalid parameter "three" in %%FILE%%:1');
  t.equal(await message('hash $uri sometimes; server 127.0.0.1;'), 'invalid parameter "sometimes" in %%FILE%%:1');
  t.equal(await message('server 127.0.0.1 weight=0;'), 'invalid parameter "weight=0" in %%FILE%%:1');
  t.equal(await message(''), 'no servers are inside upstream in %%FILE%%:1');
});
