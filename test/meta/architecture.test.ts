import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { filesBelow, root } from './source-files.js';

const page = readFileSync(`${root}ARCHITECTURE.md`, 'utf8');

/** The folders and files that the tree of the page names, below `src/`. */
function namedIn(text: string): string[] {
  const tree = /^## The tree\n\n```\n([\s\S]*?)\n```/m.exec(text)![1]!;
  const named: string[] = [];
  let top = '';
  for (const line of tree.split('\n')) {
    const heading = /^src\/(\w+)\/ /.exec(line);
    if (heading !== null) {
      top = heading[1]!;
    } else if (!line.startsWith('  ')) {
      top = '';
    } else if (top !== '') {
      const [names] = line.trim().split(/ {2,}| (?!\S+(?:\/|\.ts)(?: |$))/);
      named.push(...names!.split(' ').map((name) => `${top}/${name.replace(/\/$/, '')}`));
    }
  }
  return named;
}

/** The folders that have source files, the modules' as one, and the files that stand beside folders. */
function rooms(): Set<string> {
  const found = new Set<string>();
  for (const file of filesBelow('src', '.ts')) {
    if (file.startsWith('worker/modules/')) {
      found.add('worker/modules');
    } else {
      found.add(/^\w+\/[^/]+$/.test(file) ? file : dirname(file));
    }
  }
  return found;
}

t.test('the tree of ARCHITECTURE.md is the tree of src/', async (t) => {
  const named = namedIn(page);
  t.strictSame(named.toSorted(), [...rooms()].sort());
  t.equal(new Set(named).size, named.length, 'each once');
  const without = page.replace(' operations/ ', ' ');
  t.notOk(namedIn(without).includes('master/operations'), 'a folder that is missing would be');
});

t.test('the files that ARCHITECTURE.md names are there', async (t) => {
  const files = filesBelow('src', '.ts');
  const below = page.slice(page.indexOf('## Where does it go?'), page.indexOf('## Rules that'));
  const named = [...below.matchAll(/`((?:[\w-]+\/)+[\w-]+\.ts)`/g)].map(([, file]) => file!);
  t.ok(named.length > 5);
  const missing = named.filter((file) => !files.includes(file) && !files.includes(`worker/${file}`));
  t.strictSame(
    missing.filter((file) => !file.includes('NAME') && file !== 'test/meta/imports.test.ts' && !file.startsWith('modules/limit-req')),
    [],
  );
});
