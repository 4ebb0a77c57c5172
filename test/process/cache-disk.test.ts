import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { answer, bodyOf, files, ownFolder, startCache, status } from '../support/cache.js';
import { startOrigin } from '../support/origin.js';
import { httpGet, type Target } from '../support/raw-client.js';

/** A small file system of its own; undefined where we may not mount one. */
function smallDisk(t: Test): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=777', 'tmpfs', folder], { stdio: 'ignore' });
  if (status !== 0) {
    return undefined;
  }
  t.teardown(() => execFileSync('umount', ['-l', folder]));
  return folder;
}

const large = (target: string): string => bodyOf(target).repeat(34);

/** Asks for many keys, eight at a time. Returns how many answers were not what they should be. */
async function failures(s: Target, count: number, body: (target: string) => string): Promise<number> {
  let failed = 0;
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const path = `/f/${next++}`;
      const response = await httpGet(s, path).catch(() => undefined);
      if (response?.status !== 200 || response.text !== body(path)) {
        failed++;
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return failed;
}

t.test('a full disk: responses are served and not stored', { timeout: 300_000 }, async (t) => {
  const folder = smallDisk(t);
  if (folder === undefined) {
    t.pass('no right to mount a file system');
    return;
  }
  const origin = await startOrigin(t, (request) => ({ headers: { 'Cache-Control': 'max-age=600' }, body: large(request.target) }));
  for (const path of ['', 'use_temp_path=off']) {
    const s = await startCache(t, origin, { folder, path, workers: 2 });
    t.equal(await failures(s, 150, large), 0, path);
    t.match(s.log(), /\[crit\] .* (write|open)\(\) ".*" failed \(28: No space left on device\)/);
    // There is room again.
    for (const name of readdirSync(join(folder, 'cache'))) {
      rmSync(join(folder, 'cache', name), { recursive: true });
    }
    t.equal(await status(s, '/after'), 'MISS');
    t.equal(await status(s, '/after'), 'HIT');
    t.strictSame(
      (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith('.tmp')),
      [],
      'nothing is left of what could not be written',
    );
    await s.stop();
  }
});

t.test('a full zone: the least recently used entries give way', { timeout: 300_000 }, async (t) => {
  const origin = await startOrigin(t, answer);
  const s = await startCache(t, origin, { zone: '32k', workers: 2 });
  t.equal(await failures(s, 400, bodyOf), 0);
  t.ok(files(s).length <= 256, `${files(s).length} files`);
  t.equal(await status(s, '/f/399'), 'HIT');
  t.notMatch(s.log(), /\[(crit|alert|emerg)\]/);
});

t.test('a folder that goes away, or takes no writes, while the server runs', { timeout: 300_000 }, async (t) => {
  const origin = await startOrigin(t, answer);
  const folder = ownFolder(t);
  const s = await startCache(t, origin, { folder });
  await httpGet(s, '/a');
  t.equal(await status(s, '/a'), 'HIT');
  renameSync(join(folder, 'cache'), join(folder, 'old'));
  rmSync(join(folder, 'temp'), { recursive: true });
  t.equal(await status(s, '/a'), 'MISS', 'what is in memory is not served any more');
  t.equal(await status(s, '/a'), 'HIT', 'both folders are made again');
  if (process.getuid?.() !== 0) {
    return;
  }
  // Workers are nobody.
  execFileSync('chown', ['-R', 'root', join(folder, 'cache')]);
  execFileSync('chmod', ['-R', 'a+rX,go-w', join(folder, 'cache')]);
  t.equal(await status(s, '/a'), 'HIT');
  t.equal(await failures(s, 20, bodyOf), 0);
  t.equal(await status(s, '/f/1'), 'MISS');
  t.match(s.log(), /\[crit\] .* (mkdir|rename)\(\) ".*" failed \(13: Permission denied\)/);
  execFileSync('chmod', ['-R', 'a+rwX', join(folder, 'cache')]);
  await httpGet(s, '/f/1');
  t.equal(await status(s, '/f/1'), 'HIT');
});
