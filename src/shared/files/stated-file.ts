import { constants } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { fsPath } from './fs-path.js';

/**
 * Reads as many bytes as the system states that a file has, latin1: a pipe or a device has none, however much it would give. Throws the
 * system's error, or why the file is none that can be held.
 */
export function readStated(path: string): string {
  const fd = openSync(fsPath(path), 'r');
  try {
    const { size } = fstatSync(fd);
    if (size > constants.MAX_STRING_LENGTH) {
      throw new RangeError(`it has ${size} bytes, and ${constants.MAX_STRING_LENGTH} are the most`);
    }
    const bytes = Buffer.alloc(size);
    for (let at = 0; at < size; ) {
      const count = readSync(fd, bytes, at, size - at, at);
      if (count === 0) {
        throw new RangeError(`it has ${at} bytes instead of ${size}`);
      }
      at += count;
    }
    return bytes.toString('latin1');
  } finally {
    closeSync(fd);
  }
}
