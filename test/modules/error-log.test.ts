import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { hostname } from 'node:os';
import t from 'tap';
import { againstNginx, product } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, RawClient } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** A server on %%PORT_0%% whose location / answers 404 from a folder, which makes a line of level error. */
const conf = (main: string, inHttp: string, inServer = '', events = '') =>
  `${main}\nevents { ${events} }\nhttp {\naccess_log off;\n${inHttp}\nserver {\nlisten 127.0.0.1:%%PORT_0%%;\nserver_name localhost;\nroot %%DIR%%/html;\n${inServer}\n}\n}\n`;

const files = { 'html/index.html': 'x' };
const lines = (text: string) => text.split('\n').slice(0, -1);

t.test('levels and inheritance', async (t) => {
  const server = await startServer(t, {
    conf: conf(
      '',
      'error_log %%DIR%%/http.log;',
      `location / { }
       location /one { error_log %%DIR%%/one.log; }
       location /crit { error_log %%DIR%%/crit.log crit; error_log %%DIR%%/error.log2 error; }
       location /twice { error_log %%DIR%%/twice.log warn; error_log %%DIR%%/more.log info; }`,
    ),
    files,
  });
  for (const path of ['/none', '/one', '/crit', '/twice']) {
    await httpGet(server, path);
  }
  await server.stop('QUIT');
  const line = (path: string) =>
    new RegExp(
      `^\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d \\[error\\] \\d+#\\d+: \\*\\d+ open\\(\\) "${server.dir}/html${path}" failed \\(2: No such file or directory\\), client: 127\\.0\\.0\\.1, server: localhost, request: "GET ${path} HTTP/1\\.1", host: "localhost"$`,
    );
  t.match(lines(server.read('http.log')), [line('/none')]);
  t.match(lines(server.read('one.log')), [line('/one')]);
  t.equal(server.read('crit.log'), '');
  t.match(lines(server.read('error.log2')), [line('/crit')]);
  t.match(lines(server.read('twice.log')), [line('/twice')]);
  t.match(server.read('more.log'), /open\(\)/);
  t.equal(lines(server.log()).filter((text) => text.includes('open()')).length, 0, 'the log of the main level has none of them');
});

t.test('whoever has an answer finds the lines about it', async (t) => {
  const server = await startServer(t, { conf: conf('', 'error_log %%DIR%%/http.log info;'), files });
  const { socket } = await RawClient.connect(server);
  const missed: number[] = [];
  for (let i = 0; i < 500; i++) {
    socket.write(`GET /none-${i} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await once(socket, 'data');
    if (!server.read('http.log').includes(`/none-${i}"`)) {
      missed.push(i);
    }
  }
  socket.destroy();
  t.strictSame(missed, []);
});

t.test('lines are whole, whatever a client sends', { skip: againstNginx && 'nginx writes a line feed as it comes' }, async (t) => {
  const server = await startServer(t, { conf: conf('', 'error_log %%DIR%%/http.log info;'), files });
  await httpGet(server, '/a%0a2026/01/01%20[emerg]%201%23forged%1b[31m', { Referer: 'x\x1b[0m' });
  await server.stop('QUIT');
  const [line, ...rest] = lines(server.read('http.log'));
  t.same(
    rest.filter((text) => /forged/.test(text)),
    [],
  );
  t.match(line, 'html/a\\x0A2026/01/01 [emerg] 1#forged\\x1B[31m" failed (2: No such file or directory)');
  t.notMatch(server.read('http.log'), /[\x00-\x09\x0b-\x1f\x7f]/);
});

t.test('JSON', { skip: againstNginx && 'sold with nginx Plus' }, async (t) => {
  const server = await startServer(t, { conf: conf('', 'error_log %%DIR%%/json.log error json;'), files });
  await http(server, 'GET /%ff"\\ HTTP/1.1\r\nHost: a\r\nReferer: "\xff\r\nConnection: close\r\n\r\n');
  await server.stop('QUIT');
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(server.read('json.log'), 'latin1'));
  const { time, pid, connection, ...rest } = JSON.parse(text);
  t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/);
  t.type(pid, 'number');
  t.type(connection, 'number');
  t.same(rest, {
    level: 'error',
    client: '127.0.0.1',
    server: 'localhost',
    request: 'GET /%ff"\\ HTTP/1.1',
    host: 'a',
    referrer: '"\xff',
    message: `open() "${server.dir}/html/\xff"\\" failed (2: No such file or directory)`,
  });
});

t.test('debug_connection', async (t) => {
  const inServer = 'location /one { error_log %%DIR%%/one.log alert; error_log %%DIR%%/two.log alert; return 204; }';
  const server = await startServer(t, { conf: conf('', '', inServer, 'debug_connection 127.0.0.2/31;') });
  await httpGet(server, '/one');
  t.equal(server.read('one.log'), '');
  await httpGet(server, '/one', {}, { from: '127.0.0.3' });
  await waitFor(() => /\[debug\] .* http finalize request/.test(server.read('one.log')));
  await server.stop('QUIT');
  t.match(server.read('one.log'), / \[debug\] \d+#\d+: \*\d+ http finalize request: [^\n]*"\/one\?"/);
  t.equal(server.read('one.log'), server.read('two.log'));
});

t.test('debug', async (t) => {
  const server = await startServer(t, { conf: conf('', 'error_log %%DIR%%/debug.log debug;', 'location /a { return 204; }') });
  await httpGet(server, '/a?b', { X: 'y' });
  await server.stop('QUIT');
  for (const text of [
    'http request line: "GET /a?b HTTP/1.1"',
    'http uri: "/a"',
    'http args: "b"',
    'http header: "X: y"',
    'using configuration "/a"',
  ]) {
    t.match(server.read('debug.log'), text);
  }
});

t.test('syslog', async (t) => {
  const socket = createSocket('udp4');
  const messages: string[] = [];
  socket.on('message', (message) => messages.push(message.toString('latin1')));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.teardown(() => socket.close());
  const to = `syslog:server=localhost:${socket.address().port}`.replace('localhost', '127.0.0.1');
  const server = await startServer(t, {
    conf: conf('', `error_log ${to};`, `location / {} location /t { error_log ${to},facility=user,tag=T,nohostname; }`),
    files,
  });
  await httpGet(server, '/none');
  await httpGet(server, '/t/none');
  await waitFor(() => messages.length === 2);
  const stamp = '[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d';
  const line = '\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d \\[error\\] \\d+#\\d+: \\*\\d+ open\\(\\) [^\\n]*host: "localhost"';
  t.match(messages[0], new RegExp(`^<187>${stamp} ${hostname().toLowerCase()} ${product}: ${line}$`));
  t.match(messages[1], new RegExp(`^<11>${stamp} T: ${line}$`));
});

t.test('standard error', async (t) => {
  const server = await startServer(t, { conf: conf('', 'error_log stderr;'), files });
  await httpGet(server, '/none');
  await waitFor(() => /\[error\] .*html\/none" failed/.test(server.stderr()));
  t.match(server.stderr(), /\[error\] .*html\/none" failed/);
});

t.test('reopening', async (t) => {
  const server = await startServer(t, { conf: conf('', 'error_log %%DIR%%/a.log;'), files: { ...files, 'old/keep': '' } });
  await httpGet(server, '/one');
  await waitFor(() => server.read('a.log') !== '');
  renameSync(`${server.dir}/a.log`, `${server.dir}/old/a.log`);
  server.signal('USR1');
  await server.logged(/\[notice\] .*reopening logs/);
  await waitFor(async () => {
    await httpGet(server, '/two');
    return server.read('a.log') !== '';
  });
  t.match(server.read('old/a.log'), 'html/one');
  t.notMatch(server.read('a.log'), 'html/one');
  t.match(server.read('a.log'), 'html/two');
});

t.test('what the configuration test says', async (t) => {
  const check = async (main: string, message: string | undefined, events = ''): Promise<void> => {
    const line = events === '' ? 1 : 2;
    const expected = message === undefined ? undefined : `${message} in %%FILE%%:${line}`;
    t.equal(await configMessage(t, conf(main, '', '', events)), expected, main || events);
  };
  await check('error_log a.log loud;', 'invalid log level "loud"');
  await check('error_log a.log info warn;', 'duplicate log level "warn"');
  await check('error_log a.log info debug_http;', 'invalid log level "debug_http"');
  await check('error_log a.log debug_http debug_event;', undefined);
  await check('error_log memory:1k debug;', 'invalid buffer size "1k"');
  await check('error_log memory:32k debug;', undefined);
  await check('error_log syslog:server=127.0.0.1:0;', 'invalid port in syslog server "127.0.0.1:0"');
  await check('error_log syslog:server=127.0.0.1,tag=a.b;', 'syslog "tag" only allows alphanumeric characters and underscore');
  await check('error_log;', 'invalid number of arguments in "error_log" directive');
  await check('', undefined, 'debug_connection unix:; debug_connection ::1; debug_connection 10.0.0.0/8;');
  await check('', 'host not found in debug_connection "no.such.host.invalid"', 'debug_connection no.such.host.invalid;');
  const low = await testConfig(t, conf('', '', '', 'debug_connection 10.0.0.1/8;'));
  t.match(low.stderr, `[warn] low address bits of 10.0.0.1/8 are meaningless in ${low.file}:2\n`);
  t.equal(low.code, 0);
});
