import { spawn } from 'node:child_process';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'ours';

const combined = (address: string, request: string, status: number, bytes = 100): string =>
  `${address} - - [23/Nov/2026:01:00:00 +0000] "${request}" ${status} ${bytes} "-" "agent \\x22x\\x22"\n`;

const CONF = `events {} http { log_format timed escape=json '{"host":"$host","request":"$request","status":$status,"time":$request_time,'
  '"client":"$remote_addr","bytes":$body_bytes_sent,"reason":"$error_reason"}';
  server { access_log %%DIR%%/a.log; } server { access_log %%DIR%%/b.log timed; } }`;

const timed = (path: string, status: number, seconds: string, reason = ''): string =>
  `{"host":"shop","request":"GET ${path} HTTP/1.1","status":${status},"time":${seconds},"client":"10.0.0.2","bytes":50,"reason":"${reason}"}\n`;

t.test('sluice logs', { skip }, async (t) => {
  const { dir } = await makePrefix(t, {
    'sluice.conf': CONF,
    'a.log': combined('10.0.0.1', 'GET /a?x=1 HTTP/1.1', 200) + combined('10.0.0.1', 'POST /b HTTP/1.1', 502) + 'no line of a log\n',
    'b.log': timed('/slow', 200, '2.500') + timed('/a', 404, '0.001', 'open() \\"/a\\" failed') + timed('/a', 200, '0.003'),
    'other.log': '{"status":500,"method":"GET","path":"/j","ip":"::1"}\n{"status":200,"method":"GET","path":"/k","ip":"::1"}\n',
  });
  const logs = (...words: string[]) => runCli(['logs', '-p', `${dir}/`, '-c', 'sluice.conf', ...words]);
  const all = await logs('status>=400');
  t.strictSame([all.code, all.stderr], [0, '']);
  t.equal(all.stdout, combined('10.0.0.1', 'POST /b HTTP/1.1', 502) + timed('/a', 404, '0.001', 'open() \\"/a\\" failed'));
  t.equal(
    (await logs('path=/a', 'method=GET', 'status!=404')).stdout,
    combined('10.0.0.1', 'GET /a?x=1 HTTP/1.1', 200) + timed('/a', 200, '0.003'),
  );
  t.equal((await logs('host=shop', 'path~^/s')).stdout, timed('/slow', 200, '2.500'));
  t.equal((await logs(`${dir}/other.log`, 'status>=500')).stdout, '{"status":500,"method":"GET","path":"/j","ip":"::1"}\n');
  const { stdout } = await logs('--summary');
  t.match(stdout, /^5 requests, 350 bytes, from 23\/Nov\/2026:01:00:00 \+0000 to /);
  t.match(stdout, '1 lines have another form');
  t.match(stdout, /statuses\n +3 +60\.0 % {2}200\n +1 +20\.0 % {2}404\n +1 +20\.0 % {2}502\n/);
  t.match(stdout, /paths\n +3 +60\.0 % {2}\/a\n/);
  t.match(stdout, /slowest paths: mean, longest, requests\n +2\.500 s +2\.500 s +1 {2}\/slow\n/);
  t.match(stdout, /addresses\n +3 +60\.0 % {2}10\.0\.0\.2\n/);
  t.match(stdout, /reasons of errors\n +1 +20\.0 % {2}open\(\)/);
  t.match(await logs('--format', 'none', `${dir}/a.log`), { code: 2, stderr: /unknown log format "none"/ });
  t.match(await logs(`${dir}/missing.log`), { code: 2, stderr: /ENOENT/ });
  t.match(await logs('path~('), { code: 2, stderr: /^sluice: logs: Invalid regular expression/ });
});

t.test('what clients choose commands no terminal', { skip }, async (t) => {
  const { dir } = await makePrefix(t, {
    'raw.log': Buffer.from(
      '10.0.0.1 - - [23/Nov/2026:01:00:00 +0000] "GET /a\x1b]0;x\x07\t\xc2\x9b31m HTTP/1.1" 200 1 "-" "\xc3\xbc\r\x00"\n',
      'latin1',
    ),
    // Decoded, the first is ESC, and the second would lose the byte that keeps it from being one.
    'json.log': '{"status":200,"path":"/b\\u001b[2J\\u011b[2J\\nlines","client":"::1"}\n',
  });
  const logs = (...words: string[]) => runCli(['logs', ...words]);
  t.equal(
    (await logs(`${dir}/raw.log`)).stdout,
    '10.0.0.1 - - [23/Nov/2026:01:00:00 +0000] "GET /a\\x1B]0;x\\x07\t\\xC2\\x9B31m HTTP/1.1" 200 1 "-" "\xc3\xbc\\x0D\\x00"\n',
  );
  const { stdout } = await logs('--summary', `${dir}/json.log`);
  t.match(stdout, `/b\\x1B[2J${Buffer.from('\u011b').toString('latin1')}[2J\\x0Alines\n`);
  t.notMatch(stdout, /[\0-\x08\x0b-\x1f\x7f]/);
});

t.test('the logs of a configuration that cannot be loaded', { skip }, async (t) => {
  const { dir } = await makePrefix(t, {
    'sluice.conf': `${CONF}\nbogus on;`,
    'a.log': combined('10.0.0.1', 'GET /a HTTP/1.1', 200),
    'b.log': timed('/b', 404, '1'),
  });
  const { code, stdout, stderr } = await runCli(['logs', '-p', `${dir}/`, '-c', 'sluice.conf', 'status=404']);
  t.strictSame([code, stdout, stderr], [0, timed('/b', 404, '1'), '']);
});

t.test('following a log over its rotation', { skip }, async (t) => {
  const { dir } = await makePrefix(t, { 'sluice.conf': CONF, 'a.log': combined('10.0.0.1', 'GET /old HTTP/1.1', 500) });
  const [command, ...first] = serverCommand() as [string, ...string[]];
  const child = spawn(command, [...first, 'logs', '-p', `${dir}/`, '-c', 'sluice.conf', '--follow', `${dir}/a.log`, 'status=500']);
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    output += text;
  });
  const file = `${dir}/a.log`;
  // Until it follows, lines that are added count as old ones.
  await waitFor(() => {
    appendFileSync(file, combined('10.0.0.1', 'GET /new HTTP/1.1', 500));
    return output.includes('/new');
  });
  t.notMatch(output, '/old');
  const line = combined('10.0.0.1', 'GET /split HTTP/1.1', 500);
  for (const byte of line) {
    appendFileSync(file, byte);
  }
  await waitFor(() => output.includes('/split') && output.endsWith('\n'));
  t.match(output, line, 'a line that comes byte by byte is shown once it is whole');
  renameSync(file, `${file}.1`);
  writeFileSync(file, combined('10.0.0.1', 'GET /no HTTP/1.1', 200) + combined('10.0.0.1', 'GET /rotated HTTP/1.1', 500));
  await waitFor(() => output.includes('/rotated'));
  t.notMatch(output, '/no ');
});
