import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { exchange, httpGet } from '../support/raw-client.js';
import { httpConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs has no import()');
}

const MAIN = `
import state from './state.js';
import fs from 'fs';
let found
import('./state.js').then((m) => { found = m.default; })
export default {
  first: (r) => r.return(200, String(found === state)),
  async same(r) { const m = await import('./state.js'); m.default.count++; r.return(200, state.count + ' ' + m.named); },
  async path(r) { r.return(200, (await import('lib.js')).default.word); },
  async typed(r) { const { word } = await import(\`./\${['typed'].join('')}.ts\`); r.return(200, word); },
  async old(r) { const m = await import('./old.js'); r.return(200, m.default.word + m.word); },
  async xml(r) { r.return(200, (await import('xml')).default.parse('<a>x</a>').a.$text); },
  async fs(r) { const { default: own } = await import('fs'); r.return(200, String(own === fs)); },
  async url(r) { r.return(200, typeof (await import('node:url')).fileURLToPath); },
  async data(r) { r.return(200, String((await import('data:text/javascript,export default 5')).default)); },
  async json(r) { r.return(200, (await import('./data.json', { with: { type: 'json' } })).default.word); },
  async none(r) { await import('./none.js').catch((e) => r.return(200, e.constructor.name + ' ' + /none\\.js/.test(e.message))); },
  async broken(r) { await import('./broken.js').catch((e) => r.return(200, e.message)); },
  async late(r) { const { run } = await import('./waits.mjs'); r.return(200, await run()); },
};
export const text = "import('./none.js')"; // import('./none.js')
`;
const NAMES = [...MAIN.matchAll(/^ {2}(?:async )?(\w+)[(:]/gm)].map(([, name]) => name!);

t.test('import() gives what the other imports give', async (t) => {
  const s = await startServer(t, {
    conf: httpConf(`
      js_path %%DIR%%/lib; js_import main.js;
      server {
        listen 127.0.0.1:%%PORT_0%%;
        ${NAMES.map((name) => `location = /${name} { js_content main.${name}; }`).join('\n        ')}
        location = /thread { js_import isolated.js; js_isolation thread allow=none; js_content isolated.fetch; }
      }`),
    files: {
      'main.js': MAIN,
      'state.js': 'export const named = "named"; export default { count: 0 };',
      'typed.ts': 'export const word: string = "typed";',
      'old.js': 'module.exports = { word: "old" };',
      'broken.js': 'export const x = 1; throw new Error("on purpose");',
      'waits.mjs': 'export const run = async () => (await import("./state.js")).named;',
      'data.json': '{ "word": "json" }',
      'lib/lib.js': 'export default { word: "lib" };',
      'isolated.js': `export default { async fetch() {
        const { named } = await import('./state.js');
        const refused = await import('fs').then(() => 'given', () => 'refused');
        return new Response(named + (await import('xml')).default.parse('<a>x</a>').a.$text + refused);
      } };`,
    },
  });
  const said = async (name: string): Promise<string> => (await httpGet(s, `/${name}`)).text;
  t.equal(await said('first'), 'true');
  t.equal(await said('same'), '1 named');
  t.equal(await said('same'), '2 named');
  t.equal(await said('path'), 'lib');
  t.equal(await said('typed'), 'typed');
  t.equal(await said('old'), 'oldold');
  t.equal(await said('xml'), 'x');
  t.equal(await said('fs'), 'true');
  t.equal(await said('url'), 'function');
  t.equal(await said('data'), '5');
  t.equal(await said('json'), 'json');
  t.equal(await said('none'), 'Error true');
  t.equal(await said('broken'), 'on purpose');
  t.equal(await said('late'), 'named');
  t.equal(await said('thread'), 'namedxrefused');
});

t.test('the names of js_import and js_preload_object are globals', async (t) => {
  const s = await startServer(t, {
    conf: `
events {}
http {
  js_import main.js; js_import fetch from other.js; js_preload_object settings from settings.json;
  js_set $other main.value;
  server {
    listen 127.0.0.1:%%PORT_0%%;
    location = /one { js_import other from one.js; js_content main.says; }
    location = /two { js_import other from two.js; js_content main.says; }
    location = /late { js_import other from two.js; js_content main.late; }
    location = /fresh { js_context_reuse off; js_import other from one.js; js_content main.says; }
    location = /value { js_import other from two.js; return 200 $other; }
    location = /none { js_content main.none; }
    location = /changed { js_import other from one.js; js_content main.changes; }
    location = /fresh-changed { js_context_reuse off; js_import other from one.js; js_content main.changes; }
  }
}
stream {
  js_import main.js; js_import other from two.js; js_set $who main.value;
  server { listen 127.0.0.1:%%PORT_1%%; return $who; }
}
`,
    files: {
      'main.js': `
const atTheTop = typeof other;
const names = () => [typeof main.says, other.name, globalThis.other === other, settings.word, globalThis.settings === settings];
const says = (r) => r.return(200, [atTheTop, ...names(), other.back(), typeof fetch.name].join());
async function late(r) { await new Promise((done) => setTimeout(done, 1)); r.return(200, other.name); }
const value = () => other.name;
const changes = (r) => { const before = other.name; other = { name: 'changed' }; r.return(200, before + ' ' + other.name); };
const none = (r) => r.return(200, typeof other);
export default { says, late, value, none, changes };
`,
      'one.js': 'export default { name: "one", back: () => typeof main.says };',
      'two.js': 'export default { name: "two", back: () => typeof main.says };',
      'other.js': 'export default 5;',
      'settings.json': '{ "word": "preloaded" }',
    },
  });
  const said = async (name: string): Promise<string> => (await httpGet(s, `/${name}`)).text;
  for (let i = 0; i < 2; i++) {
    t.equal(await said('one'), 'undefined,function,one,true,preloaded,true,function,string');
    t.equal(await said('two'), 'undefined,function,two,true,preloaded,true,function,string', 'a name may mean two things');
  }
  t.equal(await said('late'), 'two', 'behind an await');
  t.equal(await said('fresh'), 'undefined,function,one,true,preloaded,true,function,string');
  t.equal(await said('value'), 'two', 'in a variable');
  t.equal(await said('none'), 'undefined');
  t.equal(await exchange(s.port(1), ''), 'two', 'in stream');
  t.equal(await said('fresh-changed'), 'one changed');
  t.equal(await said('fresh-changed'), 'one changed', 'modules that are made anew have it anew');
  t.equal(await said('changed'), 'one changed');
  t.equal(await said('changed'), 'changed changed', 'the modules are kept, and what they have changed');
  t.equal(await said('one'), 'undefined,function,one,true,preloaded,true,function,string', 'nobody else sees that');
});
