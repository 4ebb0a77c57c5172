import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

/**
 * A path at which nothing is yet, for a Unix-domain socket; its folder goes with the test. It is short wherever the checkout lies: a
 * socket's path has at most 107 bytes.
 */
export function socketPath(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'socket-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 's');
}
