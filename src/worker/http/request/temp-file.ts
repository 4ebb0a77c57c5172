import { mkdirSync, openSync } from 'node:fs';
import { errnoText } from '../../../shared/lib/errno.js';
import { fsPath } from '../../../shared/lib/fs-path.js';
import type { TempPath } from './location-settings.js';

/** An open temporary file. */
export interface TempFile {
  readonly path: string;
  readonly fd: number;
}

let counter = Math.floor(Math.random() * 1000);

/** The place of a numbered file under hashed sub-folders taken from the number's end. nginx: ngx_create_hashed_filename. */
function hashedName(base: TempPath, name: string): string {
  let path = base.path;
  let end = name.length;
  for (const level of base.levels) {
    path += `/${name.slice(end - level, end)}`;
    end -= level;
  }
  return `${path}/${name}`;
}

/** Makes a new temporary file, private to the user. Throws with nginx's message when it cannot. nginx: ngx_create_temp_file. */
export function openTempFile(base: TempPath): TempFile {
  for (;;) {
    counter = (counter + 1) % 10_000_000_000;
    const path = hashedName(base, String(process.pid % 1000).padStart(3, '0') + String(counter).padStart(7, '0'));
    try {
      return { path, fd: openSync(fsPath(path), 'wx+', 0o600) };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EEXIST') {
        continue;
      }
      if (code !== 'ENOENT') {
        throw new Error(`open() "${path}" failed (${errnoText(error)})`);
      }
      const folder = path.slice(0, path.lastIndexOf('/'));
      try {
        mkdirSync(fsPath(folder), { recursive: true, mode: 0o700 });
      } catch (failure) {
        throw new Error(`mkdir() "${folder}" failed (${errnoText(failure)})`);
      }
    }
  }
}
