import { spawnSync } from 'node:child_process';
import t from 'tap';
import { root } from './source-files.js';

// scripts/docs.mjs makes the pages of docs/reference from the tables of directives and variables and the files reference.md beside them.
t.test('every directive and variable has its text, and the pages are made of them', async (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${root}scripts/docs.mjs`, '--check'], { encoding: 'utf8' });
  t.equal(stdout, '');
  t.equal(stderr, '');
  t.equal(status, 0);
});
