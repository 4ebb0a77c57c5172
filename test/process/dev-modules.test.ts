import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { againstNginx, serverCommand } from '../support/binary.js';
import { startForeground } from '../support/foreground.js';
import { makePrefix } from '../support/prefix.js';
import { httpGet } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx has no such command');
}

const [command, ...first] = serverCommand();

t.test('sluice dev notices whatever a module is made of', async (t) => {
  const library = await makePrefix(t, {
    'package.json': '{ "name": "linked", "main": "main.js" }',
    'main.js': "module.exports = require('./part.js');",
    'part.js': "module.exports = 'p1';",
  });
  const prefix = await makePrefix(t, {
    'app.js': `import word from './word.cjs'; import data from './data.json'; import linked from 'linked';
      export default { hello(r) { r.return(200, [word, data.text, linked].join()); } };`,
    'word.cjs': "module.exports = require('./other.cjs');",
    'other.cjs': "module.exports = 'c1';",
    'data.json': '{ "text": "j1" }',
    'sluice.conf': `user root; pid %%DIR%%/pid; events {} http { access_log off; js_import app from app.js;
      server { listen 127.0.0.1:%%PORT_0%%; location / { js_content app.hello; } } }`,
  });
  mkdirSync(`${prefix.dir}/node_modules`);
  symlinkSync(library.dir, `${prefix.dir}/node_modules/linked`);
  const server = startForeground(t, command, [...first, 'dev', '-c', 'sluice.conf'], { cwd: prefix.dir });
  await server.until(/serving on http:/);
  t.equal((await httpGet(prefix.port(0), '/')).text, 'c1,j1,p1');
  for (const [folder, name, text, answer] of [
    [prefix.dir, 'other.cjs', "module.exports = 'c2';", 'c2,j1,p1'],
    [prefix.dir, 'data.json', '{ "text": "j2" }', 'c2,j2,p1'],
    [library.dir, 'part.js', "module.exports = 'p2';", 'c2,j2,p2'],
  ] as const) {
    writeFileSync(`${folder}/${name}.new`, text);
    renameSync(`${folder}/${name}.new`, `${folder}/${name}`);
    await server.until(new RegExp(`${name.replace('.', '\\.')} has changed, reloading`));
    await waitFor(async () => (await httpGet(prefix.port(0), '/')).text === answer, { what: answer });
  }
});

t.test('a module that cannot be read is shown with its line', async (t) => {
  const conf = 'events {} http { js_import app from app.js; server { listen 127.0.0.1:1; location / { js_content app.f; } } }';
  const shown = async (files: Readonly<Record<string, string>>): Promise<string> => {
    const { code, stderr, prefix } = await testConfig(t, conf, files);
    t.equal(code, 1);
    return stderr.replaceAll(prefix.dir, '');
  };
  t.match(
    await shown({ 'app.js': 'const x = 1;\n\nfunction f() {\n  return (1;\n}\nexport default { f };\n' }),
    /\[emerg\] js_import: Unexpected token ';' in \/app\.js:4: return \(1; in \/sluice\.conf:1\n[\s\S]*note: .*, in \/app\.js:4\n {4}4 \| {3}return \(1;\n {6}\| {12}\^\n/,
  );
  t.match(
    await shown({ 'app.js': "import './c.cjs';\nexport default {};", 'c.cjs': '\nmodule.exports = { é: 1, ;' }),
    /in \/c\.cjs:2: module\.exports = .*[\s\S]*note: .*, in \/c\.cjs:2\n {4}2 \| module\.exports = [^\n]*;\n {6}\| {26}\^\n/,
  );
  t.match(
    await shown({ 'app.js': "import './d.json';\nexport default {};", 'd.json': '{\n "a": }' }),
    /js_import: .* is not valid JSON in \/d\.json/,
  );
});

t.test('what is built tells nothing of where that was', async (t) => {
  const dist = dirname(serverCommand().find((word) => word.endsWith('/sluice.js'))!);
  const telling = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && readFileSync(`${entry.parentPath}/${entry.name}`).includes(dirname(dist)))
    .map(({ name }) => name);
  t.strictSame(telling, []);
});
