import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import t from 'tap';
import { againstNginx, builtProgram } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

const skip = (againstNginx && 'a test of where the program stands') || (process.getuid?.() !== 0 && 'a test of root');

const MODULE = `
const parse = (r) => r.return(200, require(['x', 'm', 'l'].join('')).parse('<a>x</a>').a.$text);
const late = (r) => import('./late.ts').then((m) => r.return(200, m.word));
export default { parse, late };`;
const ISOLATED = `import xml from 'xml';
export default { fetch: () => new Response(xml.parse('<a>x</a>').a.$text) };`;

// The workers' user may read nothing there: what they need of the program's files they have before they change to it.
t.test("the program's folder is closed to the workers", { skip }, async (t) => {
  const folder = mkdtempSync(`${tmpdir()}/closed-`);
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const dist = builtProgram().replace(/sluice\.js$/, '');
  cpSync(dist, `${folder}/dist`, { recursive: true });
  symlinkSync(new URL('../../node_modules', import.meta.url).pathname, `${folder}/node_modules`);
  const before = process.env['SLUICE_DIST'];
  process.env['SLUICE_DIST'] = `${folder}/dist`;
  t.teardown(() => {
    if (before === undefined) {
      delete process.env['SLUICE_DIST'];
    } else {
      process.env['SLUICE_DIST'] = before;
    }
  });
  const s = await startServer(t, {
    conf: httpConf(
      `js_import t.js;
      server {
        listen 127.0.0.1:%%PORT_0%%;
        location = /parse { js_content t.parse; }
        location = /late { js_content t.late; }
        location = /isolated { js_import isolated.js; js_isolation thread; js_content isolated.fetch; }
        location = /computing { js_import isolated.js; js_isolation thread allow=fetch:127.0.0.1; js_content isolated.fetch; }
        location = /t.js { auth_basic x; auth_basic_user_file passwords; root %%DIR%%; }
        location /dashboard/ { dashboard; }
      }`,
      'worker_processes 2;',
    ),
    files: {
      't.js': MODULE,
      'isolated.js': ISOLATED,
      'late.ts': "export const word: string = 'late';",
      passwords: 'me:$apr1$12345678$gTHl4RsKs7tfZ1nqdwXDE1\n',
    },
  });
  const Authorization = `Basic ${Buffer.from('me:wrong').toString('base64')}`;
  for (let i = 0; i < 4; i++) {
    t.equal((await httpGet(s, '/parse')).text, 'x', 'a part that a module needs late');
    t.equal((await httpGet(s, '/late')).text, 'late', 'a module in TypeScript that is imported late');
    t.equal((await httpGet(s, '/isolated')).text, 'x', 'a thread');
    t.equal((await httpGet(s, '/computing')).text, 'x', 'a thread that may do little');
    t.equal((await httpGet(s, '/t.js', { Authorization })).status, 401);
    t.equal((await httpGet(s, '/dashboard/')).status, 200);
  }
  t.notMatch(s.log(), /EACCES|ermission denied/);
});
