import t from 'tap';
import { cacheFilePath, isEntryName, tempName, tempOwner } from '../../../src/worker/cache/path.js';
import { variantHash } from '../../../src/worker/cache/vary.js';
import { md5Hex } from '../../../src/worker/digest/md5.js';

t.test('the folders are cut from the end of the digest', (t) => {
  const hash = md5Hex('/cached/');
  t.equal(cacheFilePath('/c', [1, 2], hash), `/c/${hash.slice(31)}/${hash.slice(29, 31)}/${hash}`);
  t.equal(cacheFilePath('/c', [2, 2, 1], hash), `/c/${hash.slice(30)}/${hash.slice(28, 30)}/${hash.slice(27, 28)}/${hash}`);
  t.equal(cacheFilePath('/c', [], hash), `/c/${hash}`);
  t.end();
});

t.test('entries and files under way are told apart', (t) => {
  const hash = md5Hex('x');
  t.ok(isEntryName(hash));
  for (const name of ['', 'x', hash.slice(1), `${hash}0`, hash.toUpperCase(), tempName(hash, 1, 2)]) {
    t.notOk(isEntryName(name), name);
  }
  t.equal(tempOwner(tempName(hash, 4711, 2)), 4711);
  t.equal(tempOwner(hash), undefined);
  t.end();
});

t.test('variants have names of their own', (t) => {
  const main = md5Hex('key');
  t.not(variantHash(main, 'a:1\r\n'), variantHash(main, 'a:2\r\n'));
  t.ok(isEntryName(variantHash(main, '')));
  t.end();
});
