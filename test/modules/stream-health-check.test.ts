import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { listenAsBackend } from '../support/backend-server.js';
import { configMessage } from '../support/config-message.js';
import { DatagramPeer, startDatagramBackend } from '../support/datagrams.js';
import { exchange, RawClient } from '../support/raw-client.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const streamConf = (stream: string): string => `events {}\nstream {\n${stream}\n}\n`;

interface Backend {
  readonly port: number;
  /** Connections so far. */
  readonly count: () => number;
  stop(): Promise<void>;
}

async function startBackend(t: Test, use: (socket: Socket) => void, port = 0): Promise<Backend> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    use(socket);
  });
  const backend = await listenAsBackend(t, server, sockets, { port });
  return { ...backend, count: () => count };
}

t.test('a connection that can be made is enough', async (t) => {
  const one = await startBackend(t, (socket) => socket.end('one'));
  const two = await startBackend(t, (socket) => socket.end('two'));
  const s = await startServer(t, {
    conf: streamConf(`
      upstream group { zone group 64k; server 127.0.0.1:${one.port} max_fails=0; server 127.0.0.1:${two.port} max_fails=0; }
      server { listen 127.0.0.1:%%PORT_0%%; proxy_pass group; health_check interval=50ms; }`),
  });
  await waitFor(() => one.count() > 2 && two.count() > 2, { what: 'checks of both' });
  await one.stop();
  await s.logged(
    new RegExp(
      `\\[warn\\] .*peer is unhealthy while connecting to upstream: connect\\(\\) failed \\(111: Connection refused\\), health check of peer 127\\.0\\.0\\.1:${one.port} in upstream "group"`,
    ),
  );
  for (let i = 0; i < 4; i++) {
    t.equal(await exchange(s, ''), 'two');
  }
  await startBackend(t, (socket) => socket.end('back'), one.port);
  await s.logged(`peer is healthy, health check of peer 127.0.0.1:${one.port} in upstream "group"`);
  const answers = [await exchange(s, ''), await exchange(s, '')];
  t.strictSame(answers.sort(), ['back', 'two']);
});

t.test('match: what is sent, and what has to come', async (t) => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['', 'x', true],
    ['send PING;', '', true],
    ['send "PING\\r\\n"; expect "+PONG";', '+PONG\r\n', true],
    ['send PING; expect "+PONG";', '-ERR\r\n', false],
    ['send PING; expect ~ "^\\+P.NG";', '+PONG', true],
    ['send PING; expect ~ "pong";', '+PONG', false],
    ['send PING; expect ~* "pong";', '+PONG', true],
    ['send PING; expect ~ "\\x4fNG";', '+PONG', true],
    ['send "\\x50ING"; expect "\\x00\\xff";', '\x00\xff', true],
    ['expect "220 ";', '220 mail', true],
    ['expect "b";', `${'a'.repeat(600)}b`, false],
  ];
  const seen: string[] = [];
  const backends = await Promise.all(
    cases.map(([, answer]) =>
      startBackend(t, (socket) => {
        socket.on('data', (data) => seen.push(data.toString('latin1')));
        for (const byte of Buffer.from(answer, 'latin1')) {
          socket.write(Buffer.of(byte));
        }
      }),
    ),
  );
  const s = await startServer(t, {
    conf: streamConf(
      cases
        .map(
          ([lines], i) => `match m${i} { ${lines} }
            upstream g${i} { zone g${i} 64k; server 127.0.0.1:${backends[i]!.port}; }
            server { listen 127.0.0.1:%%PORT_${i}%%; proxy_pass g${i}; proxy_buffer_size 512; health_check_timeout 300ms;
              health_check mandatory interval=50ms match=m${i}; }`,
        )
        .join('\n'),
    ),
  });
  for (const [i, [lines, , good]] of cases.entries()) {
    t.match(
      await s.logged(new RegExp(`peer is (un)?healthy.* in upstream "g${i}"`)),
      good ? /peer is healthy/ : /peer is unhealthy/,
      lines,
    );
  }
  // The backends' own end may hear of it later than the server was done.
  await waitFor(() => seen.includes('PING\r\n'), { what: () => JSON.stringify(seen) });
  t.ok(
    seen.every((text) => text.startsWith('PING')),
    JSON.stringify(seen),
  );
});

t.test('a backend that says nothing, and one that leaves', async (t) => {
  const silent = await startBackend(t, () => {});
  const leaving = await startBackend(t, (socket) => socket.end('xy'));
  const s = await startServer(t, {
    conf: streamConf(`match m { expect xyz; } health_check_timeout 100ms;
      upstream silent { zone silent 64k; server 127.0.0.1:${silent.port}; }
      upstream leaving { zone leaving 64k; server 127.0.0.1:${leaving.port}; }
      server { listen 127.0.0.1:%%PORT_0%%; proxy_pass silent; health_check match=m; }
      server { listen 127.0.0.1:%%PORT_1%%; proxy_pass leaving; health_check match=m; }`),
  });
  await s.logged(/a check failed while reading from upstream: upstream timed out \(110: Connection timed out\), .* in upstream "silent"/);
  await s.logged(/a check failed while reading from upstream: upstream prematurely closed connection, .* in upstream "leaving"/);
  const client = await RawClient.connect(s);
  t.equal(await client.rest(), '', 'nobody is left to ask');
  await s.logged('no live upstreams while connecting to upstream');
});

t.test('udp', async (t) => {
  const good = await startDatagramBackend(t, (bytes, answer) => answer(bytes.toString() === 'are you there?' ? 'yes' : bytes));
  const silent = await startDatagramBackend(t, () => {});
  const s = await startServer(t, {
    conf: streamConf(`health_check_timeout 200ms; proxy_responses 1;
      match yes { send "are you there?"; expect yes; } match no { send "are you there?"; expect no; }
      upstream usual { zone usual 64k; server 127.0.0.1:1; server 127.0.0.1:${silent.port}; server 127.0.0.1:${good.port}; }
      upstream good { zone good 64k; server 127.0.0.1:${good.port}; }
      upstream bad { zone bad 64k; server 127.0.0.1:${good.port}; }
      server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass usual; health_check udp mandatory; }
      server { listen 127.0.0.1:%%PORT_1%% udp; proxy_pass good; health_check udp mandatory match=yes; }
      server { listen 127.0.0.1:%%PORT_2%% udp; proxy_pass bad; health_check udp mandatory match=no; }`),
  });
  await s.logged(
    /peer is unhealthy while reading from upstream: recv\(\) failed \(111: Connection refused\), .* peer 127\.0\.0\.1:1 in upstream "usual"/,
  );
  await s.logged(`peer is healthy, health check of peer 127.0.0.1:${silent.port} in upstream "usual"`);
  await s.logged(`peer is healthy, health check of peer 127.0.0.1:${good.port} in upstream "usual"`);
  await s.logged(/peer is healthy, health check "yes" of peer .* in upstream "good"/);
  await s.logged(/peer is unhealthy while reading from upstream: upstream timed out .*, health check "no" of peer .* in upstream "bad"/);
  t.ok(silent.received.every((text) => text === 'nginx health check'));
  t.equal(await (await DatagramPeer.connect(t, s.port(1))).ask('hello'), 'hello');
});

t.test('what is refused', async (t) => {
  const message = async (stream: string): Promise<string | undefined> =>
    (await configMessage(t, streamConf(stream)))?.replace(/ in %%FILE%%:\d+$/, '');
  const server = (lines: string): string => `server { listen 127.0.0.1:1; ${lines} }`;
  const group = 'upstream g { zone g 64k; server 127.0.0.1:1; }';
  t.equal(await message(`${group} ${server('proxy_pass g; health_check;')}`), undefined);
  t.equal(
    await message(server('proxy_pass 127.0.0.1:1; health_check;')),
    '"health_check" requires upstream "127.0.0.1" to be in shared memory',
  );
  t.equal(
    await message(`upstream g { server 127.0.0.1:1; } ${server('proxy_pass g; health_check;')}`),
    '"health_check" requires upstream "g" to be in shared memory',
  );
  t.equal(await message(server('return x; health_check;')), '"health_check" requires a "proxy_pass" without variables in the same server');
  t.equal(await message(`${group} ${server('proxy_pass g; health_check match=m;')}`), 'match "m" is not defined');
  t.equal(await message(`${group} ${server('proxy_pass g; health_check uri=/;')}`), 'invalid parameter "uri=/"');
  t.equal(await message('match m { status 200; }'), 'unknown directive "status" in "match"');
  t.equal(await message('match m { expect a b; }'), 'invalid number of arguments in "expect" directive');
  t.equal(await message('match m { send a; send b; }'), '"send" directive is duplicate');
  t.match(await message('match m { expect ~ "("; }'), /missing closing parenthesis/);
});
