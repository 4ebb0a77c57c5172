// Freezes what code in a thread with `js_isolation ... allow=` has in common with the code that runs it, so that the former can lay
// no hands on what the latter, or Node, calls: a method of Array or of EventTarget that were replaced would be given objects that
// nobody grants.

type Key = string | symbol;

/**
 * Names that packages assign on objects of their own although a prototype has them, as `error.message`: what is frozen would refuse that.
 * They become properties that, assigned, make one of the object's own.
 */
const ASSIGNED = new Set<Key>([
  'constructor',
  'toString',
  'toLocaleString',
  'valueOf',
  'hasOwnProperty',
  'toJSON',
  'name',
  'message',
  'stack',
  'length',
]);

/** Prototypes all of whose properties may be assigned on what inherits from them, as older classes do. */
const isBase = (value: object): boolean =>
  value === Object.prototype || value === Error.prototype || value instanceof Error || (typeof value === 'object' && 'emit' in value);

const defineOwn = Object.defineProperty;
const getOwn = Object.getOwnPropertyDescriptor;

function letAssign(holder: object, key: Key, value: unknown, enumerable: boolean): void {
  defineOwn(holder, key, {
    enumerable,
    configurable: false,
    get: () => value,
    set(this: unknown, own: unknown) {
      if (this === holder || (typeof this !== 'object' && typeof this !== 'function') || this === null) {
        throw new TypeError(`Cannot assign to read only property '${String(key)}'`);
      }
      const there = getOwn(this, key);
      if (there === undefined) {
        defineOwn(this, key, { value: own, writable: true, enumerable: true, configurable: true });
      } else {
        Reflect.set(this, key, own);
      }
    },
  });
}

/** Functions and objects that no name leads to, but every loop and every `await` uses. */
function unnamed(): object[] {
  const proto = (value: unknown): object => Object.getPrototypeOf(value) as object;
  async function* asyncGenerator(): AsyncGenerator<number> {
    yield 1;
  }
  function* generator(): Generator<number> {
    yield 1;
  }
  const async = async (): Promise<void> => undefined;
  return [
    proto([][Symbol.iterator]()),
    proto(''[Symbol.iterator]()),
    proto(new Map()[Symbol.iterator]()),
    proto(new Set()[Symbol.iterator]()),
    proto(''.matchAll(/a/g)),
    proto(Uint8Array),
    proto(generator),
    proto(asyncGenerator),
    proto(async),
    proto(new URLSearchParams()[Symbol.iterator]()),
    proto(new Headers()[Symbol.iterator]()),
    proto(proto([][Symbol.iterator]())),
    proto(proto(asyncGenerator())),
  ];
}

/** As freezing does, but for flags that Node has on a prototype so that its objects can assign them, and that nobody can make
 * otherwise. */
function fixBase(base: object): void {
  for (const key of Reflect.ownKeys(base)) {
    const found = getOwn(base, key)!;
    if (found.configurable === true) {
      defineOwn(base, key, 'value' in found ? { writable: false, configurable: false } : { configurable: false });
    }
  }
  Object.preventExtensions(base);
}

/** What Node and the language have keeps its name; others can be added. */
function fixNames(global: object): void {
  for (const key of Reflect.ownKeys(global)) {
    const found = getOwn(global, key)!;
    if (found.configurable === true) {
      defineOwn(global, key, 'value' in found ? { writable: false, configurable: false } : { configurable: false });
    }
  }
}

/** Freezes objects and all that can be reached from them, but for what `skipped` has. */
export function harden(roots: readonly object[], skipped: ReadonlySet<unknown>): void {
  const seen = new Set<object>();
  const rest: object[] = [...unnamed(), ...roots];
  const want = (value: unknown): void => {
    if (((typeof value === 'object' && value !== null) || typeof value === 'function') && !seen.has(value) && !skipped.has(value)) {
      rest.push(value);
    }
  };
  for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
    if (seen.has(one) || ArrayBuffer.isView(one)) {
      continue;
    }
    seen.add(one);
    want(Object.getPrototypeOf(one));
    const base = one !== globalThis && isBase(one);
    for (const key of Reflect.ownKeys(one)) {
      const found = getOwn(one, key)!;
      if ('value' in found) {
        want(found.value);
        if (
          found.configurable === true &&
          found.writable === true &&
          (base || (ASSIGNED.has(key) && (typeof one === 'object' || one === Function.prototype)))
        ) {
          letAssign(one, key, found.value, found.enumerable === true);
        }
      } else {
        want(found.get);
        want(found.set);
      }
    }
    if (one === globalThis) {
      fixNames(one);
    } else if (base) {
      fixBase(one);
    } else {
      Object.freeze(one);
    }
  }
}
