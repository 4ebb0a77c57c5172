import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import t from 'tap';
import { againstNginx, product, serverCommand, version } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli, testConfig } from '../support/run-cli.js';
import { httpConf, startServer } from '../support/server.js';

/** nginx's modules that `configure` leaves out unless asked, and those that it builds in unless asked not to. */
const OPTIONAL =
  'ssl v2 v3 realip addition xslt image_filter geoip sub dav flv mp4 gunzip gzip_static auth_request random_index secure_link degradation slice stub_status perl';
const OPTIONAL_STREAM = 'ssl realip geoip ssl_preread';
const USUAL =
  'charset gzip ssi userid access auth_basic mirror autoindex geo map split_clients referer rewrite proxy fastcgi uwsgi scgi grpc tunnel memcached limit_conn limit_req empty_gif browser';

t.test('-V names the modules that are there', { skip: againstNginx }, async (t) => {
  const there = new Set(readdirSync(new URL('../../src/worker/modules', import.meta.url)).map((name) => name.replaceAll('-', '_')));
  const expected = [
    ...OPTIONAL.split(' ').flatMap((name) => (there.has(name === 'v2' ? 'http2' : name) ? [`--with-http_${name}_module`] : [])),
    '--with-stream',
    ...OPTIONAL_STREAM.split(' ').flatMap((name) =>
      there.has(name) || there.has(`stream_${name}`) ? [`--with-stream_${name}_module`] : [],
    ),
    ...USUAL.split(' ').flatMap((name) => (there.has(name) ? [] : [`--without-http_${name}_module`])),
  ];
  const { stderr } = await runCli(['-V']);
  t.strictSame(stderr.match(/--with\S+/g), expected);
});

t.test('-v, -V and -h speak on standard error', async (t) => {
  const token = againstNginx ? 'nginx/\\S+' : `sluice/${version.replaceAll('.', '\\.')}`;
  const short = await runCli(['-v']);
  t.match(short, { code: 0, stdout: '', stderr: new RegExp(`^nginx version: ${token}\n$`) });
  const long = await runCli(['-V']);
  t.equal(long.code, 0);
  t.match(long.stderr, /^nginx version: [^/]+\/[0-9.]+\n/);
  t.match(long.stderr, /^TLS SNI support enabled$/m);
  t.match(long.stderr, /built with OpenSSL \d[^ ]+ /);
  t.match(long.stderr, /^configure arguments: .* --with-http_ssl_module/m);
  for (const option of ['-h', '-?']) {
    const help = await runCli([option]);
    t.equal(help.code, 0);
    t.match(help.stderr, new RegExp(`^${short.stderr}Usage: ${product} \\[-\\?hvVtTq\\] \\[-s signal\\] \\[-p prefix\\]\n`));
    t.match(help.stderr, '  -q            : suppress non-error messages during configuration testing\n');
    t.match(help.stderr, '  -g directives : set global directives out of configuration file\n\n');
  }
});

t.test('a wrong option is named', async (t) => {
  for (const [args, message] of [
    [['-z'], 'invalid option: "z"'],
    [['foo'], 'invalid option: "foo"'],
    [['-tz'], 'invalid option: "z"'],
    [['-c'], 'option "-c" requires file name'],
    [['-p'], 'option "-p" requires directory name'],
    [['-e'], 'option "-e" requires file name'],
    [['-g'], 'option "-g" requires parameter'],
    [['-s'], 'option "-s" requires parameter'],
    [['-s', 'foo'], 'invalid option: "-s foo"'],
  ] as const) {
    const { code, stderr } = await runCli(args);
    // What follows nginx's line is ours.
    t.strictSame([code, stderr.replace(/\n {4}hint: .*/, '')], [1, `${product}: ${message}\n`], args.join(' '));
  }
});

t.test('-t says whether a configuration is good', async (t) => {
  const good = await testConfig(t, httpConf('server { listen 127.0.0.1:%%PORT_0%%; }', 'pid %%DIR%%/x.pid;'));
  t.match(good, {
    code: 0,
    stdout: '',
    stderr: `${product}: the configuration file ${good.file} syntax is ok\n${product}: configuration file ${good.file} test is successful\n`,
  });
  t.equal(readFileSync(`${good.prefix.dir}/x.pid`, 'latin1'), '', 'it makes the pid file, empty');
  const bad = await testConfig(t, 'no_such_directive 1;\nevents {}\n');
  t.equal(bad.code, 1);
  const [first, ...rest] = bad.stderr.split('\n');
  t.equal(first, `${product}: [emerg] unknown directive "no_such_directive" in ${bad.file}:1`);
  t.equal(rest.at(-2), `${product}: configuration file ${bad.file} test failed`);
  if (!againstNginx) {
    t.match(
      (await testConfig(t, 'perl_require x;\nevents {}\n')).stderr,
      '    hint: `perl_require` is of ngx_http_perl_module, which sluice does not have\n',
    );
    t.match((await testConfig(t, 'events {}\nhtp {}\n')).stderr, '    hint: did you mean `http`?\n');
    t.match((await testConfig(t, 'events {}\n\u00a0\u00a0http {}\n')).stderr, '    hint: write `http`: there are characters beside it');
  }
  t.match(readFileSync(`${bad.prefix.dir}/error.log`, 'latin1'), /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d \[emerg\] \d+#\d+: unknown directive/);
});

t.test('-q leaves out what is no error', async (t) => {
  const conf = httpConf('', 'pid %%DIR%%/x.pid;');
  t.match(await testConfig(t, conf, {}, ['-tq']), { code: 0, stderr: '', stdout: '' });
  const bad = await testConfig(t, 'x;', {}, ['-t', '-q']);
  t.match(bad, { code: 1, stderr: new RegExp(`^${product}: \\[emerg\\] [^]*\n${product}: configuration file ${bad.file} test failed\n$`) });
});

t.test('-T shows every file once', async (t) => {
  const conf = httpConf('include inner.conf;\ninclude inner.conf;', 'pid %%DIR%%/x.pid;');
  const dump = await testConfig(t, conf, { 'inner.conf': '# inner\n' }, ['-T']);
  const { dir } = dump.prefix;
  const main = readFileSync(`${dir}/sluice.conf`, 'latin1');
  t.equal(dump.stdout, `# configuration file ${dir}/sluice.conf:\n${main}\n# configuration file ${dir}/inner.conf:\n# inner\n\n`);
  t.match(dump.stderr, /test is successful\n$/);
});

t.test('-t opens what a start opens', async (t) => {
  const log = await testConfig(t, httpConf('access_log %%DIR%%/none/a.log;', 'pid %%DIR%%/x.pid;'));
  t.equal(log.code, 1);
  t.match(
    log.stderr,
    `syntax is ok\n${product}: [emerg] open() "${log.prefix.dir}/none/a.log" failed (2: No such file or directory)\n${product}: configuration file ${log.file} test failed\n`,
  );
  const pid = await testConfig(t, httpConf('', 'pid %%DIR%%/none/x.pid;'));
  t.match(pid.stderr, `${product}: [emerg] open() "${pid.prefix.dir}/none/x.pid" failed (2: No such file or directory)\n`);
  const address = await testConfig(t, httpConf('server { listen 192.0.2.1:80; }', 'pid %%DIR%%/x.pid;'));
  t.match(address.stderr, `${product}: [emerg] bind() to 192.0.2.1:80 failed (99: Cannot assign requested address)\n`);
  const folder = await testConfig(t, httpConf('server { listen unix:%%DIR%%/none/s; }', 'pid %%DIR%%/x.pid;'));
  t.match(folder.stderr, `${product}: [emerg] bind() to unix:${folder.prefix.dir}/none/s failed (2: No such file or directory)\n`);
  const socket = await testConfig(t, httpConf('server { listen unix:%%DIR%%/s; }', 'pid %%DIR%%/x.pid;'));
  t.equal(socket.code, 0);
  t.notOk(existsSync(`${socket.prefix.dir}/s`), 'no socket is left behind');
});

t.test('-t does not mind a running server', async (t) => {
  const server = await startServer(t, { conf: httpConf('server { listen 127.0.0.1:%%PORT_0%%; }', 'pid %%DIR%%/server.pid;') });
  const result = await runCli(['-t', '-p', `${server.dir}/`, '-c', 'sluice.conf', '-e', 'error.log']);
  t.match(result, { code: 0, stderr: /test is successful\n$/ });
  t.ok(server.pid);
});

t.test('a file that is missing', async (t) => {
  const { dir } = await makePrefix(t);
  const result = await runCli(['-t', '-p', dir, '-c', 'none.conf', '-e', 'error.log']);
  t.match(result, {
    code: 1,
    stderr: `${product}: [emerg] open() "${dir}/none.conf" failed (2: No such file or directory)\n${product}: configuration file ${dir}/none.conf test failed\n`,
  });
});

t.test('without -p, -c finds a file of the current directory', { skip: againstNginx }, async (t) => {
  const { dir } = await makePrefix(t, { 'here.conf': httpConf('', 'pid %%DIR%%/x.pid;'), 'p/logs/README': '' });
  const found = await runCli(['-t', '-c', 'here.conf'], { cwd: dir });
  t.equal(found.code, 0, found.stderr);
  t.match(found.stderr, `the configuration file ${dir}/here.conf syntax is ok`);
  const elsewhere = await runCli(['-t', '-p', `${dir}/p/`, '-c', 'here.conf'], { cwd: dir });
  t.equal(elsewhere.code, 1);
  t.match(elsewhere.stderr, `open() "${dir}/p/here.conf" failed`);
});

t.test('an error log that cannot be opened is told', async (t) => {
  const { dir } = await makePrefix(t, { 'sluice.conf': `error_log ${'%%DIR%%'}/e.log; pid ${'%%DIR%%'}/x.pid; events {}` });
  const result = await runCli(['-t', '-p', dir, '-c', 'sluice.conf', '-e', 'none/error.log']);
  t.equal(result.code, 0);
  t.match(
    result.stderr,
    `${product}: [alert] could not open error log file: open() "${dir}/none/error.log" failed (2: No such file or directory)\n`,
  );
});

t.test('-s needs a pid file', async (t) => {
  const { dir } = await makePrefix(t, { 'sluice.conf': 'pid server.pid; events {}' });
  const signal = (name: string) => runCli(['-p', dir, '-c', 'sluice.conf', '-e', 'error.log', `-s${name}`]);
  t.match(await signal('reload'), {
    code: 1,
    stderr: `${product}: [error] open() "${dir}/server.pid" failed (2: No such file or directory)\n`,
  });
  t.match(readFileSync(`${dir}/error.log`, 'latin1'), /\[notice\] \d+#\d+: signal process started\n/);
  writeFileSync(`${dir}/server.pid`, '');
  t.match(await signal('quit'), { code: 1, stderr: `${product}: [error] invalid PID number "" in "${dir}/server.pid"\n` });
  writeFileSync(`${dir}/server.pid`, '12x\n');
  t.match(await signal('stop'), { code: 1, stderr: `${product}: [error] invalid PID number "12x" in "${dir}/server.pid"\n` });
  const gone = spawnSync('true').pid;
  writeFileSync(`${dir}/server.pid`, `${gone}\n`);
  t.match(await signal('reopen'), { code: 1, stderr: `${product}: [alert] kill(${gone}, 10) failed (3: No such process)\n` });
});

t.test('-s reaches the server', async (t) => {
  const server = await startServer(t, { conf: httpConf('server { listen 127.0.0.1:%%PORT_0%%; }', 'pid %%DIR%%/server.pid;') });
  const signal = (name: string) => runCli(['-p', server.dir, '-c', 'sluice.conf', '-e', 'error.log', '-s', name]);
  t.match(await signal('reopen'), { code: 0, stdout: '', stderr: '' });
  await server.logged('signal 10 (SIGUSR1) received');
  t.match(await signal('reload'), { code: 0 });
  await server.logged('signal 1 (SIGHUP) received');
  const { pid } = server;
  t.match(await signal('quit'), { code: 0 });
  await server.logged(new RegExp(`\\[notice\\] ${pid}#\\d+: exit$`));
  await new Promise<void>((done) => connect(server.port(0), '127.0.0.1').once('error', () => done()));
});

t.test('called nginx, it calls itself so', { skip: againstNginx }, async (t) => {
  const { dir } = await makePrefix(t, { 'sluice.conf': 'x;' });
  const [command, ...first] = serverCommand();
  symlinkSync(first.pop() as string, `${dir}/nginx`);
  const run = (...args: string[]) => spawnSync(command, [...first, `${dir}/nginx`, ...args], { encoding: 'latin1' }).stderr;
  t.equal(run('-z'), 'nginx: invalid option: "z"\n');
  t.match(run('-h'), '\nUsage: nginx [-?hvVtTq] [-s signal] [-p prefix]\n             [-e filename]');
  t.match(run('-t', '-p', dir, '-c', 'sluice.conf', '-e', 'error.log'), /^nginx: \[emerg\] unknown directive "x" in /);
});

const good = 'events { }\nhttp { server { listen 127.0.0.1:%%PORT_0%%; } }\n';

t.test('-g, and attached values', async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': `daemon off;\n${good}` });
  const where = ['-p', `${prefix.dir}/`, '-e', 'error.log'];
  const file = `${prefix.dir}/sluice.conf`;
  const run = async (...args: string[]) => {
    const { code, stderr } = await runCli([...where, ...args]);
    return [code, stderr.replaceAll(`${product}: `, '').split('\n')[0]];
  };
  t.strictSame(await run('-tc', 'sluice.conf'), [0, `the configuration file ${file} syntax is ok`]);
  t.strictSame(await run('-tqc', 'sluice.conf'), [0, '']);
  t.strictSame(await run('-tcsluice.conf'), [0, `the configuration file ${file} syntax is ok`]);
  t.strictSame(await run('-t', '-csluice.conf', '-gworker_processes 2;'), [0, `the configuration file ${file} syntax is ok`]);
  t.strictSame(await run('-tcsluice.conf', '-g', 'nonsense;'), [1, '[emerg] unknown directive "nonsense" in command line']);
  t.strictSame(await run('-tcsluice.conf', '-g', 'worker_processes 2'), [
    1,
    '[emerg] unexpected end of parameter, expecting ";" in command line',
  ]);
  t.strictSame(await run('-tcsluice.conf', '-g', 'daemon on;'), [1, `[emerg] "daemon" directive is duplicate in ${file}:1`]);
});

t.test('a configuration that cannot be read', async (t) => {
  const prefix = await makePrefix(t, { 'folder/f': '' });
  const folder = await runCli(['-t', '-p', `${prefix.dir}/`, '-c', 'folder', '-e', 'error.log']);
  t.equal(folder.code, 1);
  t.match(folder.stderr, /\[(emerg|crit)\] .*\(21: Is a directory\)/);
  t.notMatch(folder.stderr, /^ +at /m, 'no stack trace');
  const included = await testConfig(t, `${good}include missing.conf;\n`);
  t.equal(included.code, 1);
  t.match(
    included.stderr,
    `[emerg] open() "${included.prefix.dir}/missing.conf" failed (2: No such file or directory) in ${included.file}:3\n`,
  );
});

t.test('-T shows included files in the order of their names', async (t) => {
  const files = {
    'a.conf': '# a\nevents { }\n',
    'sites/2.conf': 'server { listen 127.0.0.1:%%PORT_0%%; } # two',
    'sites/1.conf': '# one\n',
  };
  const conf = 'include a.conf;\nhttp { include sites/*.conf; include sites/1.conf; }\n';
  const { code, stdout, stderr, prefix, file } = await testConfig(t, conf, files, ['-T']);
  t.equal(code, 0);
  t.equal(stderr, `${product}: the configuration file ${file} syntax is ok\n${product}: configuration file ${file} test is successful\n`);
  const part = (name: string) => `# configuration file ${prefix.dir}/${name}:\n${readFileSync(`${prefix.dir}/${name}`, 'latin1')}\n`;
  t.equal(stdout, ['sluice.conf', 'a.conf', 'sites/1.conf', 'sites/2.conf'].map(part).join(''));
});

t.test('-t refuses what a start would refuse', async (t) => {
  for (const [conf, message] of [
    [
      'error_log %%DIR%%/no/folder/error.log; events { }',
      /\[emerg\] open\(\) "\S+\/no\/folder\/error\.log" failed \(2: No such file or directory\)/,
    ],
    ['http { }', /\[emerg\] no "events" section in configuration/],
  ] as const) {
    const { code, stderr } = await testConfig(t, conf);
    t.match(stderr, message, conf);
    t.equal(code, 1, conf);
  }
});

t.test('the user and the group exist', { skip: process.getuid?.() !== 0 && 'needs root' }, async (t) => {
  const user = await testConfig(t, 'user no-such-user-here;\nevents { }\n');
  t.match(user, { code: 1, stderr: `${product}: [emerg] getpwnam("no-such-user-here") failed in ${user.file}:1\n` });
  const group = await testConfig(t, 'user root no-such-group-here;\nevents { }\n');
  t.match(group, { code: 1, stderr: `${product}: [emerg] getgrnam("no-such-group-here") failed in ${group.file}:1\n` });
});

t.test('the long help and the completion of the shell know the options', { skip: againstNginx }, async (t) => {
  const help = await runCli(['--help']);
  t.equal(help.code, 0);
  t.match(help.stdout, /^ {2}-t +test configuration and exit/m);
  t.match(await runCli(['--version']), { code: 0, stdout: `sluice/${version}\n` });
  const script = await runCli(['completion'], { env: { SHELL: '/bin/bash' } });
  t.match(script, { code: 0, stdout: /complete .*sluice/, stderr: '' });
});
