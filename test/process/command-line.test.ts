import { readFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx, product, version } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli, testConfig } from '../support/run-cli.js';

const good = 'events { }\nhttp { server { listen 127.0.0.1:%%PORT_0%%; } }\n';

t.test('-v and -V', async (t) => {
  const short = await runCli(['-v']);
  t.strictSame([short.code, short.stdout], [0, '']);
  t.match(
    short.stderr,
    againstNginx ? /^nginx version: nginx\/[\d.]+\n$/ : new RegExp(`^nginx version: sluice/${version.replaceAll('.', '\\.')}\n$`),
  );
  const long = await runCli(['-V']);
  t.equal(long.code, 0);
  t.ok(long.stderr.startsWith(short.stderr));
  t.match(long.stderr, /^built with OpenSSL \d/m);
  t.match(long.stderr, /^TLS SNI support enabled$/m);
  t.match(long.stderr, /^configure arguments: .*--with-http_ssl_module/m);
});

t.test('-h and -?', async (t) => {
  for (const option of ['-h', '-?']) {
    const { code, stderr } = await runCli([option]);
    t.equal(code, 0);
    for (const each of ['-?,-h', '-v', '-V', '-t', '-T', '-q', '-s signal', '-p prefix', '-e filename', '-c filename', '-g directives']) {
      t.match(stderr, `\n  ${each} `.replace('-?,-h ', '-?,-h'), each);
    }
    t.match(stderr, /^Usage: .*\[-s signal\]/m);
  }
});

t.test('-t', async (t) => {
  const fine = await testConfig(t, good);
  t.strictSame(
    [fine.code, fine.stdout, fine.stderr],
    [
      0,
      '',
      `${product}: the configuration file ${fine.file} syntax is ok\n${product}: configuration file ${fine.file} test is successful\n`,
    ],
  );
  const quiet = await testConfig(t, good, {}, ['-t', '-q']);
  t.strictSame([quiet.code, quiet.stderr], [0, '']);
  const bad = await testConfig(t, `${good}\nnonsense on;\n`);
  t.equal(bad.code, 1);
  t.ok(bad.stderr.startsWith(`${product}: [emerg] unknown directive "nonsense" in ${bad.file}:4\n`), bad.stderr);
  t.ok(bad.stderr.endsWith(`${product}: configuration file ${bad.file} test failed\n`), bad.stderr);
  const quietBad = await testConfig(t, `${good}\nnonsense on;\n`, {}, ['-tq']);
  t.equal(quietBad.code, 1);
  t.match(quietBad.stderr, 'unknown directive "nonsense"');
});

t.test('a configuration that cannot be read', async (t) => {
  const prefix = await makePrefix(t, { 'folder/f': '' });
  const missing = await runCli(['-t', '-p', `${prefix.dir}/`, '-c', 'missing.conf', '-e', 'error.log']);
  t.equal(missing.code, 1);
  t.ok(
    missing.stderr.startsWith(`${product}: [emerg] open() "${prefix.dir}/missing.conf" failed (2: No such file or directory)\n`),
    missing.stderr,
  );
  t.ok(missing.stderr.endsWith(`${product}: configuration file ${prefix.dir}/missing.conf test failed\n`), missing.stderr);
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

t.test('-T', async (t) => {
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

t.test('options that are wrong', async (t) => {
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
    t.strictSame([code, stderr], [1, `${product}: ${message}\n`], args.join(' '));
  }
});

t.test('-s without a server', async (t) => {
  const prefix = await makePrefix(t, { 'sluice.conf': `pid %%DIR%%/server.pid;\n${good}` });
  const signal = async () => runCli(['-p', `${prefix.dir}/`, '-c', 'sluice.conf', '-e', 'error.log', '-s', 'reload']);
  const missing = await signal();
  t.equal(missing.code, 1);
  t.match(missing.stderr, `${product}: [error] open() "${prefix.dir}/server.pid" failed (2: No such file or directory)\n`);
  await prefix.write('server.pid', '');
  t.match((await signal()).stderr, `${product}: [error] invalid PID number "" in "${prefix.dir}/server.pid"\n`);
  await prefix.write('server.pid', '4194305\n');
  const gone = await signal();
  t.equal(gone.code, 1);
  t.match(gone.stderr, /\[alert\] kill\(4194305, 1\) failed \(3: No such process\)/);
});

t.test('-t looks at what a start would need', async (t) => {
  for (const [conf, message] of [
    [
      'events { } http { access_log %%DIR%%/no/folder/access.log; }',
      /\[emerg\] open\(\) "\S+\/no\/folder\/access\.log" failed \(2: No such file or directory\)/,
    ],
    [
      'error_log %%DIR%%/no/folder/error.log; events { }',
      /\[emerg\] open\(\) "\S+\/no\/folder\/error\.log" failed \(2: No such file or directory\)/,
    ],
    ['http { }', /\[emerg\] no "events" section in configuration/],
    ['user no-such-user-here; events { }', /\[(emerg|warn)\] .*user/],
    ['pid %%DIR%%/no/folder/pid; events { }', /\[emerg\] open\(\) "\S+\/no\/folder\/pid" failed/],
    [
      'events { } http { server { listen 192.0.2.1:%%PORT_0%%; } }',
      /\[emerg\] bind\(\) to 192\.0\.2\.1:\d+ failed \(99: (Cannot assign requested address|Address not available)\)/,
    ],
  ] as const) {
    const { code, stderr } = await testConfig(t, conf);
    t.match(stderr, message, conf);
    t.equal(code, 1, conf);
  }
});
