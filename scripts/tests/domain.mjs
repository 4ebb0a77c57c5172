// Gives an error that nobody has caught to the test that runs, in the place of the package `async-hook-domain` in tap. That one follows
// each promise, timer and socket of a test with hooks, which cost more than most of these do. The tests of a file run one after the other,
// so an error belongs to the innermost one that has begun.
import { executionAsyncResource } from 'node:async_hooks';

/**
 * A resource within which tap makes the domain of a test.
 * @typedef {{ readonly test?: { readonly started: boolean } }} Wrap
 */

/**
 * Those that have not been destroyed, in the order in which they were made.
 * @type {Domain[]}
 */
const living = [];

export class Domain {
  /**
   * The test that it was made for; undefined for one that stands behind all tests.
   * @readonly
   */
  test = /** @type {Wrap} */ (executionAsyncResource()).test;

  /** @param {(error: unknown, type: string) => void} onerror */
  constructor(onerror) {
    this.onerror = onerror;
    living.push(this);
  }

  destroy() {
    const at = living.indexOf(this);
    if (at >= 0) {
      living.splice(at, 1);
    }
  }
}

/**
 * Tells a test of an error; false when there is none, or when something else cares for such errors.
 * @param {unknown} error
 * @param {string} type
 * @returns {boolean}
 */
function tell(error, type) {
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) {
    return false;
  }
  const domain = living.findLast(({ test }) => test?.started) ?? living.findLast(({ test }) => test === undefined);
  if (domain === undefined) {
    return false;
  }
  try {
    domain.onerror(error, type);
    return true;
  } catch (another) {
    domain.destroy();
    return tell(another, type);
  }
}

process.on('uncaughtExceptionMonitor', (error, type) => {
  if (tell(error, type)) {
    // Node asks this next, and then goes on.
    process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null));
  }
});

process.on('unhandledRejection', function told(reason) {
  if (process.listeners('unhandledRejection').every((listener) => listener === told) && !tell(reason, 'unhandledRejection')) {
    throw reason;
  }
});
