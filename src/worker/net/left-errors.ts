import { loadLibrary } from '../../shared/native/native.js';
import { spoils } from '../../shared/system/spoil.js';

let peek: (() => number) | undefined;

/**
 * In builds for tests: throws where OpenSSL has an error that somebody left behind. All connections of a thread share the queue of errors,
 * and Node's ciphers take what lies in it for an error of whichever connection they read next.
 */
export function checkLeftErrors(): void {
  if (!spoils) {
    return;
  }
  if (peek === undefined) {
    const library = loadLibrary();
    peek = typeof library === 'string' ? () => 0 : library.find('unsigned long ERR_peek_error()');
  }
  const left = peek();
  if (left !== 0) {
    throw new Error(`OpenSSL keeps error ${left.toString(16)} of another call`);
  }
}
