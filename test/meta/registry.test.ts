import { existsSync, readdirSync } from 'node:fs';
import t from 'tap';
import { LocationSlot } from '../../src/worker/http/request/location-slot.js';
import { modules } from '../../src/worker/modules/index.js';
import { imports, root } from './source-files.js';

const folders = readdirSync(`${root}src/worker/modules`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();
const tests = readdirSync(`${root}test/modules`);

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

t.test("every slot for settings of locations is one module's", async (t) => {
  const indexes = modules.flatMap(({ slot }) => (slot === undefined ? [] : [slot.index]));
  const made = new LocationSlot<object>().index;
  t.ok(made > 5);
  t.strictSame(
    indexes.sort((a, b) => a - b),
    Array.from({ length: made }, (_, i) => i),
    'a slot that no module names would be empty',
  );
});
