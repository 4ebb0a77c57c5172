import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import t from 'tap';
import { ErrorLog } from '../../../src/shared/log/error-log.js';
import { ERROR, INFO } from '../../../src/shared/log/level.js';
import { parseSyslog } from '../../../src/shared/log/syslog.js';
import { openSyslog, syslogTarget } from '../../../src/shared/log/syslog-peer.js';
import { socketPath } from '../../support/socket-path.js';
import { waitFor } from '../../support/wait.js';

const parse = (value: string) =>
  parseSyslog(value, 'sluice', (message) => {
    throw new Error(message);
  });

t.test('arguments', async (t) => {
  t.same(parse('syslog:server=127.0.0.1'), {
    server: '127.0.0.1:514',
    path: undefined,
    tcp: false,
    host: '127.0.0.1',
    port: 514,
    facility: 23,
    severity: 6,
    tag: 'sluice',
    nohostname: false,
  });
  t.same(parse('syslog:nohostname,tag=Web_1,severity=error,facility=kern,server=[2001:db8::1]:12345'), {
    server: '[2001:db8::1]:12345',
    path: undefined,
    tcp: false,
    host: '2001:db8::1',
    port: 12345,
    facility: 0,
    severity: 3,
    tag: 'Web_1',
    nohostname: true,
  });
  t.match(parse('syslog:server=unix:/var/log/nginx.sock,nohostname'), { path: '/var/log/nginx.sock', nohostname: true });
  t.match(parse('syslog:server=[::1]'), { host: '::1', port: 514 });
  t.match(parse('syslog:server=tcp:logs.example:601'), { server: 'tcp:logs.example:601', tcp: true, host: 'logs.example', port: 601 });
  t.match(parse('syslog:server=tcp:[::1]'), { server: 'tcp:[::1]:514', tcp: true, host: '::1', port: 514 });
});

t.test('errors', async (t) => {
  const errors: Record<string, string> = {
    'syslog:': 'unknown syslog parameter ""',
    'syslog:facility=user': 'no syslog server specified',
    'syslog:server=a,server=b': 'duplicate syslog "server"',
    'syslog:server=a,facility=user,facility=user': 'duplicate syslog "facility"',
    'syslog:server=a,severity=info,severity=info': 'duplicate syslog "severity"',
    'syslog:server=a,tag=x,tag=y': 'duplicate syslog "tag"',
    'syslog:server=a,facility=x': 'unknown syslog facility "x"',
    'syslog:server=a,severity=err': 'unknown syslog severity "err"',
    'syslog:server=a,tag=a-b': 'syslog "tag" only allows alphanumeric characters and underscore',
    [`syslog:server=a,tag=${'x'.repeat(33)}`]: 'syslog tag length exceeds 32',
    'syslog:server=a,bogus': 'unknown syslog parameter "bogus"',
    'syslog:server=a,nohostname1': 'unknown syslog parameter "nohostname1"',
    'syslog:server=a:0': 'invalid port in syslog server "a:0"',
    'syslog:server=a:65536': 'invalid port in syslog server "a:65536"',
    'syslog:server=a:b': 'invalid port in syslog server "a:b"',
    'syslog:server=a/b': 'invalid host in syslog server "a/b"',
    'syslog:server=[::1': 'invalid host in syslog server "[::1"',
    'syslog:server=[::1]x': 'invalid host in syslog server "[::1]x"',
    'syslog:server=:514': 'no host in syslog server ":514"',
    'syslog:server=': 'no host in syslog server ""',
    'syslog:server=tcp:': 'no host in syslog server "tcp:"',
    'syslog:server=tcp:a:0': 'invalid port in syslog server "tcp:a:0"',
    'syslog:server=tcp:unix:/a': 'invalid host in syslog server "tcp:unix:/a"',
    'syslog:server=unix:': 'no path in the unix domain socket in syslog server "unix:"',
    [`syslog:server=unix:/${'x'.repeat(107)}`]: `too long path in the unix domain socket in syslog server "unix:/${'x'.repeat(107)}"`,
  };
  for (const [value, message] of Object.entries(errors)) {
    t.throws(() => parse(value), { message });
  }
});

const noReport = (message: string) => t.fail(message);

t.test('UDP', async (t) => {
  const server = createSocket('udp4');
  const received: string[] = [];
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  const got = new Promise<void>((resolve) => {
    server.on('message', (message) => {
      received.push(message.toString('latin1'));
      if (received.length === 3) {
        resolve();
      }
    });
  });
  const spec = parse(`syslog:server=127.0.0.1:${server.address().port},tag=SEE`);
  const peer = openSyslog(spec, '127.0.0.1', noReport);
  const log = new ErrorLog([syslogTarget(peer, INFO, false)]);
  log.log(ERROR, 'first');
  log.log(INFO, 'second');
  peer.send(spec.severity, 'access line \xff');
  await got;
  peer.close();
  server.close();
  const stamp = '[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d';
  const line = (priority: number, text: string) => new RegExp(`^<${priority}>${stamp} ${hostname().toLowerCase()} SEE: ${text}$`);
  t.match(received[0], line(23 * 8 + 3, '\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d \\[error\\] \\d+#\\d+: first'));
  t.match(received[1], line(23 * 8 + 6, '.* \\[info\\] \\d+#\\d+: second'));
  t.match(received[2], line(23 * 8 + 6, 'access line \xff'));
});

t.test('a server that is not there is reported once and costs nothing', async (t) => {
  const server = createSocket('udp4');
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise<void>((resolve) => server.close(resolve));
  const reports: string[] = [];
  const peer = openSyslog(parse(`syslog:server=127.0.0.1:${port}`), '127.0.0.1', (message) => reports.push(message));
  for (const deadline = Date.now() + 30_000; reports.length === 0 && Date.now() < deadline; ) {
    peer.send(6, 'lost');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (let i = 0; i < 20; i++) {
    peer.send(6, 'lost');
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.same(reports, [`send() failed (111: Connection refused) while logging to syslog, server: 127.0.0.1:${port}`]);
  peer.close();
});

t.test('a stream socket', async (t) => {
  const path = socketPath(t);
  let text = '';
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const closed = new Promise<void>((resolve) => server.once('connection', (socket) => socket.once('close', () => resolve())));
  const peer = openSyslog(parse(`syslog:server=unix:${path},nohostname,tag=T`), '', noReport);
  peer.send(3, 'one\ntwo');
  peer.send(6, 'three');
  peer.close();
  await closed;
  server.close();
  t.match(text, /^<187>\S+ [ \d]\d [\d:]{8} T: one two\n<190>\S+ [ \d]\d [\d:]{8} T: three\n$/);
});

t.test('TCP, and a server that comes back', async (t) => {
  const texts: string[] = [];
  const listen = (port: number): Promise<Server> =>
    new Promise((done) => {
      const server = createServer((socket) => {
        const i = texts.push('') - 1;
        socket.on('data', (chunk) => (texts[i] += chunk.toString('latin1')));
        server.once('bye', () => socket.resetAndDestroy());
      });
      server.listen(port, '127.0.0.1', () => done(server));
    });
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const reports: string[] = [];
  const peer = openSyslog(parse(`syslog:server=tcp:127.0.0.1:${port},nohostname,tag=T`), '127.0.0.1', (message) => reports.push(message));
  peer.send(3, 'one\ntwo');
  peer.send(6, 'three');
  await waitFor(() => /three\n$/.test(texts[0] ?? ''));
  t.match(texts[0], /^<187>\S+ [ \d]\d [\d:]{8} T: one two\n<190>\S+ [ \d]\d [\d:]{8} T: three\n$/);
  server.emit('bye');
  await new Promise((done) => server.close(done));
  await waitFor(() => {
    peer.send(6, 'lost');
    return reports.length > 0;
  });
  server = await listen(port);
  await waitFor(() => {
    peer.send(6, 'found');
    return texts.length === 2 && /T: found\n$/.test(texts[1] ?? '');
  });
  t.equal(reports.length, 1);
  t.match(reports[0], new RegExp(`^(send|connect)\\(\\) failed \\(.*\\) while logging to syslog, server: tcp:127.0.0.1:${port}$`));
  peer.close();
  server.emit('bye');
  server.close();
});

t.test('a TCP server that does not read', async (t) => {
  const held: Socket[] = [];
  const server = createServer((socket) => held.push(socket.pause()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const reports: string[] = [];
  const { port } = server.address() as AddressInfo;
  const peer = openSyslog(parse(`syslog:server=tcp:127.0.0.1:${port}`), '127.0.0.1', (message) => reports.push(message));
  const text = 'x'.repeat(60_000);
  await waitFor(() => {
    for (let i = 0; i < 20; i++) {
      peer.send(6, text);
    }
    return reports.length > 0;
  });
  for (let i = 0; i < 20; i++) {
    peer.send(6, text);
  }
  t.same(reports, [`send() failed (11: Resource temporarily unavailable) while logging to syslog, server: tcp:127.0.0.1:${port}`]);
  peer.close();
  for (const socket of held) {
    socket.resetAndDestroy();
  }
  server.close();
});

t.test('no socket at the path', async (t) => {
  const path = socketPath(t);
  const report = await new Promise<string>((resolve) => openSyslog(parse(`syslog:server=unix:${path}`), '', resolve).send(3, 'x'));
  t.equal(report, `connect() failed (2: No such file or directory) while logging to syslog, server: unix:${path}`);
});

const missing = ['perl', 'logger'].find((tool) => spawnSync(tool, ['--version']).status !== 0);

t.test('a datagram socket', { skip: missing !== undefined && `no ${missing}` }, async (t) => {
  const path = socketPath(t);
  const script = `use IO::Socket::UNIX; use Socket; $| = 1;
    my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die;
    for (1..2) { $s->recv(my $m, 65536); print "$m\\n" }`;
  const receiver = spawn('perl', ['-e', script, path]);
  let text = '';
  receiver.stdout.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  const done = new Promise((resolve) => receiver.once('close', resolve));
  while (!existsSync(path)) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const peer = openSyslog(parse(`syslog:server=unix:${path},tag=T,nohostname,facility=user`), '', noReport);
  peer.send(3, `one ${'x'.repeat(2000)}`);
  peer.send(6, 'two \xc3\xa9');
  await done;
  peer.close();
  t.match(text, /^<11>\S+ [ \d]\d [\d:]{8} T: one x{2000}\n<14>\S+ [ \d]\d [\d:]{8} T: two \xc3\xa9\n$/);
});

t.test('a datagram socket that goes, and comes back', { skip: missing !== undefined && `no ${missing}` }, async (t) => {
  const path = socketPath(t);
  const script = `use IO::Socket::UNIX; use Socket; $| = 1;
    my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die; $s->recv(my $m, 65536); print "$m\\n"`;
  const receiveOne = async (send: () => void): Promise<string> => {
    const receiver = spawn('perl', ['-e', script, path]);
    let text = '';
    receiver.stdout.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    const done = new Promise((resolve) => receiver.once('close', resolve));
    await waitFor(() => existsSync(path));
    const sending = setInterval(send, 20);
    await done;
    clearInterval(sending);
    return text;
  };
  const reports: string[] = [];
  const peer = openSyslog(parse(`syslog:server=unix:${path},tag=T,nohostname`), '', (message) => reports.push(message));
  t.teardown(() => peer.close());
  t.match(await receiveOne(() => peer.send(6, 'before')), / T: before\n$/);
  await waitFor(() => {
    peer.send(6, 'lost');
    return reports.length > 0;
  });
  t.strictSame(reports, [`send() failed (111: Connection refused) while logging to syslog, server: unix:${path}`]);
  rmSync(path);
  t.match(await receiveOne(() => peer.send(6, 'after')), / T: (lost|after)\n$/);
});
