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

t.test('variables of a module that requests share', async (t) => {
  const { dir } = await makePrefix(t, {
    'nginx.conf': 'events {}\nhttp { js_path js;\njs_import main.js;\njs_import quiet from quiet.js;\njs_import gone.js; }\n',
    'js/main.js': "import './part.js';\nlet hits = 0;\nexport default { f(r) { hits++; } };\n",
    'js/part.js': 'export let last;\nexport const keep = (r) => { last = r.uri; };\n',
    'js/quiet.js': 'let a = 1; export default { f: (r) => r.return(200, String(a)) };\n',
  });
  const { code, stdout } = await runCli(['lint', 'nginx.conf'], { cwd: dir });
  t.equal(code, 1);
  t.match(stdout, `${dir}/nginx.conf:3: shared-state: a module runs once in each worker`);
  t.match(
    stdout,
    `\`hits\` (${dir}/js/main.js:2, assigned in line 3), \`last\` (${dir}/js/part.js:1, assigned in line 2)\n    3 | js_import main.js;`,
  );
  t.match(stdout, /^1 finding in 1 file$/m);
  const migrated = await runCli(['migrate', `${dir}/nginx.conf`]);
  t.match(migrated.stdout, /\[warn\] js_import: a module runs once in each worker, .* requests share `hits` .* in .*nginx\.conf:3$/m);
  t.notMatch(migrated.stdout, 'quiet.js');
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
