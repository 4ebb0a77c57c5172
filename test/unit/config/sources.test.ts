import { chmodSync } from 'node:fs';
import t from 'tap';
import { dumpConfig } from '../../../src/shared/config/dump.js';
import { type ConfigError, placedMessage } from '../../../src/shared/config/errors.js';
import { commandLine, type Pos } from '../../../src/shared/config/language/ast.js';
import { diskSources, type Sources, snapshotSources } from '../../../src/shared/config/sources.js';

const root = `${t.testdir({
  conf: {
    'main.conf': '#main\n',
    'empty.conf': '',
    'bytes.conf': Buffer.from([0xc3, 0xa9, 0x3b, 0xff, 0x00, 0x3b]),
    'unreadable.conf': '',
    d: { 'b.conf': 'b;', 'a.conf': 'a;', '.hidden.conf': 'h;' },
  },
})}/`;
const conf = `${root}conf/`;
const entry = `${conf}main.conf`;
const origin = { entry, prefix: root, confPrefix: conf, globals: 'daemon off;' };
const at = (file: string, line = 3): Pos => ({ file, line, column: 1 });

function failure(sources: Sources, path: string, from?: Pos): ConfigError {
  try {
    sources.parse(path, from);
  } catch (err) {
    return err as ConfigError;
  }
  throw new Error('no error');
}

t.test('from disk, then from the snapshot', async (t) => {
  const disk = diskSources(origin);
  const use = (sources: Sources) => {
    t.match(sources.parse(commandLine), [{ name: 'daemon', pos: { file: commandLine } }]);
    t.equal(sources.parse(entry).length, 0);
    const included = sources.include('d/*.conf', at(entry));
    t.same(included, [`${conf}d/a.conf`, `${conf}d/b.conf`]);
    for (const file of [...included, `${conf}empty.conf`, `${conf}bytes.conf`]) {
      sources.parse(file, at(entry));
    }
    t.equal(sources.parse(`${conf}d/a.conf`, at(entry)), sources.parse(`${conf}d/a.conf`, at(`${conf}d/b.conf`)), 'parsed once');
    t.same(sources.include('none*', at(entry)), []);
    t.same(sources.include('../x.conf', at(entry)), [`${conf}../x.conf`]);
    t.same(sources.include('/x/none.conf', at(entry)), ['/x/none.conf']);
    t.same(sources.include('a\0b', at(entry)), [`${conf}a`], 'a name ends at a NUL byte');
    t.same(sources.include('', at(entry)), [conf]);
    t.same(
      sources.order,
      ['main.conf', 'd/a.conf', 'd/b.conf', 'empty.conf', 'bytes.conf'].map((name) => conf + name),
    );
    t.equal(sources.text(entry), '#main\n');
    t.equal(sources.text(commandLine), 'daemon off;');
    t.equal(sources.text(`${conf}bytes.conf`), '\xc3\xa9;\xff\0;');
    t.equal(sources.text(`${conf}d/.hidden.conf`), undefined, 'not read');
  };
  use(disk);
  const snapshot = disk.snapshot({ backend: ['127.0.0.1'] });
  const copy = snapshotSources(JSON.parse(JSON.stringify(snapshot)));
  use(copy);
  t.same(copy.hosts, { backend: ['127.0.0.1'] });
  t.same(copy.snapshot(copy.hosts), snapshot, 'a snapshot of a snapshot');
  t.equal(placedMessage(failure(copy, '/x', at(entry))), `open() "/x" failed (2: No such file or directory) in ${entry}:3`);
});

t.test('what cannot be read', async (t) => {
  const sources = diskSources(origin);
  const missing = `${conf}none.conf`;
  t.match(failure(sources, missing), {
    level: 'emerg',
    message: `open() "${missing}" failed (2: No such file or directory)`,
    pos: undefined,
  });
  t.equal(
    placedMessage(failure(sources, missing, at(entry, 7))),
    `open() "${missing}" failed (2: No such file or directory) in ${entry}:7`,
  );
  t.equal(
    placedMessage(failure(sources, missing, at(commandLine))),
    `open() "${missing}" failed (2: No such file or directory) in command line`,
  );
  t.match(failure(sources, `${conf}d`, at(entry)), {
    level: 'crit',
    message: `pread() "${conf}d" failed (21: Is a directory)`,
    pos: undefined,
  });
  t.match(failure(sources, `${entry}/x`), { message: `open() "${entry}/x" failed (20: Not a directory)` });
  t.equal(sources.parse('/dev/null').length, 0, 'a device is empty');
  t.same(sources.order, ['/dev/null']);
  const unreadable = `${conf}unreadable.conf`;
  chmodSync(unreadable, 0);
  if (process.getuid?.() !== 0) {
    t.match(failure(sources, unreadable), { message: `open() "${unreadable}" failed (13: Permission denied)` });
  }
});

t.test('endless includes', async (t) => {
  const files = { '/a': '', '/b': '', '/c': '' };
  const sources = snapshotSources({ ...origin, files, globs: {}, named: {}, hosts: {} });
  t.match(failure(sources, '/a', at('/a')), { message: 'endless include of "/a"', pos: { file: '/a', line: 3 }, related: [] });
  sources.parse('/a');
  sources.parse('/b', at('/a', 4));
  sources.parse('/c', at('/a', 5));
  sources.parse('/c', at('/b', 6));
  sources.parse('/c', at('/b', 7));
  t.match(failure(sources, '/a', at('/c', 8)), {
    message: 'endless include of "/a"',
    pos: { file: '/c', line: 8 },
    related: [
      { pos: { file: '/a', line: 4 }, text: '"/b" is included here' },
      { pos: { file: '/b', line: 6 }, text: '"/c" is included here' },
    ],
  });
});

t.test('includes nested without end', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`/${i}`, '']));
  const sources = snapshotSources({ ...origin, files, globs: {}, named: {}, hosts: {} });
  for (let i = 1; i <= 100; i++) {
    sources.parse(`/${i}`, at(`/${i - 1}`));
  }
  t.match(failure(sources, '/101', at('/100')), { message: 'includes are nested deeper than 100 levels' });
});

t.test('the dump has each file once, in the order of reading', async (t) => {
  const sources = diskSources(origin);
  for (const name of ['main.conf', 'd/a.conf', 'empty.conf', 'd/a.conf']) {
    sources.parse(conf + name);
  }
  t.equal(
    dumpConfig(sources),
    `# configuration file ${conf}main.conf:\n#main\n\n# configuration file ${conf}d/a.conf:\na;\n# configuration file ${conf}empty.conf:\n\n`,
  );
});
