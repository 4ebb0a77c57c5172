import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import t from 'tap';
import { httpGet } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

t.test('random_index', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location /many/ { random_index on; index .hidden; }
      location /one/ { random_index on; }
      location /none/ { random_index on; index index.x; }
      location /off/ { random_index off; index b; }
      location /alias/ { random_index on; alias %%DIR%%/html/one/; }`),
    files: {
      'html/many/a': 'a',
      'html/many/b': 'b',
      'html/many/.hidden': 'hidden',
      'html/many/folder/f': 'no',
      'html/one/f': 'the only one',
      'html/none/folder/f': 'no',
      'html/off/b': 'b',
      'html/off/c': 'c',
    },
  });
  symlinkSync('a', `${s.dir}/html/many/link`);
  symlinkSync('nowhere', `${s.dir}/html/many/broken`);
  const seen = new Set<string>();
  for (let i = 0; i < 200 && seen.size < 2; i++) {
    seen.add((await httpGet(s, '/many/')).text);
  }
  t.strictSame([...seen].sort(), ['a', 'b'], 'all files, and nothing else, in the course of time');
  t.equal((await httpGet(s, '/one/')).text, 'the only one');
  t.equal((await httpGet(s, '/alias/')).text, 'the only one');
  t.equal((await httpGet(s, '/none/')).status, 403);
  t.equal((await httpGet(s, '/off/')).text, 'b');
  rmSync(`${s.dir}/html/one`, { recursive: true });
  t.equal((await httpGet(s, '/one/')).status, 404);
  t.match(await s.logged('opendir'), /\[error\] .*opendir\(\) "\S+\/html\/one" failed \(2: No such file or directory\)/);
  mkdirSync(`${s.dir}/html/one`);
  t.equal((await httpGet(s, '/one/')).status, 403);
});
