import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { DatagramPeer, echo, startDatagramBackend } from '../support/datagrams.js';
import { killWorkers } from '../support/processes.js';
import { RawClient, requestText } from '../support/raw-client.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const streamConf = (stream: string, main = '', events = ''): string => `${main}\nevents { ${events} }\nstream {\n${stream}\n}\n`;

t.test('datagrams there and back', async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; }
      server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:1; }`),
  });
  const one = await DatagramPeer.connect(t, s.port(0));
  const two = await DatagramPeer.connect(t, s.port(0));
  t.equal(await one.ask('a'), 'a');
  t.equal(await two.ask('b'), 'b');
  t.equal(await one.ask(''), '', 'an empty one');
  const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
  t.equal(await one.ask(all), all.toString('latin1'), 'every byte');
  t.equal(await two.ask('x'.repeat(16_000)), 'x'.repeat(16_000), 'a large one');
  t.strictSame(new Set(backend.peers).size, 2, 'each client has a session');
  await s.logged(new RegExp(`\\[info\\] .*\\*1 udp client 127\\.0\\.0\\.1:${one.port} connected to 127\\.0\\.0\\.1:${s.port(0)}`));
  await s.logged(new RegExp(`\\[info\\] .*\\*1 udp proxy 127\\.0\\.0\\.1:\\d+ connected to 127\\.0\\.0\\.1:${backend.port}`));
});

t.test('clients with the same port', async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; }`),
  });
  const first = await DatagramPeer.connect(t, s.port(0));
  const others = await Promise.all(
    ['127.0.0.2', '127.0.0.3'].map((address) => DatagramPeer.connect(t, s.port(0), { address, port: first.port })),
  );
  const peers = [first, ...others];
  for (const round of ['a', 'b']) {
    for (const [i, peer] of peers.entries()) {
      t.equal(await peer.ask(`${round}${i}`), `${round}${i}`);
    }
  }
  t.equal(new Set(backend.peers).size, 3);
});

/** Behind the ports that tests reserve, which they do on an address that a socket for all addresses cannot have beside it. */
const ANY_PORT = 32_010 + 2 * (process.pid % 350);

// libuv does not tell where datagrams came to.
const tellsLocal = process.env.SLUICE_TEST_NET_ENGINE !== 'libuv';

t.test('a socket for all addresses answers from the one that was asked', { skip: !tellsLocal }, async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(`log_format place '$server_addr:$server_port'; access_log %%DIR%%/access.log place;
      server { listen *:${ANY_PORT} udp; proxy_pass 127.0.0.1:${backend.port}; proxy_responses 1; }
      server { listen *:${ANY_PORT + 1} udp; return $server_addr; }`),
  });
  for (const host of ['127.0.0.1', '127.0.0.2', '127.0.0.3']) {
    const peer = await DatagramPeer.connect(t, ANY_PORT, {}, host);
    t.equal(await peer.ask(host), host);
    await s.accessLogged(`${host}:${ANY_PORT}`);
    t.equal(await (await DatagramPeer.connect(t, ANY_PORT + 1, {}, host)).ask('?'), host);
  }
});

t.test('how many datagrams a session is for', async (t) => {
  const backend = await startDatagramBackend(t, (bytes, answer) => {
    for (let i = 0; i < Number(bytes.toString()); i++) {
      answer(String(i));
    }
  });
  const s = await startServer(t, {
    conf: streamConf(`
      server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; proxy_responses 2; }
      server { listen 127.0.0.1:%%PORT_1%% udp; proxy_pass 127.0.0.1:${backend.port}; proxy_responses 0; }
      server { listen 127.0.0.1:%%PORT_2%% udp; proxy_pass 127.0.0.1:${backend.port}; proxy_requests 2; proxy_responses 1; }`),
  });
  const two = await DatagramPeer.connect(t, s.port(0));
  t.strictSame([await two.ask('2'), await two.next()], ['0', '1']);
  await s.logged('udp done, packets from/to client:1/2, bytes from/to client:1/2, bytes from/to upstream:2/1');
  t.strictSame([await two.ask('2'), await two.next()], ['0', '1']);
  t.not(backend.peers[0], backend.peers[1], 'another session');

  const none = await DatagramPeer.connect(t, s.port(1));
  none.send('1');
  await s.logged('udp done, packets from/to client:1/0, bytes from/to client:1/0, bytes from/to upstream:0/1');

  await waitFor(() => backend.peers.length === 3);
  const from = backend.peers.length;
  const requests = await DatagramPeer.connect(t, s.port(2));
  for (let i = 0; i < 4; i++) {
    t.equal(await requests.ask('1'), '0');
  }
  const [a, b, c, d] = backend.peers.slice(from);
  t.strictSame([a === b, b === c, c === d], [true, false, true]);
  t.strictSame(none.received, []);
});

t.test('the PROXY protocol comes before the first datagram, in the same one', async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; proxy_protocol on; }`),
  });
  const peer = await DatagramPeer.connect(t, s.port(0));
  t.equal(await peer.ask('a'), `PROXY TCP4 127.0.0.1 127.0.0.1 ${peer.port} ${s.port(0)}\r\na`);
  t.equal(await peer.ask('b'), 'b');
});

t.test('timeouts', async (t) => {
  const backend = await startDatagramBackend(t, () => {});
  const s = await startServer(t, {
    conf: streamConf(`proxy_timeout 100ms;
      server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; }
      server { listen 127.0.0.1:%%PORT_1%% udp; proxy_pass 127.0.0.1:${backend.port}; proxy_responses 1; }`),
  });
  (await DatagramPeer.connect(t, s.port(0))).send('a');
  await s.logged('udp timed out, packets from/to client:1/0, bytes from/to client:1/0, bytes from/to upstream:0/1');
  (await DatagramPeer.connect(t, s.port(1))).send('a');
  await s.logged(
    /\[error\] .*upstream timed out \(110: Connection timed out\) while proxying connection, udp client: 127\.0\.0\.1, server: /,
  );
});

t.test('a backend where nobody listens, and the next one', async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(`upstream two { server 127.0.0.1:1; server 127.0.0.1:${backend.port}; }
      server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass two; proxy_responses 1; }`),
  });
  const peer = await DatagramPeer.connect(t, s.port(0));
  peer.send('lost');
  await s.logged(
    /\[error\] .*recv\(\) failed \(111: Connection refused\) while proxying and reading from upstream, udp client: 127\.0\.0\.1/,
  );
  t.equal(await peer.ask('a'), 'a');
  t.equal(await peer.ask('b'), 'b', 'the peer that failed is not asked again');
});

t.test('rates', async (t) => {
  const backend = await startDatagramBackend(t, (_bytes, answer) => ['1', '2', '3'].map((n) => answer(n.repeat(100))));
  const s = await startServer(t, {
    conf: streamConf(`
      server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; proxy_download_rate 1000; proxy_responses 3; }
      server { listen 127.0.0.1:%%PORT_1%% udp; proxy_pass 127.0.0.1:${backend.port}; proxy_upload_rate 1; }`),
  });
  const slow = await DatagramPeer.connect(t, s.port(0));
  t.strictSame(
    [(await slow.ask('x'))[0], (await slow.next())[0], (await slow.next())[0]],
    ['1', '2', '3'],
    'nothing is lost on the way down',
  );
  const from = backend.received.length;
  const held = await DatagramPeer.connect(t, s.port(1));
  await held.ask('a'.repeat(100));
  held.send('b').send('c');
  await slow.ask('x');
  t.strictSame(backend.received.slice(from), ['a'.repeat(100), 'x'], 'what is too much on the way up is lost');
});

// nginx counts the sockets to backends too.
t.test('more clients than worker_connections', { skip: againstNginx }, async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; }`, '', 'worker_connections 20;'),
    expectAlerts: /worker_connections are not enough/,
  });
  const peers = await Promise.all(Array.from({ length: 60 }, () => DatagramPeer.connect(t, s.port(0))));
  for (const peer of peers) {
    peer.send('a');
  }
  await s.logged('20 worker_connections are not enough');
  await waitFor(() => backend.received.length > 0);
  t.ok(new Set(backend.peers).size <= 20);
  const served = await waitFor(() => peers.find(({ received }) => received.length > 0), { what: 'an answer' });
  await served.next();
  t.equal(await served.ask('b'), 'b', 'sessions that are there go on');
});

t.test('invented clients leave room for connections', { skip: againstNginx && 'it has none left' }, async (t) => {
  const backend = await startDatagramBackend(t, () => undefined);
  const stream = streamConf(
    `server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; }`,
    '',
    'worker_connections 20;',
  );
  const s = await startServer(t, {
    conf: `${stream}http { access_log off; server { listen 127.0.0.1:%%PORT_1%%; return 200 answer; } }`,
    expectAlerts: /worker_connections are not enough/,
  });
  const peers = await Promise.all(Array.from({ length: 60 }, () => DatagramPeer.connect(t, s.port(0))));
  for (const peer of peers) {
    peer.send('a');
  }
  await s.logged('20 worker_connections are not enough');
  const clients: RawClient[] = [];
  t.teardown(() => clients.forEach((client) => void client.destroy()));
  for (let i = 0; i < 5; i++) {
    clients.push((await RawClient.connect(s.port(1))).send(requestText('GET', '/'), 'GET'));
  }
  for (const client of clients) {
    t.equal((await client.response()).text, 'answer');
  }
});

t.test('several workers: a session stays with one, in order', { skip: againstNginx }, async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(
      [0, 1, 2]
        .map((i) => `server { listen 127.0.0.1:%%PORT_${i}%% udp${i === 1 ? ' reuseport' : ''}; proxy_pass 127.0.0.1:${backend.port}; }`)
        .join('\n'),
      'worker_processes 2;',
    ),
  });
  for (const i of [0, 1, 2]) {
    const from = backend.received.length;
    const peer = await DatagramPeer.connect(t, s.port(i));
    const sent = Array.from({ length: 200 }, (_, n) => `${n}`);
    for (const text of sent) {
      peer.send(text);
    }
    await waitFor(() => peer.received.length === sent.length, { what: 'all answers' });
    t.strictSame(backend.received.slice(from), sent);
    t.strictSame(peer.received, sent);
    t.equal(new Set(backend.peers.slice(from)).size, 1);
  }
});

t.test('a killed worker: its successor reads on', async (t) => {
  const backend = await startDatagramBackend(t, echo);
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${backend.port}; }`),
    expectAlerts: /exited on signal 9/,
  });
  const peer = await DatagramPeer.connect(t, s.port(0));
  t.equal(await peer.ask('a'), 'a');
  const [worker] = s.workers();
  await killWorkers([worker!]);
  t.equal(await peer.ask('b'), 'b', 'the kernel has kept it');
});

t.test('a reload: what is on its way arrives', { skip: againstNginx }, async (t) => {
  let answerLate = (): void => {};
  const backend = await startDatagramBackend(t, (bytes, answer) => {
    if (bytes.toString() === 'late') {
      answerLate = () => answer('at last');
    } else {
      answer(bytes);
    }
  });
  const other = await startDatagramBackend(t, (_bytes, answer) => answer('new'));
  const conf = (port: number): string =>
    streamConf(`server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${port}; proxy_responses 1; }`);
  const s = await startServer(t, { conf: conf(backend.port) });
  const waiting = await DatagramPeer.connect(t, s.port(0));
  waiting.send('late');
  await waitFor(() => backend.received.length === 1);
  await s.reload(conf(other.port));
  const peer = await DatagramPeer.connect(t, s.port(0));
  t.equal(await peer.ask('a'), 'new');
  answerLate();
  t.equal(await waiting.next(), 'at last');
  await waitFor(() => s.workers().length === 1, { what: 'the end of the old worker' });
});

t.test('what is refused', async (t) => {
  const refuses = async (listen: string, message: string): Promise<void> => {
    t.equal(
      (await configMessage(t, streamConf(`server { listen ${listen}; proxy_pass 127.0.0.1:1; }`)))?.replace(/ in %%FILE%%:\d+$/, ''),
      message,
    );
  };
  for (const parameter of ['ssl', 'proxy_protocol', 'backlog=1', 'so_keepalive=on', 'deferred', 'fastopen=1']) {
    await refuses(`127.0.0.1:1 udp ${parameter}`, `"listen" directive "${parameter.split('=')[0]}" parameter is incompatible with "udp"`);
  }
  if (!againstNginx) {
    await refuses('unix:/tmp/x udp', 'datagrams of Unix-domain sockets are not supported');
  }
});
