import { inspect } from 'node:util';

/** Node's own context. */
interface NativeContext {
  readonly _external?: unknown;
}

/** Where OpenSSL has Node's native context, for as long as that is there. Node says so only for people to read; throws an Error where not. */
export function contextAddress(context: unknown): number {
  const shown = /^\[External: ([0-9a-f]{1,13})\]$/.exec(inspect((context as NativeContext)._external, { colors: false }));
  if (shown === null) {
    throw new Error('Node shows no address of a context');
  }
  return Number.parseInt(shown[1]!, 16);
}
