import { readFileSync } from 'node:fs';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

/**
 * Who makes, writes, or gives away files itself, in so many places. What is kept over restarts goes through `shared/files/state-file.ts`.
 */
const THEMSELVES: { readonly [file: string]: readonly [uses: number, why: string] } = {
  'master/processes/pid-file.ts': [
    3,
    'writes into the pid file of a folder that takes no new files; -t makes one that is missing, exclusively',
  ],
  'master/executable/contents.ts': [1, 'files of a folder that only this user writes to: exclusive, and renamed with it'],
  'tools/subcommands/serve-command.ts': [3, 'a configuration in a folder of its own, by mkdtemp'],
  'tools/programs/place.ts': [3, 'a configuration in a folder of its own, by mkdtemp'],
  'tools/subcommands/dev-command.ts': [1, 'a folder of its own, by mkdtemp'],
  'tools/subcommands/bundle.ts': [1, 'bundles in the folder that the command line names'],
  'tools/subcommands/test-command.ts': [1, 'the report that the command line names'],
  'shared/files/state-file.ts': [1, 'the rule itself'],
  'shared/files/others-link.ts': [3, 'opens what root follows no link of another user to'],
  'shared/log/log-fd.ts': [1, 'logs: appended to, 0644, and root follows no link of another user'],
  'shared/zone/run-directory.ts': [2, 'a folder by mkdtemp, which root gives to the workers'],
  'shared/zone/sqlite.ts': [1, 'zone files: exclusive, 0600, in that folder'],
  'worker/cache/disk-cache.ts': [1, 'new times in an entry that is known by its inode'],
  'worker/cache/purge-file.ts': [1, 'a time that is over in an entry that is open: no link, and of our form'],
  'worker/cache/writer.ts': [3, 'entries: exclusive, 0600, and renamed'],
  'worker/http/request/temp-file.ts': [1, 'temporary files: exclusive, 0600'],
  'worker/js/handlers/watchdog-thread.ts': [1, 'the last line of a log that is there'],
  'worker/modules/dav/files.ts': [2, 'what WebDAV copies and moves, as nginx does'],
  'worker/upstream/exchange/store-file.ts': [1, 'proxy_store across file systems: exclusive, and renamed'],
};

const BY_NAME = /\b(?:writeFile|appendFile|copyFile|cp|link|symlink|chmod|chown|truncate|mkdtemp)Sync\(|\bcreateWriteStream\(/g;
/** Everything but what is opened for reading alone: a mode in words, or flags that are named so. */
const OPENED = /\bopenSync\((?![^;]*(?:'r'|O_RDONLY|\bREAD\b|, flags\)))/g;

const readOnlyFlags = 'worker/http/files/symlinks.ts';

/**
 * Files that the server writes have a mode (a daemon has no umask), follow no link, are known by a name that nobody could foresee or that
 * is taken exclusively, and are whole when they get their own name.
 */
t.test('files are written in one way', async (t) => {
  for (const file of filesBelow('src', '.ts')) {
    const text = readFileSync(`${root}src/${file}`, 'utf8')
      .replaceAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
      .replaceAll(/^import[\s\S]*?;$/gm, '');
    const uses = [BY_NAME, OPENED].reduce((sum, calls) => sum + (text.match(calls)?.length ?? 0), 0);
    t.equal(uses, THEMSELVES[file]?.[0] ?? 0, `${file}: use shared/files/state-file.ts, or say here why not`);
  }
  for (const file of Object.keys(THEMSELVES)) {
    t.ok(filesBelow('src', '.ts').includes(file), `${file} is there`);
  }
  for (const file of filesBelow('src', '.ts')) {
    const looks = file !== 'shared/files/others-link.ts' && readFileSync(`${root}src/${file}`, 'utf8').includes('refuseOthersLink(');
    t.notOk(looks, `${file}: what is looked at before it is opened may be another file by then; use openPastLinks`);
  }
  t.notMatch(readFileSync(`${root}src/${readOnlyFlags}`, 'utf8'), /O_(?:WRONLY|RDWR|CREAT)/, 'what it opens by flags, it reads');
});

t.test('nothing writes files but by calls of node:fs whose names end in Sync', async (t) => {
  for (const file of filesBelow('src', '.ts')) {
    const text = readFileSync(`${root}src/${file}`, 'utf8');
    const names = text.match(/import [^;]*from 'node:fs(?:\/promises)?';/)?.[0] ?? '';
    t.notMatch(names, /promises|\b(?:open|writeFile|appendFile|copyFile|cp|link|symlink|chmod|chown|truncate|mkdtemp)\b/, file);
  }
});
