import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { collectionInPieces } from '../../../src/shared/native/memory-pressure.js';

t.test('V8 collects garbage without being short of memory', async (t) => {
  const begin = collectionInPieces();
  if (begin === undefined) {
    t.comment('this build of Node exports no such functions');
    return;
  }
  let told: () => void = () => {};
  const gone = new Promise<void>((done) => {
    told = done;
  });
  const registry = new FinalizationRegistry(() => told());
  registry.register(
    Array.from({ length: 1000 }, (_, i) => ({ i })),
    undefined,
  );
  // What was made in this turn is still in use.
  await turn();
  begin();
  const alive = setInterval(() => {}, 1000);
  await gone;
  clearInterval(alive);
  t.ok(registry, 'what is registered is gone');
});
