// Programs that others wrote, through `stream`. Each is skipped where it is not installed.
import { execFileSync, execFile as execFileWithCallback } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import t from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { certs } from '../support/certs.js';
import { startDatagramBackend } from '../support/datagrams.js';
import { psqlCommand, startPostgres, withoutPostgres } from '../support/postgres.js';
import { find, makeFolder, missing, reservedPort, startProgram } from '../support/programs.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const execFile = promisify(execFileWithCallback);

const streamConf = (stream: string, main = ''): string => `${main}\nevents { worker_connections 4096; }\nstream {\n${stream}\n}\n`;

t.test('PostgreSQL with psql', { skip: withoutPostgres }, async (t) => {
  const port = await startPostgres(t);
  const s = await startServer(t, { conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:${port}; }`) });
  const psql = async (...commands: readonly string[]): Promise<string> => {
    const args = ['-X', '-q', '-A', '-t', '-h', '127.0.0.1', '-p', String(s.port(0)), '-U', 'tester', 'postgres'];
    const { stdout } = await execFile(psqlCommand!, [...args, ...commands.flatMap((command) => ['-c', command])], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.trim();
  };
  t.equal(await psql('CREATE TABLE n AS SELECT generate_series(1, 100000) AS i', 'SELECT sum(i) FROM n'), '5000050000');
  t.equal((await psql('SELECT i FROM n ORDER BY i')).split('\n').length, 100_000, 'a long answer');
  t.equal((await psql("SELECT repeat('x', 5000000)")).length, 5_000_000, 'a large one');
  t.strictSame(
    await Promise.all(Array.from({ length: 10 }, (_, i) => psql(`SELECT ${i}`))),
    Array.from({ length: 10 }, (_, i) => `${i}`),
  );
});

const redis = { 'redis-server': find('redis-server'), 'redis-cli': find('redis-cli'), 'redis-benchmark': find('redis-benchmark') };

t.test('Redis', { skip: missing(redis) }, async (t) => {
  const dir = makeFolder(t);
  const port = await reservedPort(t);
  await startProgram(t, port, redis['redis-server']!, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir]);
  const s = await startServer(t, { conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:${port}; }`) });
  const cli = async (...args: readonly string[]): Promise<string> =>
    (await execFile(redis['redis-cli']!, ['-p', String(s.port(0)), ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
  t.equal(await cli('set', 'key', 'value'), 'OK');
  t.equal(await cli('get', 'key'), 'value');
  t.equal(await cli('eval', 'for i = 1, 10000 do redis.call("rpush", "list", i) end return redis.call("llen", "list")', '0'), '10000');
  t.equal((await cli('lrange', 'list', '0', '-1')).split('\n').length, 10_000);
  const { stdout } = await execFile(redis['redis-benchmark']!, [
    '-p',
    String(s.port(0)),
    '-n',
    '10000',
    '-c',
    '20',
    '-P',
    '16',
    '-q',
    '-t',
    'set,get',
  ]);
  t.match(stdout, /SET: .* requests per second[\s\S]*GET: .* requests per second/);
});

const ssh = { sshd: find('sshd'), ssh: find('ssh'), 'ssh-keygen': find('ssh-keygen') };
/** sshd logs in whom it runs as; as root, it wants this folder. */
const cannotRun = process.getuid?.() === 0 ? !existsSync('/run/sshd') && 'no /run/sshd' : 'needs root';

t.test('SSH', { skip: missing(ssh) || cannotRun }, async (t) => {
  const dir = makeFolder(t);
  const port = await reservedPort(t);
  for (const key of ['host', 'user']) {
    execFileSync(ssh['ssh-keygen']!, ['-q', '-t', 'ed25519', '-N', '', '-f', `${dir}/${key}`]);
  }
  const options = [
    `HostKey=${dir}/host`,
    `AuthorizedKeysFile=${dir}/user.pub`,
    'StrictModes=no',
    'UsePAM=no',
    'PidFile=none',
    'PermitRootLogin=yes',
  ];
  const flags = ['-D', '-f', '/dev/null', '-p', String(port), '-o', 'ListenAddress=127.0.0.1', ...options.flatMap((each) => ['-o', each])];
  await startProgram(t, port, ssh.sshd!, flags);
  const s = await startServer(t, { conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:${port}; }`) });
  const known = [
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    `UserKnownHostsFile=${dir}/known`,
    '-o',
    'BatchMode=yes',
    '-F',
    'none',
    '-i',
    `${dir}/user`,
  ];
  const run = (command: string): Promise<{ stdout: string }> =>
    execFile(ssh.ssh!, [...known, '-p', String(s.port(0)), 'root@127.0.0.1', command], { maxBuffer: 64 * 1024 * 1024 });
  t.equal((await run('echo hello')).stdout, 'hello\n');
  t.equal((await run('head -c 5000000 /dev/zero')).stdout.length, 5_000_000);
});

const openssl = { openssl: find('openssl') };

t.test('TLS passed through by the name that openssl asks for', { skip: missing(openssl) }, async (t) => {
  const start = async (text: string): Promise<number> => {
    const server = createTlsServer({ cert: readFileSync(certs().rsa.cert), key: readFileSync(certs().rsa.key) }, (socket) => {
      socket.on('error', () => {});
      socket.end(text);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    return (server.address() as { port: number }).port;
  };
  const [one, other] = [await start('one'), await start('other')];
  const s = await startServer(t, {
    conf: streamConf(`map $ssl_preread_server_name $to { one.test 127.0.0.1:${one}; default 127.0.0.1:${other}; }
      server { listen 127.0.0.1:%%PORT_0%%; ssl_preread on; proxy_pass $to; }`),
  });
  const ask = async (...more: readonly string[]): Promise<string> => {
    const args = ['s_client', '-quiet', '-connect', `127.0.0.1:${s.port(0)}`, ...more];
    // Node's server ends without a word of TLS, which openssl says on leaving.
    return (await execFile(openssl.openssl!, args).catch((error: { stdout: string }) => error)).stdout;
  };
  t.equal(await ask('-servername', 'one.test'), 'one');
  t.equal(await ask('-servername', 'two.test'), 'other');
  t.equal(await ask('-noservername'), 'other');
  t.equal(await ask('-servername', 'one.test', '-tls1_2'), 'one');
});

t.test('a WebSocket of the ws package', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket) => socket.on('message', (data: Buffer, binary: boolean) => socket.send(data, { binary })));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const s = await startServer(t, { conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%%; proxy_pass 127.0.0.1:${port}; }`) });
  const socket = new WebSocket(`ws://127.0.0.1:${s.port(0)}/`);
  await once(socket, 'open');
  const large = Buffer.alloc(3_000_000, 'abc');
  socket.send(large);
  t.ok(large.equals((await once(socket, 'message'))[0] as Buffer));
  socket.close(4000, 'enough');
  t.equal((await once(socket, 'close'))[0], 4000);
});

const dig = { dig: find('dig') };
const QUERIES = 10_000;

t.test('DNS over UDP: ten thousand queries with dig', { skip: missing(dig) }, async (t) => {
  // The question comes back with one address: 192.0.2. and the last number of the name.
  const dns = await startDatagramBackend(t, (query, answer) => {
    const end = query.indexOf(0, 12) + 5;
    const number = Number(/^\d+/.exec(query.toString('latin1', 13))![0]);
    const reply = Buffer.concat([query.subarray(0, end), Buffer.from('c00c00010001000000050004c00002', 'hex'), Buffer.of(number % 256)]);
    reply.writeUInt16BE(0x8180, 2);
    reply.writeUInt16BE(1, 6);
    reply.writeUInt16BE(0, 8);
    reply.writeUInt16BE(0, 10);
    answer(reply);
  });
  const s = await startServer(t, {
    conf: streamConf(
      `server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${dns.port}; proxy_responses 1; proxy_timeout 5s; }`,
      'worker_processes 2;',
    ),
    logLevel: 'error',
  });
  // One question after the other: two digs may have the same port at a time, and take each other's answers.
  await s.write('names', Array.from({ length: QUERIES }, (_, i) => `${i}.test A\n`).join(''));
  const args = ['@127.0.0.1', '-p', String(s.port(0)), '+short', '+noedns', '-f', `${s.dir}/names`];
  const { stdout } = await execFile(dig.dig!, args, { maxBuffer: 16 * 1024 * 1024 });
  t.strictSame(
    stdout.trimEnd().split('\n'),
    Array.from({ length: QUERIES }, (_, i) => `192.0.2.${i % 256}`),
  );
  t.ok(new Set(dns.peers).size > 1000, 'many sessions');
  t.equal(s.log(), '');
});

t.test('syslog over UDP', async (t) => {
  const collector = await startDatagramBackend(t, () => {});
  const s = await startServer(t, {
    conf: streamConf(`server { listen 127.0.0.1:%%PORT_0%% udp; proxy_pass 127.0.0.1:${collector.port}; proxy_responses 0; }`),
    logLevel: 'error',
  });
  const client = createSocket('udp4');
  t.teardown(() => client.close());
  const send = (text: string): Promise<void> =>
    new Promise((done, fail) => client.send(text, s.port(0), '127.0.0.1', (error) => (error ? fail(error) : done())));
  const lines = Array.from({ length: 500 }, (_, i) => `<13>Nov 23 01:00:00 host app[1]: line ${i}`);
  for (const [i, line] of lines.entries()) {
    await send(line);
    // A sender that is faster than the reader loses lines, with or without a proxy between them.
    await waitFor(() => collector.received.length > i, { what: 'the line to arrive' });
  }
  t.strictSame(collector.received, lines);
  const logger = find('logger');
  if (logger !== undefined) {
    await execFile(logger, ['-d', '-n', '127.0.0.1', '-P', String(s.port(0)), '-t', 'test', 'from logger']);
    await waitFor(() => collector.received.some((line) => line.includes('from logger')), { what: 'the line of logger' });
  }
});
