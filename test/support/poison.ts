import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** The tests run against a build in which memory that nobody has written holds a pattern: see scripts/poison.mjs. */
const active = process.env['SLUICE_TEST_POISON'] === '1';

/** What is left of the pattern wherever one begins to read it. */
const PATTERNS = ['zQxJ', 'QxJz', 'xJzQ', 'JzQx'];

/** Throws when bytes (or a text) hold memory of the server that nobody had written, or that had been given back. `what`: where they are. */
export function assertUnpoisoned(bytes: Buffer | string, what: string): void {
  if (!active) {
    return;
  }
  for (const pattern of PATTERNS) {
    const at = typeof bytes === 'string' ? bytes.indexOf(pattern) : bytes.indexOf(pattern, 0, 'latin1');
    if (at !== -1) {
      const near = bytes.toString('latin1').slice(Math.max(0, at - 200), at + 200);
      throw new Error(`${what} has poison at ${at}: ${JSON.stringify(near)}`);
    }
  }
}

/** Looks at all that a connection brings; what is wrong ends the test's process. `what`: who sees it. */
export function watchForPoison(socket: Socket, what: string): void {
  if (!active) {
    return;
  }
  let last = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer | string) => {
    const piece = Buffer.concat([last, typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes]);
    assertUnpoisoned(piece, what);
    last = Buffer.from(piece.subarray(-3));
  });
}

/** What is wrong with the files below a folder, such as logs, temporary files and those of a cache. */
export function poisonedFiles(folder: string): string[] {
  if (!active) {
    return [];
  }
  const problems: string[] = [];
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = `${folder}/${name}`;
    try {
      if (lstatSync(path).isFile()) {
        assertUnpoisoned(readFileSync(path), path);
      }
    } catch (error) {
      if (!('code' in (error as Error))) {
        problems.push((error as Error).message);
      }
    }
  }
  return problems;
}
