import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Scene } from './prefix.js';

/** Two keys that machines of a fleet may have. */
export const KEY = '0123456789abcdef'.repeat(4);
export const OTHER_KEY: string = 'f'.repeat(64);

/** Writes a key to a file that nobody else may read, and gives its path. It disappears with the test. */
export function keyFile(t: Scene, key: string | Buffer = KEY, mode = 0o600): string {
  const dir = mkdtempSync(`${tmpdir()}/sluice-key-`);
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  chmodSync(dir, 0o755);
  writeFileSync(`${dir}/fleet.key`, key);
  chmodSync(`${dir}/fleet.key`, mode);
  return `${dir}/fleet.key`;
}
