import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { type Row, readTable, recordAnswers } from '../support/njs-table.js';

// What `-t` says of each directive of njs with arguments of all kinds, row by row (test/njs/directives.conf): the answers are those of
// nginx with njs. `scripts/record-njs PATH_TO_NGINX` asks for them anew.

const recording = process.env['RECORD_NJS'] !== undefined;
if (againstNginx && !recording) {
  t.bailout('njs is a module of its own');
}

// Modules of the other kind than njs's need nothing of the build, which is not there in a test's own process.
const module = againstNginx ? 'export default { f() {} };' : 'module.exports = { f() {} };';

const files = {
  'a.js': module,
  'b.js': module,
  "qu'ote.js": module,
  'broken.js': againstNginx ? 'export default {' : 'module.exports = {',
  'pre.json': '{"a": 1}',
  'bad.json': '{"a": ',
  'noted.txt': '{}',
};

/** Where the lines of a row stand, in a configuration that is whole. */
const FRAMES: Readonly<Record<string, (text: string) => string>> = {
  main: (text) => `${text}\nevents {}`,
  http: (text) => `events {}\nhttp { ${text} ${text.includes('server {') ? '' : 'server { listen 127.0.0.1:%%PORT_0%%; }'} }`,
  server: (text) => `events {}\nhttp { server { listen 127.0.0.1:%%PORT_0%%; ${text} } }`,
  location: (text) => `events {}\nhttp { js_import a.js; server { listen 127.0.0.1:%%PORT_0%%; location / { ${text} } } }`,
  workers: (text) =>
    `worker_processes 3;\nevents {}\nhttp { js_import a.js; server { listen 127.0.0.1:%%PORT_0%%; location / { ${text} } } }`,
  stream: (text) =>
    `events {}\nstream { ${text} ${text.includes('server {') ? '' : "server { listen 127.0.0.1:%%PORT_0%%; return ''; }"} }`,
  'stream server': (text) => `events {}\nstream { js_import a.js; server { listen 127.0.0.1:%%PORT_0%%; return ''; ${text} } }`,
  'stream workers': (text) =>
    `worker_processes 3;\nevents {}\nstream { js_import a.js; server { listen 127.0.0.1:%%PORT_0%%; return ''; ${text} } }`,
};

async function ask(t: Parameters<typeof configMessage>[0], { mode, code }: Row): Promise<string> {
  const message = await configMessage(t, FRAMES[mode]!(code.replaceAll('%%CERTS%%', certs().dir)), files);
  return message === undefined
    ? 'accepted'
    : message
        .replace(/ in (?:%%FILE%%|\S*\/sluice\.conf):\d+$/, '')
        .replaceAll(certs().dir, 'CERTS')
        .replace(/\/tmp\/[^ ":]*\//g, 'DIR/');
}

t.test('the directives of njs', async (t) => {
  for (const { name, rows } of readTable('conf')) {
    const answers: string[] = [];
    for (const row of rows) {
      const answer = await ask(t, row);
      answers.push(answer);
      if (!recording) {
        t.equal(answer, row.ours ?? row.answer, `${row.mode}> ${row.code}`);
      }
    }
    if (recording) {
      recordAnswers(name, answers, 'conf');
    }
  }
  t.end();
});
