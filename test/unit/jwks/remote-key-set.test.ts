import t from 'tap';
import { NamedFiles } from '../../../src/shared/config/named-files.js';
import { RemoteKeySet } from '../../../src/worker/jwks/remote-key-set.js';
import { trustedFetch } from '../../../src/worker/jwks/trusted-fetch.js';
import { startOrigin } from '../../support/origin.js';
import { keySet, sharedKey } from '../../support/tokens.js';

const has = (set: RemoteKeySet, id: string): boolean => set.keys?.keys.some((key) => key.id === id) === true;
const answered = (set: RemoteKeySet): Promise<void> => new Promise((resolve) => set.wait(resolve));

t.test('a key that is not there has the set asked for again, but not at once', async (t) => {
  const origin = await startOrigin(t, { body: keySet(sharedKey('one', 'x')) });
  const scope = trustedFetch('', new NamedFiles(), { resolver: undefined, resolverTimeout: 1000 });
  const lines: string[] = [];
  const set = new RemoteKeySet(`http://127.0.0.1:${origin.port}/`, 3_600_000, scope, { log: (_level, message) => lines.push(message) });
  t.teardown(() => set.close());
  set.ask();
  t.equal(set.keys, undefined);
  t.ok(set.askForNewer(), 'who comes while it is asked for may wait');
  await answered(set);
  t.equal(origin.requests.length, 1);
  t.ok(has(set, 'one'));
  const first = set.keys;
  t.notOk(set.askForNewer(), 'it was just asked for');
  const { now } = performance;
  t.teardown(() => Object.assign(performance, { now }));
  Object.assign(performance, { now: () => now.call(performance) + 10_001 });
  t.ok(set.askForNewer());
  await answered(set);
  t.equal(origin.requests.length, 2);
  t.equal(set.keys, first, 'the same bytes are the same set');
  Object.assign(performance, { now: () => now.call(performance) + 20_002 });
  origin.answer({ body: keySet(sharedKey('two', 'x')) });
  t.ok(set.askForNewer());
  await answered(set);
  t.notOk(has(set, 'one'));
  t.ok(has(set, 'two'));
  let told = false;
  Object.assign(performance, { now: () => now.call(performance) + 40_000 });
  t.ok(set.askForNewer());
  set.wait(() => {
    told = true;
  });
  set.close();
  t.ok(told, 'nobody waits for ever');
  t.notOk(set.askForNewer(), 'no more questions');
  t.equal(lines.filter((line) => line.includes('was had')).length, 3);
});
