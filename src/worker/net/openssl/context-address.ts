import { inspect } from 'node:util';

/** Node's own context. */
interface NativeContext {
  readonly _external?: unknown;
}

/** Where OpenSSL has Node's native context, for as long as that is there. Node says so for people to read alone; throws an Error if not. */
export function contextAddress(context: unknown): number {
  const shown = /^\[External: ([0-9a-f]{1,13})\]$/.exec(inspect((context as NativeContext)._external, { colors: false }));
  if (shown === null) {
    throw new Error('Node shows no address of a context');
  }
  return Number.parseInt(shown[1]!, 16);
}
