import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { KeptConfigurations } from '../../../src/master/history/kept.js';
import type { Configuration, Snapshot } from '../../../src/shared/config/configuration.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-kept-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

function configuration(text: string, more: Partial<Snapshot> = {}): Configuration {
  const snapshot: Snapshot = {
    entry: '/etc/x.conf',
    prefix: '/etc/',
    confPrefix: '/etc/',
    globals: '',
    files: { '/etc/x.conf': text, '/etc/\xe4 /../y': 'a;\n' },
    globs: { '/etc/*.d': ['/etc/a.d'] },
    named: { '/etc/k.pem': 'SECRET' },
    hosts: {},
    ...more,
  };
  return { snapshot } as Configuration;
}

const at = new Date(0);

t.test('ten are kept, and the one that serves among them', async (t) => {
  const kept = new KeptConfigurations(`${folder}/ten`);
  kept.make();
  t.equal(statSync(`${folder}/ten`).mode & 0o777, 0o700);
  let serving: number | undefined;
  for (let n = 1; n <= 12; n++) {
    serving = kept.serve(configuration(`n ${n};`), null, serving, at);
  }
  t.strictSame(kept.ids(), [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  const { manifest, texts } = kept.read(7)!;
  t.strictSame(texts, { '/etc/x.conf': 'n 7;', '/etc/\xe4 /../y': 'a;\n' });
  t.strictSame(manifest.globs, { '/etc/*.d': ['/etc/a.d'] });
  t.notMatch(JSON.stringify(manifest), 'SECRET');
});

t.test('what says the same has one number; what served before has its own again by a rollback alone', async (t) => {
  const kept = new KeptConfigurations(`${folder}/same`);
  kept.make();
  const one = kept.serve(configuration('a;'), 'root', undefined, at);
  const two = kept.serve(configuration('b;'), 'root', one, at);
  t.equal(kept.serve(configuration('b;'), null, two, at), two);
  t.equal(kept.serve(configuration('b;'), null, one, at), two, 'the newest');
  const three = kept.serve(configuration('a;'), null, two, at);
  t.equal(three, 3);
  t.equal(kept.serve(configuration('a;', { globals: 'daemon off;' }), null, three, at), 4);
  kept.end(4, 'because', at);
  t.match(kept.manifest(4)!.periods, [{ until: at.toISOString(), why: 'because', by: null }]);
});

t.test('large ones go before there are ten', async (t) => {
  const kept = new KeptConfigurations(`${folder}/large`);
  kept.make();
  let serving: number | undefined;
  for (let n = 1; n <= 4; n++) {
    serving = kept.serve(configuration(`${'#'.repeat(25 << 20)}${n}`), null, serving, at);
  }
  t.strictSame(kept.ids(), [3, 4]);
});

t.test('what is not whole is not used', async (t) => {
  const kept = new KeptConfigurations(`${folder}/broken`);
  kept.make();
  const id = kept.serve(configuration('a;'), null, undefined, at);
  const manifest = `${folder}/broken/${id}/manifest.json`;
  const { files, ...rest } = kept.manifest(id)!;
  writeFileSync(manifest, JSON.stringify({ ...rest, files: { ...files, '/etc/x.conf': '../../../etc/passwd' } }));
  t.equal(kept.read(id), undefined);
  writeFileSync(manifest, '{"id": 1');
  t.equal(kept.manifest(id), undefined);
  t.equal(kept.serve(configuration('a;'), null, id, at), id + 1);
  writeFileSync(`${folder}/file`, '');
  t.throws(() => new KeptConfigurations(`${folder}/file`).make());
});
