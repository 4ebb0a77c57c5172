import type { SecureContext } from 'node:tls';
import { contextAddress } from './context-address.js';
import { loadContextCalls } from './library.js';

/**
 * Has a server's context forget what OpenSSL says of a client's certificate behind the verdict, such as of a signature that is none. Node
 * takes that for an error of the connection, where the certificate is to be told of in a response. Without koffi, the connection ends.
 */
export function clearAfterChecks({ context }: SecureContext): void {
  const calls = loadContextCalls();
  if (typeof calls !== 'string') {
    calls.clearAfterChecks(contextAddress(context));
  }
}
