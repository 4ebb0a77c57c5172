import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { fsPath } from '../../../src/shared/files/fs-path.js';

t.equal(fsPath('/srv/www/index.html'), '/srv/www/index.html', 'ASCII stays a string');
t.same(fsPath('/srv/\xc3\xa9'), Buffer.from([0x2f, 0x73, 0x72, 0x76, 0x2f, 0xc3, 0xa9]), 'other bytes become a Buffer');

t.test('a name that is no valid UTF-8 is reachable', async (t) => {
  const dir = t.testdir({});
  mkdirSync(`${dir}/d`);
  const path = fsPath(`${dir}/d/\xff\xfe`);
  writeFileSync(path, 'x');
  t.equal(readFileSync(Buffer.concat([Buffer.from(`${dir}/d/`), Buffer.from([0xff, 0xfe])]), 'latin1'), 'x');
});
