import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { type ReservedPort, reservePort } from './ports.js';

/** Whatever ends at some time, and with it what was started for it: a test, or a script's run. */
export type Scene = Pick<Test, 'teardown'>;

/** Files to put under a prefix, by their path relative to it. A text is written as UTF-8. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A temporary prefix of the server with the ports that its configuration asked for. */
export interface Prefix {
  /** Without a slash at the end. */
  readonly dir: string;
  /** The port that stands for %%PORT_n%%. */
  port(n: number): number;
  /** Replaces %%DIR%% and %%PORT_n%%, reserving ports that were not asked for before. */
  expand(text: string): Promise<string>;
  /** Writes a file under the prefix, with its folders; a text is expanded as the configuration is. */
  write(path: string, content: string | Uint8Array): Promise<void>;
}

/**
 * Makes a temporary prefix that every user may read (workers of a server started by root belong to nobody), with a folder
 * for logs; it disappears with the test.
 */
export async function makePrefix(t: Scene, files: Files = {}): Promise<Prefix> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-'));
  const ports = new Map<number, ReservedPort>();
  t.teardown(() => {
    for (const { release } of ports.values()) {
      release();
    }
    rmSync(dir, { recursive: true, force: true });
  });
  chmodSync(dir, 0o755);
  mkdirSync(`${dir}/logs`);

  const prefix: Prefix = {
    dir,
    port(n) {
      const reserved = ports.get(n);
      if (reserved === undefined) {
        throw new RangeError(`no %%PORT_${n}%% in the configuration`);
      }
      return reserved.port;
    },
    async expand(text) {
      for (const [, n] of text.matchAll(/%%PORT_(\d+)%%/g)) {
        if (!ports.has(Number(n))) {
          ports.set(Number(n), await reservePort());
        }
      }
      return text.replaceAll('%%DIR%%', dir).replace(/%%PORT_(\d+)%%/g, (_, n) => String(prefix.port(Number(n))));
    },
    async write(path, content) {
      mkdirSync(dirname(`${dir}/${path}`), { recursive: true });
      writeFileSync(`${dir}/${path}`, typeof content === 'string' ? await prefix.expand(content) : content);
    },
  };
  for (const [path, content] of Object.entries(files)) {
    await prefix.write(path, content);
  }
  return prefix;
}
