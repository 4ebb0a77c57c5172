import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { againstNginx } from '../support/binary.js';

// Published programs for njs, as their authors have them: each is fetched at the commit for which nginx's answers were recorded, and runs
// in namespaces of its own (scripts/compare-programs). Nothing of them is in this repository.

if (againstNginx) {
  t.bailout('the answers are those of nginx');
}

const scripts = new URL('../../scripts/', import.meta.url).pathname;
const { commits } = JSON.parse(readFileSync(`${scripts}programs/recorded.json`, 'utf8')) as { readonly commits: Record<string, string> };

/** A folder that has them already, as OWNER_NAME, for machines without a way out. */
const given = process.env['NJS_PROGRAMS'];

const missing =
  (process.platform !== 'linux' && 'no Linux') ||
  (process.getuid?.() !== 0 && 'no rights to make namespaces') ||
  (spawnSync('unshare', ['-mnpf', '--mount-proc', 'true']).status !== 0 && 'no namespaces') ||
  (spawnSync('ip', ['-V']).error !== undefined && 'no ip command') ||
  (given === undefined && spawnSync('git', ['--version']).error !== undefined && 'no git');

const run = promisify(execFile);

/** Fetches what can be had; returns how many that are. */
async function fetchAll(folder: string): Promise<number> {
  let fetched = 0;
  for (const [repository, commit] of Object.entries(commits)) {
    const to = `${folder}/${repository.replace('/', '_')}`;
    const git = (...args: string[]): Promise<unknown> =>
      run('git', ['-C', to, '-c', 'advice.detachedHead=false', ...args], {
        timeout: 60_000,
        env: { ...process.env, GIT_TERMINAL_PROMPT: '0' },
      });
    mkdirSync(to);
    try {
      await git('init', '-q');
      await git('fetch', '-q', '--depth', '1', `https://github.com/${repository}`, commit);
      await git('checkout', '-q', 'FETCH_HEAD');
      fetched++;
    } catch {
      if (fetched === 0) {
        // There is no way out.
        return 0;
      }
    }
  }
  return fetched;
}

t.test('published programs answer as they do on nginx with njs', { skip: missing }, async (t) => {
  const folder = given ?? t.testdir({});
  if (given === undefined && (await fetchAll(folder)) === 0) {
    t.comment('skipped: the programs cannot be fetched from here');
    return;
  }
  const result = await run(`${scripts}compare-programs`, [folder, 'recorded'], { maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  for (const [, verdict, name] of result.stdout.matchAll(/^(same|DIFFERENT) +(.*)$/gm)) {
    t.equal(verdict, 'same', name ?? '');
  }
  t.match(result.stdout, /^[1-9]\d* programs the same, 0 different/m, result.stdout.slice(-3000) + result.stderr);
});
