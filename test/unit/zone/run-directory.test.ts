import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import t from 'tap';
import { RunDirectory } from '../../../src/shared/zone/run-directory.js';

t.test('folders of killed services go; those of others stay, whatever their name', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'run-directory-'));
  t.teardown(() => rmSync(base, { recursive: true, force: true }));
  const make = (name: string, ...files: string[]): string => {
    const folder = join(base, name);
    mkdirSync(folder);
    for (const file of files) {
      writeFileSync(join(folder, file), '');
    }
    utimesSync(folder, 1, 1);
    return folder;
  };
  const left = make('sluice-AbC123', 'owner', 'zone');
  const empty = make('sluice-AbC124');
  const others = [make('sluice-notes', 'owner'), make('sluice-AbC125', 'letters.txt'), make('else', 'owner')];
  const own = new RunDirectory(base, undefined);
  t.notOk(existsSync(left));
  t.notOk(existsSync(empty));
  for (const folder of others) {
    t.ok(existsSync(folder), folder);
  }
  const second = new RunDirectory(base, undefined);
  t.ok(existsSync(own.path), 'one that is in use stays');
  second.remove();
  own.remove();
  t.notOk(existsSync(own.path));
});

t.test('a folder of which nobody can say whether it is in use stays', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'run-directory-'));
  t.teardown(() => rmSync(base, { recursive: true, force: true }));
  const living = new RunDirectory(base, undefined);
  utimesSync(living.path, 1, 1);
  // As servers that start with few descriptors do, which are too few for all files of others.
  const script = `import { RunDirectory } from './run-directory.js';
    import { closeSync, openSync } from 'node:fs';
    new RunDirectory(process.argv[1], undefined).remove();
    const open = [];
    for (let full = false; !full; ) {
      try {
        open.push(openSync('/dev/null'));
      } catch {
        full = true;
      }
    }
    for (let free = 1; free < 8; free++) {
      closeSync(open.pop());
      try {
        new RunDirectory(process.argv[1], undefined).remove();
      } catch {}
    }`;
  const resolveDir = new URL('../../../src/shared/zone/', import.meta.url).pathname;
  const { outputFiles } = buildSync({
    stdin: { contents: script, resolveDir },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    write: false,
  });
  const starter = ['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', outputFiles[0]!.text, base];
  const { stderr } = spawnSync('sh', starter, { encoding: 'utf8', cwd: resolveDir });
  t.ok(existsSync(join(living.path, 'owner')), stderr);
  living.remove();
});

t.test('a folder whose parent has gone is removed without a word', async (t) => {
  const base = t.testdir({ zones: {} });
  const directory = new RunDirectory(`${base}/zones`, undefined);
  rmSync(`${base}/zones`, { recursive: true });
  t.doesNotThrow(() => directory.remove());
});
