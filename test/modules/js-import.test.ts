import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
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
