import t from 'tap';
import type { LocationRuntime } from '../../../src/worker/http/request/http-runtime.js';
import type { LocationInfo } from '../../../src/worker/http/request/location-info.js';
import { LocationTree } from '../../../src/worker/http/request/location-tree.js';

const location = (info: LocationInfo): LocationRuntime => ({ info }) as LocationRuntime;
const prefix = (name: string, autoRedirect = false): LocationRuntime => location({ kind: 'prefix', name, autoRedirect });

t.test('the longest prefix is found', async (t) => {
  const tree = new LocationTree(['/', '/a', '/ab/', '/ab/c', '/abc', '/b!'].map((name) => prefix(name)));
  const found = (uri: string) => tree.prefix(uri)?.info.name;
  t.equal(found('/x'), '/');
  t.equal(found('/ab'), '/a');
  t.equal(found('/ab/x'), '/ab/');
  t.equal(found('/ab/cd'), '/ab/c');
  t.equal(found('/abc'), '/abc');
  t.equal(found('/abd'), '/a');
  t.equal(found('x'), undefined);
});

t.test('it agrees with trying every prefix', async (t) => {
  const letters = ['/', 'a', 'b', '!'];
  let seed = 1;
  const random = (n: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % n;
  };
  const word = (): string => Array.from({ length: 1 + random(6) }, () => letters[random(4)]).join('');
  for (let round = 0; round < 200; round++) {
    const names = [...new Set(Array.from({ length: 8 }, word))];
    const tree = new LocationTree(names.map((name) => prefix(name)));
    for (let i = 0; i < 20; i++) {
      const uri = word();
      const longest = names.filter((name) => uri.startsWith(name)).sort((a, b) => b.length - a.length)[0];
      t.equal(tree.prefix(uri)?.info.name, longest, `${uri} among ${names}`);
    }
  }
});

t.test('a location that adds its slash, and exact ones', async (t) => {
  const tree = new LocationTree([prefix('/'), prefix('/x!'), prefix('/x/', true), location({ kind: 'exact', name: '/e' })]);
  t.equal(tree.prefix('/x')?.info.name, '/x/');
  t.equal(tree.exact('/e')?.info.name, '/e');
  t.equal(tree.exact('/x'), undefined);
});
