import { existsSync, readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { modules } from '../../src/worker/modules/index.js';
import { filesBelow, imports, root } from './source-files.js';

const folders = readdirSync(`${root}src/worker/modules`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
const tests = readdirSync(`${root}test/modules`);
const sources = filesBelow('src', '.ts').map((name) => ({ name, text: readFileSync(`${root}src/${name}`, 'utf8') }));

/** Modules whose tests stand under other names. */
const TESTED_IN: Record<string, readonly string[]> = {
  document: ['modules/static.test.ts', 'modules/return.test.ts', 'modules/internal.test.ts'],
  dev: ['process/dev.test.ts'],
  'early-hints': ['modules/keepalive.test.ts'],
  gunzip: ['modules/gzip.test.ts'],
  hash: ['modules/balancing.test.ts'],
  http2: ['modules/ssl.test.ts'],
  'ip-hash': ['modules/balancing.test.ts'],
  'least-conn': ['modules/balancing.test.ts'],
  'least-time': ['modules/balancing.test.ts'],
  'limit-except': ['modules/access.test.ts', 'modules/access-log.test.ts', 'modules/auth-basic.test.ts'],
  memcached: ['modules/cgi-protocols.test.ts'],
  postpone: ['modules/ssi.test.ts', 'modules/addition.test.ts'],
  process: ['process/settings.test.ts', 'process/start.test.ts'],
  random: ['modules/balancing.test.ts'],
  resolver: ['modules/upstream-resolve.test.ts', 'modules/resolve-lazy.test.ts'],
  rewrite: ['modules/return.test.ts', 'modules/regex-limit.test.ts'],
  scgi: ['modules/cgi-protocols.test.ts'],
  uwsgi: ['modules/cgi-protocols.test.ts'],
  'vars-connection': ['modules/access-log.test.ts', 'modules/realip.test.ts'],
  'vars-request': ['modules/access-log.test.ts', 'modules/client-head.test.ts'],
  'vars-response': ['modules/access-log.test.ts', 'modules/error-page.test.ts'],
  'vars-upstream': ['modules/keepalive.test.ts'],
};
/** Folders with more than one module: a handler or filter of theirs runs at another place than the rest. */
const PARTS: Record<string, readonly string[]> = {
  'auth-oidc': ['auth_oidc', 'auth_oidc_login'],
  js: ['js', 'js_access', 'js_rewrite'],
  range: ['range_body', 'range_header'],
  upstream: ['upstream', 'upstream_groups'],
};

t.test('every folder is in the registry once, under its own name', async (t) => {
  const expected = folders.flatMap((folder) => PARTS[folder] ?? [folder.replaceAll('-', '_')]);
  t.strictSame(modules.map(({ name }) => name).sort(), expected.sort());
  t.strictSame(
    imports()
      .filter(({ from, to }) => from === 'worker/modules/index.ts' && to.startsWith('worker/modules/'))
      .map(({ to }) => to)
      .sort(),
    folders.map((folder) => `worker/modules/${folder}/index.ts`).sort(),
  );
});

t.test('every module has a test of its name', async (t) => {
  const without = folders.filter((folder) => {
    const elsewhere = TESTED_IN[folder];
    if (elsewhere !== undefined) {
      return !elsewhere.every((file) => existsSync(`${root}test/${file}`));
    }
    return !tests.some((file) => file === `${folder}.test.ts` || (file.startsWith(`${folder}-`) && !folders.includes(file.slice(0, -8))));
  });
  t.strictSame(without, []);
});

t.test('settings of locations and servers are in slots, which modules fill', async (t) => {
  const all = sources.map(({ text }) => text).join('\n');
  const slots = [...all.matchAll(/^(?:export )?const (\w+)(?:: \w+<.*>)? = new (?:Location|Server)Slot</gm)].map(([, name]) => name!);
  t.ok(slots.length > 30);
  for (const name of new Set(slots)) {
    const filled = new RegExp(
      `\\b(?:slot|serverSlot): (?:made\\(\\s*)?${name}\\b|\\bmade\\(\\s*${name}\\b|\\.put\\(\\s*${name}\\b|\\b${name},\\n`,
    );
    t.match(all, filled, `${name} would be empty`);
  }
  const keys =
    'LocationRuntime|ServerRuntime|StreamServer|HttpRuntime|StreamRuntime|ProtocolRuntime|Session|Request|Readonly<\\w*Settings>';
  const map = new RegExp(
    `\\bWeakMap<(?:${keys})\\b|runtimePart\\(\\(\\) => new Map<(?:LocationRuntime|ServerRuntime|StreamServer)\\b`,
    'g',
  );
  const maps = sources.flatMap(({ name, text }) => [...text.matchAll(map)].map(([found]) => `${name}: ${found}`));
  t.strictSame(maps, [], 'nothing is looked up by location, server or block: it has a slot, or is a part of the block');
  const late = sources.flatMap(({ text }) => [...text.matchAll(/^ +(?:readonly )?#?\w+!:/gm)]);
  t.ok(late.length <= 22, `${late.length} fields are without a value at first, by their \`!\``);
  t.strictSame(
    sources.filter(({ text }) => /= \{\} as \w*Settings/.test(text)).map(({ name }) => name),
    [],
    'settings are whole from the start',
  );
});
