import { lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { makePrefix } from '../support/prefix.js';
import { runCli } from '../support/run-cli.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

t.test('files are rewritten, and named', async (t) => {
  const { dir } = await makePrefix(t, { 'a.conf': 'a  b;\n', 'b.conf': 'a b;\n', 'c.conf': 'c{d e;}' });
  symlinkSync('c.conf', `${dir}/link.conf`);
  const mode = statSync(`${dir}/c.conf`).mode;
  const { code, stdout, stderr } = await runCli(['format', 'a.conf', 'b.conf', 'link.conf'], { cwd: dir });
  t.same([code, stdout, stderr], [0, `${dir}/a.conf\n${dir}/link.conf\n`, '']);
  t.equal(readFileSync(`${dir}/a.conf`, 'utf8'), 'a b;\n');
  t.equal(readFileSync(`${dir}/c.conf`, 'utf8'), 'c { d e; }\n');
  t.ok(lstatSync(`${dir}/link.conf`).isSymbolicLink(), 'a link stays a link');
  t.equal(statSync(`${dir}/c.conf`).mode, mode, 'the mode stays');
});

t.test('--check changes nothing', async (t) => {
  const { dir } = await makePrefix(t, { 'a.conf': 'a  b;\n', 'b.conf': 'a b;\n' });
  const { code, stdout } = await runCli(['format', '--check', 'a.conf', 'b.conf'], { cwd: dir });
  t.same([code, stdout], [1, `${dir}/a.conf\n`]);
  t.equal(readFileSync(`${dir}/a.conf`, 'utf8'), 'a  b;\n');
  t.same(await runCli(['format', '--check', 'b.conf'], { cwd: dir }), { code: 0, signal: null, stdout: '', stderr: '' });
});

t.test('--includes follows includes, once each', async (t) => {
  const { dir } = await makePrefix(t, {
    'nginx.conf': 'include sub/*.conf; http { include sub/*.conf; include missing; }',
    'sub/1.conf': 'a  b;\n',
    'sub/2.conf': 'include  sub/1.conf;\n',
  });
  const { code, stdout } = await runCli(['format', '--includes', '-p', dir, '-c', 'nginx.conf']);
  t.same([code, stdout], [0, ['nginx.conf', 'sub/1.conf', 'sub/2.conf'].map((file) => `${dir}/${file}\n`).join('')]);
  t.equal(readFileSync(`${dir}/sub/2.conf`, 'utf8'), 'include sub/1.conf;\n');
});

t.test('a file with an error stays as it is; the others are formatted', async (t) => {
  const { dir } = await makePrefix(t, { 'a.conf': 'a { b  c;\n', 'b.conf': 'a  b;' });
  const { code, stdout, stderr } = await runCli(['format', 'a.conf', 'missing.conf', 'b.conf'], { cwd: dir });
  t.same([code, stdout], [1, `${dir}/b.conf\n`]);
  t.match(stderr, `sluice: format: unexpected end of file, expecting "}" in ${dir}/a.conf:2\n`);
  t.match(stderr, `sluice: format: open() "${dir}/missing.conf" failed (2: No such file or directory)\n`);
  t.equal(readFileSync(`${dir}/a.conf`, 'utf8'), 'a { b  c;\n');
});

t.test('without a file', async (t) => {
  const { code, stderr } = await runCli(['format']);
  t.equal(code, 2);
  t.match(stderr, /name the files/);
});
