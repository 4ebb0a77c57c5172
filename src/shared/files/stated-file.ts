import { constants } from 'node:buffer';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { fsPath } from './fs-path.js';
import { readFull } from './read-full.js';

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
    const length = readFull(fd, bytes);
    if (length < size) {
      throw new RangeError(`it has ${length} bytes instead of ${size}`);
    }
    return bytes.toString('latin1');
  } finally {
    closeSync(fd);
  }
}
