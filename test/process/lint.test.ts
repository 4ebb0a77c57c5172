import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

t.test('what is found, and what to write', async (t) => {
  const { dir } = await makePrefix(t, { 'nginx.conf': 'events {}\nhttp { include a.conf; }\n', 'a.conf': 'server { error_log off; }\n' });
  const { code, stdout, stderr } = await runCli(['lint', 'nginx.conf'], { cwd: dir });
  t.same([code, stderr], [1, '']);
  t.equal(
    stdout,
    `${dir}/a.conf:1: error-log-off: \`off\` is a file name here: errors are written to a file that is called so
    1 | server { error_log off; }
      |                    ^^^
    write: \`error_log /dev/null crit;\`, or leave the line out

1 finding in 2 files
`,
  );
  const json = JSON.parse((await runCli(['lint', '--json', '-p', dir, '-c', 'nginx.conf'])).stdout);
  t.match(json, { file: `${dir}/nginx.conf`, findings: [{ rule: 'error-log-off', file: `${dir}/a.conf`, line: 1, column: 20 }] });
});

t.test('nothing found', async (t) => {
  const { dir } = await makePrefix(t, { 'nginx.conf': 'events {}\n' });
  t.match(await runCli(['lint', 'nginx.conf'], { cwd: dir }), { code: 0, stdout: '0 findings in 1 file\n', stderr: '' });
});

t.test('the shipped configurations', async (t) => {
  for (const file of ['conf/sluice.conf', 'conf/system/sluice.conf', 'conf/examples/wordpress.conf', 'conf/snippets/tls.conf']) {
    t.match(await runCli(['lint', file]), { code: 0 }, file);
  }
});

t.test('a file that is not there', async (t) => {
  const { code, stderr } = await runCli(['lint', 'missing.conf']);
  t.equal(code, 78);
  t.match(stderr, /^sluice: lint: cannot read ".*missing.conf"\n$/);
});

t.test('--rules lists them', async (t) => {
  const { code, stdout } = await runCli(['lint', '--rules']);
  t.equal(code, 0);
  t.match(stdout, /^alias-slash +an alias and its location/m);
});
