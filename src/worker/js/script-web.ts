import { FetchHeaders } from './fetch-headers.js';
import { describeRequest, FetchRequest, FetchResponse, isPlain, responseOf } from './fetch-message.js';
import { currentTask } from './task.js';

// `Headers`, `Request` and `Response` as the user's files find them: in handlers of njs they make njs's objects, which have what the web's
// have too; anywhere else, and where a body is a stream, they make the web's.

const inNjs = (): boolean => currentTask()?.owner.njs === true;

type AnyClass = abstract new (...args: never[]) => object;
type Make = (args: readonly unknown[]) => object;

/** A class that njs's programs may call without `new`. What it does not make itself, the web's class does. */
function scriptClass(name: 'Headers' | 'Request' | 'Response', ours: AnyClass, make: Make): unknown {
  // Node loads its own when somebody names it.
  const web = (): AnyClass => globalThis[name];
  const isOne = (value: unknown): boolean => value instanceof ours || value instanceof web();
  // biome-ignore lint/complexity/useArrowFunction: an arrow function is no constructor, and the prototype of a class is fixed
  const made: unknown = new Proxy(function () {}, {
    apply: (_target, _this, args: unknown[]) => make(args),
    construct(_target, args: unknown[], by) {
      // A class of the user's may extend it.
      return by === made && inNjs() ? make(args) : (Reflect.construct(web(), args, by === made ? web() : by) as object);
    },
    get: (_target, member) =>
      member === Symbol.hasInstance ? isOne : member === 'name' ? name : (Reflect.get(web(), member, web()) as unknown),
    has: (_target, member) => Reflect.has(web(), member),
  });
  return made;
}

const webOr = (name: 'Request' | 'Response', body: unknown, args: readonly unknown[], make: () => object): object =>
  isPlain(body) ? make() : (Reflect.construct(globalThis[name], args) as object);

const bodyIn = (init: unknown): unknown =>
  typeof init === 'object' && init !== null ? (init as { readonly body?: unknown }).body : undefined;

/** What the user's files find under the names of the web's classes. */
export const scriptWeb = (): Readonly<Record<string, unknown>> => ({
  Headers: scriptClass('Headers', FetchHeaders, ([init]) => new FetchHeaders(init as object)),
  Request: scriptClass('Request', FetchRequest, (args) =>
    webOr('Request', bodyIn(args[1]), args, () => {
      const described = describeRequest(args[0], args[1]);
      return Buffer.isBuffer(described.body) ? new FetchRequest({ ...described, body: described.body }) : Reflect.construct(Request, args);
    }),
  ),
  Response: scriptClass('Response', FetchResponse, (args) => webOr('Response', args[0], args, () => responseOf(args[0], args[1]))),
});
