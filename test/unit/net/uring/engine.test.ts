import t from 'tap';
import { loadNative, type Native } from '../../../../src/shared/native/native.js';
import { Kind, type RingEndpoint, UringEngine } from '../../../../src/shared/net/uring/engine.js';
import { Ring } from '../../../../src/shared/net/uring/ring.js';
import { needsRing } from '../../../support/ring.js';

/** A ring whose completions are those that it is told to have. */
class ToldRing extends Ring {
  readonly told: { tag: number; generation: number; result: number; flags: number }[] = [];

  override get more(): boolean {
    return this.told.length > 0 || super.more;
  }

  override next(): boolean {
    const one = this.told.shift();
    Object.assign(this, one);
    return one !== undefined || super.next();
  }
}

/** Notes what it is told, and throws when its name says so. */
class Noting implements RingEndpoint {
  readonly #name: string;
  readonly #events: string[];

  constructor(name: string, events: string[]) {
    this.#name = name;
    this.#events = events;
  }

  #note(event: string): void {
    this.#events.push(`${this.#name} ${event}`);
    if (this.#name === 'faulty') {
      throw new Error('on purpose');
    }
  }

  completed(): void {
    this.#note('completed');
  }

  submit(): boolean {
    this.#note('submits');
    return true;
  }
}

/** An engine with a told ring, and three endpoints of which the second is faulty. */
function three() {
  const native = loadNative() as Native;
  const ring = new ToldRing(native);
  const engine = new UringEngine(native, ring);
  const events: string[] = [];
  const endpoints = ['first', 'faulty', 'last'].map((name) => new Noting(name, events));
  return { ring, engine, events, endpoints };
}

t.test('a thread that waits waits for no disk, where the kernel can be told so', needsRing, (t) => {
  const native = loadNative() as Native;
  const [noWait, told] = [1 << 17, 1 << 7];
  for (const known of [0, noWait]) {
    const flags: number[] = [];
    const ring = new Ring({
      ...native,
      ringSetup(entries, params) {
        const fd = native.ringSetup(entries, params);
        params[5] = (params[5]! & ~noWait) | known;
        return fd;
      },
      ringEnter(_fd, _submit, _wait, given) {
        flags.push(given);
        return 0;
      },
    });
    ring.enter();
    ring.enterAndWait(-1);
    ring.enterAndWait(1);
    t.strictSame(
      flags.map((given) => given & told),
      known === 0 ? [0, 0, 0] : [0, told, told],
    );
    ring.dispose();
  }
  t.end();
});

t.test('an error of one connection keeps no other from its turn', needsRing, (t) => {
  const { engine, events, endpoints } = three();
  const seen = (error: Error): void => {
    events.push(error.message);
  };
  process.once('uncaughtException', seen);
  for (const endpoint of endpoints) {
    engine.ask(endpoint);
  }
  const wait = (turns: number): void => {
    if (turns > 0) {
      setImmediate(wait, turns - 1);
      return;
    }
    process.off('uncaughtException', seen);
    t.strictSame(events, ['first submits', 'faulty submits', 'on purpose', 'last submits']);
    t.end();
  };
  wait(5);
});

t.test('nor from its completions', needsRing, (t) => {
  const { ring, engine, events, endpoints } = three();
  for (const endpoint of endpoints) {
    const index = engine.add(endpoint);
    ring.told.push({ tag: engine.tag(Kind.SEND, index), generation: engine.generation(index), result: 0, flags: 0 });
  }
  t.throws(() => engine.run(), { message: 'on purpose' });
  engine.run();
  t.strictSame(events, ['first completed', 'faulty completed', 'last completed']);
  t.end();
});

t.test('a completion of an endpoint that is gone, or of one that never was, breaks the ring', needsRing, (t) => {
  const { ring, engine, events, endpoints } = three();
  const endpoint = endpoints[0] as Noting;
  const index = engine.add(endpoint);
  const of = (tag: number, generation: number): void => {
    ring.told.push({ tag, generation, result: 1, flags: 0 });
    t.throws(() => engine.run(), { name: 'RingError' });
  };
  const tag = engine.tag(Kind.RECEIVE, index);
  const generation = engine.generation(index);
  of(tag, generation + 1);
  of(engine.tag(Kind.RECEIVE, index + 1), 1);
  engine.remove(index);
  of(tag, generation);
  t.equal(engine.add(endpoints[2] as Noting), index, 'the number is used again');
  of(tag, generation);
  t.strictSame(events, []);
  ring.told.push({ tag: 0, generation: 0, result: -2, flags: 0 });
  engine.run();
  t.pass('what nobody asked to hear of is nobody’s');
  t.end();
});

t.teardown(() => process.exit());
