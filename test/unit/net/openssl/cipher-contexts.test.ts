import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { CipherContexts, ContextUser } from '../../../../src/worker/net/openssl/cipher-contexts.js';
import type { EvpCalls } from '../../../../src/worker/net/openssl/quic-library.js';

const LOOK = 5;

/** A key, as far as contexts are concerned: counts how often it was put into one. */
class Key extends ContextUser {
  prepared = 0;

  prepare(): void {
    this.prepared++;
  }

  use(contexts: CipherContexts): number {
    this.used = true;
    return this.context === 0 ? contexts.lend(this) : this.context;
  }
}

/** Contexts that are numbers, and those of them that were not freed. */
function counted(most: number) {
  const live = new Set<number>();
  let made = 0;
  const evp = {
    newContext: () => {
      live.add(++made);
      return made;
    },
    freeContext: (context: number) => {
      if (!live.delete(context)) {
        throw new Error('freed twice');
      }
    },
  } as unknown as EvpCalls;
  return { live, contexts: new CipherContexts(evp, () => {}, most, LOOK) };
}

/** Resolves once a condition holds that a look of the contexts brings about. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await sleep(LOOK);
  }
}

t.test('what nobody uses is freed, and made again for who needs it', async (t) => {
  const { live, contexts } = counted(8);
  const [first, second] = [new Key(), new Key()];
  t.not(first.use(contexts), second.use(contexts));
  t.equal(first.use(contexts), first.context, 'a context stays with its key');
  contexts.giveBack(second);
  await until(() => live.size === 0);
  t.strictSame([first.context, first.place], [0, -1]);
  first.use(contexts);
  second.use(contexts);
  t.strictSame([first.prepared, second.prepared, live.size], [2, 2, 2]);
  t.not(first.context, second.context);
  contexts.giveBack(first);
  contexts.giveBack(first);
  contexts.giveBack(second);
  await until(() => live.size === 0);
});

t.test('what is used stays', async (t) => {
  const { live, contexts } = counted(8);
  const [idle, busy] = [new Key(), new Key()];
  idle.use(contexts);
  busy.use(contexts);
  await until(() => {
    busy.use(contexts);
    return live.size === 1;
  });
  t.strictSame([idle.prepared, busy.prepared], [1, 1]);
  t.ok(live.has(busy.context));
});

t.test('there are no more than so many, whoever comes and goes', async (t) => {
  const { live, contexts } = counted(4);
  const keys = Array.from({ length: 16 }, () => new Key());
  for (let round = 0; round < 200; round++) {
    const key = keys[(round * 7) % keys.length]!;
    const context = key.use(contexts);
    t.ok(live.has(context));
    t.equal(keys.filter((each) => each.context === context).length, 1, 'a context has one key');
    t.ok(live.size <= 4);
    if (round % 5 === 0) {
      contexts.giveBack(key);
    }
    if (round % 50 === 49) {
      await until(() => live.size === 0);
    }
  }
});
