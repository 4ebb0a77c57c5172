// The only file that imports jose. It is loaded where tokens are encrypted.
import { createRequire } from 'node:module';
import type * as JosePackage from 'jose';

let loaded: typeof JosePackage | undefined;

/** The package: decryption of JWE. */
export function josePackage(): typeof JosePackage {
  loaded ??= createRequire(import.meta.url)('jose') as typeof JosePackage;
  return loaded;
}
