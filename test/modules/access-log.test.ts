// biome-ignore-all lint/suspicious/noTemplateCurlyInString: configurations have variables in braces

import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { closeSync, constants, existsSync, openSync, readFileSync, readSync, renameSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { againstNginx, product } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { http, httpGet, pipeline, requestText } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { serverConf, startServer } from '../support/server.js';
import { socketPath } from '../support/socket-path.js';
import { waitFor } from '../support/wait.js';

/** An http block whose server listens on %%PORT_0%%, without the harness's own access_log. */
const bare = (inHttp: string, inServer = '') =>
  `events {}\nhttp {\n${inHttp}\nserver {\nlisten 127.0.0.1:%%PORT_0%%;\nserver_name localhost;\nroot %%DIR%%/html;\n${inServer}\n}\n}\n`;

const lines = (text: string) => text.split('\n').slice(0, -1);

t.test('the default: logs/access.log in the combined format', async (t) => {
  const server = await startServer(t, { conf: bare(''), files: { 'html/a.txt': 'hello', 'logs/keep': '' } });
  await httpGet(server, '/a.txt?x=1', { Referer: 'http://e.com/"q"', 'User-Agent': 'T/1.0 \xe9\t\\' });
  await httpGet(server, '/none');
  await server.stop('QUIT');
  const [first, second, ...rest] = lines(server.read('logs/access.log'));
  const time = '\\[\\d\\d/[A-Z][a-z]{2}/\\d{4}:\\d\\d:\\d\\d:\\d\\d [+-]\\d{4}\\]';
  t.match(
    first,
    new RegExp(
      `^127\\.0\\.0\\.1 - - ${time} "GET /a\\.txt\\?x=1 HTTP/1\\.1" 200 5 "http://e\\.com/\\\\x22q\\\\x22" "T/1\\.0 \\\\xE9\\\\x09\\\\x5C"$`,
    ),
  );
  t.match(second, new RegExp(`^127\\.0\\.0\\.1 - - ${time} "GET /none HTTP/1\\.1" 404 \\d+ "-" "-"$`));
  t.same(rest, []);
});

t.test('levels: off, several logs, inheritance', async (t) => {
  const server = await startServer(t, {
    conf: bare(
      'log_format short "$uri $status"; access_log %%DIR%%/http.log short;',
      `location /inherited { return 204; }
       location /off { access_log off; return 204; location /off/on { access_log %%DIR%%/on.log short; return 204; } }
       location /two { access_log %%DIR%%/a.log short; access_log %%DIR%%/b.log SHORT; return 204; }
       location /both { access_log %%DIR%%/both.log short; access_log off; return 204; }
       location /if { if ($arg_q) { access_log %%DIR%%/if.log short; return 204; } return 204; }
       location /except { limit_except GET { access_log %%DIR%%/except.log short; } }`,
    ),
  });
  for (const path of ['/inherited', '/off/x', '/off/on', '/two', '/both', '/if', '/if?q=1']) {
    await httpGet(server, path);
  }
  await http(server, requestText('POST', '/except', {}, 'x'));
  await httpGet(server, '/except');
  await server.stop('QUIT');
  t.equal(server.read('http.log'), '/inherited 204\n/if 204\n/except 404\n');
  t.equal(server.read('except.log'), '/except 404\n');
  t.equal(server.read('on.log'), '/off/on 204\n');
  t.equal(server.read('a.log'), '/two 204\n');
  t.equal(server.read('b.log'), '/two 204\n');
  t.equal(server.read('both.log'), '', 'off wins');
  t.equal(server.read('if.log'), '/if 204\n');
});

t.test('if=', async (t) => {
  const server = await startServer(t, {
    conf: bare(
      `log_format short "$uri";
       map $status $loggable { ~^[23] 0; default 1; }
       access_log %%DIR%%/errors.log short if=$loggable;`,
      `location /a { access_log %%DIR%%/a.log short if=$arg_a$arg_b; return 200; }
       location /ok { return 200; }
       location /bad { return 500; }`,
    ),
  });
  for (const path of ['/a/none', '/a/zero?a=0', '/a/empty?a=', '/a/one?a=1', '/a/text?b=no', '/a/zeros?a=0&b=0', '/ok', '/bad']) {
    await httpGet(server, path);
  }
  await server.stop('QUIT');
  t.equal(server.read('a.log'), '/a/one\n/a/text\n/a/zeros\n');
  t.equal(server.read('errors.log'), '/bad\n');
});

t.test('escape=', async (t) => {
  const server = await startServer(t, {
    conf: bare(
      `log_format default '$http_x|$http_y|$arg_none';
       log_format named escape=default '$http_x';
       log_format none escape=none '$http_x|$http_y|$arg_none';
       log_format json escape=json '{"x":"$http_x","y":"$http_y",'
                                   '"n":"$arg_none","status":$status,"time":$request_time,"length":$request_length}';`,
      `access_log %%DIR%%/default.log default; access_log %%DIR%%/named.log named; access_log %%DIR%%/none.log none;
       access_log %%DIR%%/json.log json; return 200 OK;`,
    ),
  });
  const x = 'a"\\\t\x7f\xc3\xa9~';
  const request = requestText('GET', '/', { X: x, Y: '' });
  await http(server, request);
  await server.stop('QUIT');
  t.equal(server.read('default.log'), 'a\\x22\\x5C\\x09\\x7F\\xC3\\xA9~||-\n');
  t.equal(server.read('named.log'), 'a\\x22\\x5C\\x09\\x7F\\xC3\\xA9~\n');
  t.equal(server.read('none.log'), `${x}||\n`);
  const json = JSON.parse(Buffer.from(server.read('json.log'), 'latin1').toString());
  t.match(json, { x: 'a"\\\t\x7f\u00e9~', y: '', n: '', status: 200, length: request.length });
  t.type(json.time, 'number');
});

t.test('a JSON line parses whatever a client sends', { skip: againstNginx && 'nginx leaves bytes that are no UTF-8' }, async (t) => {
  const server = await startServer(t, {
    conf: bare(
      `log_format json escape=json '{"uri":"$uri","request":"$request","agent":"$http_user_agent"}';`,
      'access_log %%DIR%%/json.log json; return 200 OK;',
    ),
  });
  const bytes = Array.from({ length: 256 }, (_, i) => `%${i.toString(16).padStart(2, '0')}`);
  const paths = bytes.filter((byte) => byte !== '%00').map((byte) => `/${byte}`);
  for (const path of paths) {
    await httpGet(server, path, { 'User-Agent': `\xff\xc0${path}` });
  }
  await server.stop('QUIT');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const records = lines(server.read('json.log')).map((line) => JSON.parse(decoder.decode(Buffer.from(line, 'latin1'))));
  t.equal(records.length, paths.length);
  t.equal(records[0].uri, '/\x01');
  t.equal(records.at(-1).uri, '/\xff');
  t.equal(records.at(-1).agent, '\xff\xc0/%ff');
});

t.test('JSON lines and any byte, sent as it is', { skip: againstNginx && 'nginx leaves bytes that are no UTF-8' }, async (t) => {
  const server = await startServer(t, {
    conf: `error_log %%DIR%%/errors.json info json;\n${bare(
      `log_format json escape=json '{"time":"$time_iso8601","msec":$msec,"client":"$remote_addr","request":"$request","uri":"$uri","args":"$args",'
         '"status":$status,"bytes":$body_bytes_sent,"length":$request_length,"took":$request_time,"host":"$http_host",'
         '"referer":"$http_referer","agent":"$http_user_agent","user":"$remote_user","x":"$http_x","arg":"$arg_q","cookie":"$cookie_c"}';`,
      'large_client_header_buffers 4 16k; access_log %%DIR%%/json.log json; location / { }',
    )}`,
  });
  const send = async (target: string, header: string, host = 'a'): Promise<void> => {
    await http(
      server,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nReferer: ${header}\r\nUser-Agent: ${header}\r\nX: ${header}\r\nCookie: c=${header}\r\n` +
        `Authorization: Basic ${Buffer.from(`${header}:x`, 'latin1').toString('base64')}\r\nConnection: close\r\n\r\n`,
    );
  };
  const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
  for (const byte of all) {
    await Promise.all([send(`/in${byte}uri?q=${byte}`, 'plain'), send('/in-header', `a${byte}z`), send('/in-host', 'plain', `a${byte}z`)]);
  }
  // Halves of sequences, overlong forms and surrogates, in the places where cutting them apart matters.
  for (const text of [
    '\xc3',
    '\xc0\xaf',
    '\xed\xa0\x80',
    '\xf4\x90\x80\x80',
    '\xf0\x9f\x98',
    '\xe2\x82\xac"\\\\',
    all.slice(0x80).join(''),
  ]) {
    await send(`/${text}?q=${text}`, text);
  }
  await http(server, `${all.join('')}\r\n\r\n`);
  await server.stop('QUIT');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parse = (file: string) => lines(server.read(file)).map((line) => JSON.parse(decoder.decode(Buffer.from(line, 'latin1'))));
  const records = parse('json.log');
  t.equal(records.length, 3 * 256 + 8, 'one line a request');
  for (const record of records) {
    for (const key of ['msec', 'status', 'bytes', 'length', 'took']) {
      t.type(record[key], 'number', key);
    }
  }
  const agents = new Set(records.map(({ agent }) => agent));
  for (const byte of all.filter((byte) => byte > ' ' && byte !== '\x7f')) {
    t.ok(agents.has(`a${byte}z`), JSON.stringify(byte));
  }
  const errors = parse('errors.json');
  t.ok(errors.length > 256);
  for (const { time, level, pid, message } of errors) {
    t.match([time, level, pid, message], [/^\d{4}-/, /^[a-z]+$/, Number, String]);
  }
});

t.test('variables of log formats', async (t) => {
  const server = await startServer(t, {
    conf: bare(
      `log_format vars '$uri|$pipe|$status|$bytes_sent|$body_bytes_sent|$request_length|$connection_requests';
       log_format times '$time_iso8601 $msec $request_time';`,
      'access_log %%DIR%%/vars.log vars; access_log %%DIR%%/times.log times; location / { return 200 hello; }',
    ),
  });
  const requests = ['/one', '/two', '/three'].map((path) => requestText('GET', path));
  const responses = await pipeline(server, requests);
  await server.stop('QUIT');
  const expected = ['/one|.', '/two|p', '/three|p'].map((start, i) => {
    const sent = (responses[i] as { raw?: string }).raw?.length;
    return new RegExp(`^${start.replace(/[|.]/g, '\\$&')}\\|200\\|${sent ?? '\\d+'}\\|5\\|${requests[i]?.length}\\|${i + 1}$`);
  });
  t.match(lines(server.read('vars.log')), expected);
  const [iso, msec, took] = lines(server.read('times.log'))[0]?.split(' ') ?? [];
  t.match(msec, /^\d+\.\d{3}$/);
  t.match(took, /^0\.\d{3}$/);
  t.ok(Math.abs(new Date(String(iso)).getTime() / 1000 - Number(msec)) < 2);
});

t.test('cookies: semicolons part them, and what is no pair takes the next one with it', async (t) => {
  const s = await startServer(t, { conf: serverConf('location / { return 200 "[$cookie_a][$cookie_b]"; }') });
  for (const [header, expected] of [
    ['a=1; b=2', '[1][2]'],
    ['A = 1 ;b=', '[1 ][]'],
    ['a="x, y"; b=2', '["x, y"][2]'],
    ['x, a=1; b=2,3', '[][2,3]'],
    ['a\t=1; b=2', '[][2]'],
    ['ab=1; a=2=3', '[2=3][]'],
    ['; ;;a=1', '[1][]'],
    ['a; a=1; b=2', '[][2]'],
    ['a; b=2; a=1', '[1][2]'],
    ['a b; b=2; a=1', '[1][2]'],
    ['x=a=1;b =2;b=3', '[][2]'],
  ] as const) {
    t.equal((await httpGet(s, '/', { Cookie: header })).text, expected, header);
  }
});

t.test('a dash of a field and a low line are one in names of variables, in both directions', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      'location / { add_header X_Low low; add_header X-Low dash; add_trailer X_End end; return 200 text; }',
      "log_format names '$sent_http_x_low $sent_trailer_x_end'; access_log %%DIR%%/names.log names;",
    ),
  });
  await httpGet(s, '/');
  t.equal(await waitFor(() => s.read('names.log')), 'low, dash end\n');
});

t.test('variables keep what they were when they were asked for first', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(
      `location / { set $early "$request_body|$remote_addr|$request_completion"; set_real_ip_from 127.0.0.1; real_ip_header X-R; proxy_pass http://127.0.0.1:%%PORT_1%%; }
       location /late { set_real_ip_from 127.0.0.1; real_ip_header X-R; proxy_pass http://127.0.0.1:%%PORT_1%%; }
       location /dropped { return 204; }`,
      `log_format kept '$uri $request_body $remote_addr $request_completion $request_length'; access_log %%DIR%%/kept.log kept;
       server { listen 127.0.0.1:%%PORT_1%%; access_log off; return 204; }`,
    ),
  });
  for (const path of ['/early', '/late', '/dropped']) {
    await http(s, requestText('POST', path, { 'X-R': '10.1.2.3', Connection: 'close' }, 'body'));
  }
  const head = (path: string): number => requestText('POST', path, { 'X-R': '10.1.2.3', Connection: 'close' }, 'body').length - 4;
  t.equal(
    await waitFor(() => s.read('kept.log').includes('/dropped') && s.read('kept.log')),
    `/early - 127.0.0.1  ${head('/early') + 4}\n/late body 10.1.2.3 OK ${head('/late') + 4}\n/dropped - 127.0.0.1 OK ${head('/dropped')}\n`,
    'a body that nobody reads has no length',
  );
});

t.test('requests that never got as far as a location', async (t) => {
  const server = await startServer(t, {
    conf: bare(`log_format short '"$request" $status $bytes_sent'; access_log %%DIR%%/a.log short;`, 'location / { return 200 OK; }'),
  });
  await http(server, 'GARBAGE\r\n\r\n');
  await http(server, 'GET / HTTP/1.1\r\n\r\n');
  await http(server, 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n');
  await server.stop('QUIT');
  const [garbage, noHost, twoLengths] = lines(server.read('a.log'));
  t.match(garbage, /^"GARBAGE" 400 \d+$/);
  t.match(noHost, /^"GET \/ HTTP\/1\.1" 400 \d+$/);
  t.match(twoLengths, /^"GET \/ HTTP\/1\.1" 400 \d+$/);
});

t.test('buffer, flush and gzip', async (t) => {
  const server = await startServer(t, {
    conf: bare(
      'log_format short "$uri";',
      `location /big { access_log %%DIR%%/big.log short buffer=1m; return 200; }
       location /small { access_log %%DIR%%/small.log short buffer=16; return 200; }
       location /flush { access_log %%DIR%%/flush.log short buffer=1m flush=50ms; return 200; }
       location /gzip { access_log %%DIR%%/gzip.log short gzip flush=50ms; return 200; }
       location /shared1 { access_log %%DIR%%/shared.log short buffer=16k if=$arg_a; return 200; }
       location /shared2 { access_log %%DIR%%/shared.log short buffer=16k; return 200; }`,
    ),
  });
  for (const path of ['/big', '/small1', '/small2', '/small3', '/flush', '/gzip/1', '/gzip/2', '/shared1?a=1', '/shared1', '/shared2']) {
    await httpGet(server, path);
  }
  const unzipped = () => (server.read('gzip.log') === '' ? '' : gunzipSync(readFileSync(`${server.dir}/gzip.log`)).toString());
  await waitFor(() => server.read('flush.log') !== '' && unzipped().includes('/gzip/2'));
  t.equal(server.read('flush.log'), '/flush\n');
  t.equal(unzipped(), '/gzip/1\n/gzip/2\n');
  t.equal(server.read('big.log'), '');
  t.equal(server.read('small.log'), '/small1\n/small2\n', 'written when the next line does not fit');
  await server.stop('QUIT');
  t.equal(server.read('big.log'), '/big\n', 'written at the end');
  t.equal(server.read('small.log'), '/small1\n/small2\n/small3\n');
  t.equal(server.read('shared.log'), '/shared1\n/shared2\n');
});

t.test('variables in the path', async (t) => {
  const server = await startServer(t, {
    conf: bare(
      'log_format short "$uri"; access_log off;',
      `location /v { access_log logs/v_\${arg_n}.log short; return 200; }
       location /deep { access_log %%DIR%%/\${arg_n}/x.log short; return 200; }
       location /rootless { root %%DIR%%/nowhere; access_log %%DIR%%/rootless_$arg_n.log short; return 200; }
       location /cache { open_log_file_cache max=3 inactive=20s valid=1m min_uses=2;
                         access_log %%DIR%%/d/\${arg_n}.log short; return 200; }`,
    ),
    files: { 'html/x': '', 'logs/keep': '', 'd/keep': '' },
    // The worker makes the files itself, in folders of the tests' user.
    asRoot: true,
  });
  for (const path of ['/v', '/v?n=', '/v?n=a', '/v?n=a', '/deep?n=missing', '/rootless?n=1']) {
    await httpGet(server, path);
  }
  await server.logged(
    /\[crit\] .*: \*\d+ open\(\) "[^"]*\/missing\/x\.log" failed \(2: No such file or directory\) while logging request, client: /,
  );
  await server.logged(
    /\[error\] .* testing "[^"]*\/nowhere" existence failed \(2: No such file or directory\) while logging request, client: /,
  );
  for (const n of ['once', 'kept', 'kept']) {
    await httpGet(server, `/cache?n=${n}`);
  }
  await waitFor(() => server.read('d/kept.log') === '/cache\n/cache\n');
  renameSync(`${server.dir}/d`, `${server.dir}/moved`);
  await httpGet(server, '/cache?n=once');
  await httpGet(server, '/cache?n=kept');
  await server.stop('QUIT');
  t.equal(server.read('logs/v_.log'), '/v\n/v\n');
  t.equal(server.read('logs/v_a.log'), '/v\n/v\n');
  t.equal(server.read('moved/kept.log'), '/cache\n/cache\n/cache\n');
  t.equal(server.read('moved/once.log'), '/cache\n');
  t.notOk(existsSync(`${server.dir}/rootless_1.log`));
});

t.test('syslog', async (t) => {
  const socket = createSocket('udp4');
  const messages: string[] = [];
  socket.on('message', (message) => messages.push(message.toString('latin1')));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.teardown(() => socket.close());
  const to = `syslog:server=127.0.0.1:${socket.address().port}`;
  const server = await startServer(t, {
    conf: bare(
      'log_format short "$uri $http_x"; access_log off;',
      `location /one { access_log ${to} short; return 200; }
       location /two { access_log ${to},facility=user,severity=alert,tag=T_2,nohostname short; return 200; }`,
    ),
  });
  await httpGet(server, '/one', { X: 'a\x7fb' });
  await httpGet(server, '/two');
  await waitFor(() => messages.length === 2);
  const stamp = '[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d';
  t.match(messages[0], new RegExp(`^<190>${stamp} ${hostname().toLowerCase()} ${product}: /one a\\\\x7Fb$`));
  t.match(messages[1], new RegExp(`^<9>${stamp} T_2: /two -$`));
});

t.test('syslog over TCP and a stream socket', { skip: againstNginx && 'nginx sends datagrams only' }, async (t) => {
  const received: string[] = [];
  const sink = createServer((socket) => socket.on('data', (data) => received.push(data.toString('latin1'))));
  const { port } = await new Promise<AddressInfo>((done) => sink.listen(0, '127.0.0.1', () => done(sink.address() as AddressInfo)));
  t.teardown(() => sink.close());
  const path = socketPath(t);
  const local = createServer((socket) => socket.on('data', (data) => received.push(data.toString('latin1'))));
  await new Promise<void>((done) => local.listen(path, done));
  t.teardown(() => local.close());
  const server = await startServer(t, {
    conf: bare(
      'log_format short "$uri"; access_log off;',
      `location /tcp { access_log syslog:server=tcp:127.0.0.1:${port},tag=T,nohostname short; return 200; }
       location /unix { access_log syslog:server=unix:${path},tag=U,nohostname,severity=error short; return 200; }`,
    ),
    asRoot: true,
  });
  await httpGet(server, '/tcp');
  await httpGet(server, '/unix');
  await waitFor(() => received.length === 2);
  t.match(received.sort().reverse(), [/^<190>.* T: \/tcp\n$/, /^<187>.* U: \/unix\n$/]);
});

t.test('whoever does not read the log holds up nobody', { skip: againstNginx && 'nginx waits for the pipe' }, async (t) => {
  const dir = t.testdir({});
  execFileSync('mkfifo', ['-m', '666', `${dir}/fifo`]);
  const reader = openSync(`${dir}/fifo`, constants.O_RDONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  const deaf = createServer((socket) => socket.pause());
  const { port } = await new Promise<AddressInfo>((done) => deaf.listen(0, '127.0.0.1', () => done(deaf.address() as AddressInfo)));
  t.teardown(() => deaf.close());
  const server = await startServer(t, {
    conf: bare(
      'log_format long "$request_uri $arg_n";',
      `access_log ${dir}/fifo long; access_log syslog:server=tcp:127.0.0.1:${port} long; large_client_header_buffers 4 16k;
       location / { return 200; }`,
    ),
    expectAlerts: /Resource temporarily unavailable/,
    asRoot: true,
  });
  const long = 'x'.repeat(7000);
  const count = 900;
  const answers = await pipeline(
    server,
    Array.from({ length: count }, (_, n) => requestText('GET', `/${long}?n=${n}`)),
  );
  t.ok(answers.length === count && answers.every(({ status }) => status === 200));
  await server.logged(/write\(\) to "[^"]*\/fifo" failed \(11: Resource temporarily unavailable\)/);
  await server.logged(/send\(\) failed \(11: Resource temporarily unavailable\) while logging to syslog, server: tcp:/);
  t.equal(server.log().match(/temporarily unavailable/g)?.length, 2, 'one warning each');
  const chunk = Buffer.alloc(65536);
  let text = '';
  await waitFor(() => {
    try {
      const n = readSync(reader, chunk);
      text += chunk.toString('latin1', 0, n);
      return n === 0;
    } catch {
      return text.length > 200_000;
    }
  });
  const read = lines(text);
  t.ok(read.length > 20 && read.every((line, n) => line === `/${long}?n=${n} ${n}`), 'the lines that were held come whole and in order');
  // With room again, lines arrive again.
  await waitFor(async () => {
    await httpGet(server, '/again');
    try {
      text = chunk.toString('latin1', 0, readSync(reader, chunk));
    } catch {
      // Nothing there yet.
    }
    return text.includes('/again -\n');
  });
});

t.test('a full disk', { skip: !existsSync('/dev/full') && 'no /dev/full' }, async (t) => {
  const server = await startServer(t, {
    conf: bare('', 'access_log /dev/full; location / { return 200 OK; }'),
    expectAlerts: /\/dev\/full/,
  });
  for (let i = 0; i < 5; i++) {
    t.equal((await httpGet(server, '/')).status, 200);
  }
  await server.logged(/\[alert\] .*write\(\) to "\/dev\/full" failed \(28: No space left on device\)/);
});

t.test('reopening', async (t) => {
  const server = await startServer(t, {
    conf: `worker_processes 3;\n${bare('log_format n "$arg_n"; access_log %%DIR%%/a.log n; access_log %%DIR%%/b.log n buffer=64k;', 'location / { return 200; }')}`,
    files: { 'old/keep': '' },
  });
  let sent = 0;
  let stop = false;
  const load = (async () => {
    while (!stop) {
      await Promise.all(Array.from({ length: 10 }, () => httpGet(server, `/?n=${sent++}`)));
    }
  })();
  const names = ['a.log', 'b.log'];
  for (let i = 0; i < 5; i++) {
    const before = sent;
    await waitFor(() => sent > before + 20);
    for (const name of ['a.log', 'b.log']) {
      renameSync(`${server.dir}/${name}`, `${server.dir}/old/${name}.${i}`);
      names.push(`old/${name}.${i}`);
    }
    server.signal('USR1');
    await waitFor(() => existsSync(`${server.dir}/a.log`) && existsSync(`${server.dir}/b.log`));
  }
  stop = true;
  await load;
  await server.stop('QUIT');
  for (const log of ['a.log', 'b.log']) {
    const numbers = names.filter((name) => name.includes(log)).flatMap((name) => lines(server.read(name)).map(Number));
    t.same(
      numbers.sort((a, b) => a - b),
      Array.from({ length: sent }, (_, i) => i),
      `${log}: each request exactly once`,
    );
  }
});

t.test('what the configuration test says', async (t) => {
  const check = async (inHttp: string, message: string | undefined, inServer = ''): Promise<void> => {
    const line = inHttp === '' ? 8 : 3;
    const expected = message === undefined ? undefined : `${message} in %%FILE%%:${line}`;
    t.equal(await configMessage(t, bare(inHttp, inServer)), expected, inHttp || inServer);
  };
  await check('log_format a "x";', undefined);
  await check('log_format combined "x";', 'duplicate "log_format" name "combined"');
  await check('log_format a x; log_format a y;', 'duplicate "log_format" name "a"');
  await check('log_format a;', 'invalid number of arguments in "log_format" directive');
  await check('log_format a escape=xml "x";', 'unknown log format escaping "xml"');
  await check('log_format a "x$";', 'invalid parameter "$"');
  await check('log_format a "x$-y";', 'invalid parameter "$-y"');
  await check('log_format a "x${y";', 'the closing bracket in "y" variable is missing');
  await check('log_format a x escape=json;', undefined);
  await check('access_log a.log none;', 'unknown log format "none"');
  await check('access_log a.log none; log_format none x;', 'unknown log format "none"');
  await check('access_log off x;', 'invalid parameter "x"');
  await check('access_log a.log combined x=y;', 'invalid parameter "x=y"');
  await check('access_log a.log combined buffer=0;', 'invalid buffer size "0"');
  await check('access_log a.log combined buffer=x;', 'invalid buffer size "x"');
  await check('access_log a.log combined buffer=1k flush=0;', 'invalid flush time "0"');
  await check('access_log a.log combined flush=1s;', 'no buffer is defined for access_log "a.log"');
  await check('access_log a.log combined gzip=0;', 'invalid compression level "0"');
  await check('access_log a.log combined gzip=10;', 'invalid compression level "10"');
  await check('access_log a.log combined gzipx;', 'invalid parameter "gzipx"');
  await check('access_log a$uri.log combined buffer=1k;', 'buffered logs cannot have variables in name');
  await check('access_log syslog:server=127.0.0.1 combined buffer=1k;', 'logs to syslog cannot be buffered');
  await check('access_log syslog:server=127.0.0.1,x=1;', 'unknown syslog parameter "x=1"');
  await check('access_log syslog:tag=x;', 'no syslog server specified');
  await check(
    '',
    'access_log "a.log" already defined with conflicting parameters',
    'access_log a.log combined buffer=1k; access_log a.log combined buffer=2k;',
  );
  await check('access_log a.log combined buffer=1k; access_log a.log combined buffer=1k if=$arg_x;', undefined);
  await check('access_log a.log combined buffer=1k; access_log a.log combined;', undefined);
  await check('access_log;', 'invalid number of arguments in "access_log" directive');
  await check('open_log_file_cache max=1; open_log_file_cache off;', '"open_log_file_cache" directive is duplicate');
  await check('open_log_file_cache inactive=1;', '"open_log_file_cache" must have "max" parameter');
  await check('open_log_file_cache max=x;', 'invalid "open_log_file_cache" parameter "max=x"');
  await check('open_log_file_cache max=1 valid=1x;', 'invalid "open_log_file_cache" parameter "valid=1x"');
  await check('open_log_file_cache max=1 min_uses=-1;', 'invalid "open_log_file_cache" parameter "min_uses=-1"');
  await check('open_log_file_cache on;', 'invalid "open_log_file_cache" parameter "on"');
  await check('open_log_file_cache off;', undefined);
  t.equal(await configMessage(t, bare('log_format a "$no_such_variable";')), 'unknown "no_such_variable" variable');
  const missing = await testConfig(t, bare('access_log no/such/dir/a.log;'));
  t.match(missing.stderr, `[emerg] open() "${missing.prefix.dir}/no/such/dir/a.log" failed (2: No such file or directory)\n`);
  t.equal(missing.code, 1);
});
