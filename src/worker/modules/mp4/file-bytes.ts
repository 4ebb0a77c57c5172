import { readSync } from 'node:fs';
import { CRIT } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { FileInfo } from '../../files/file-info.js';
import type { Request } from '../../http/request/request.js';
import { inputMemory } from './scratch.js';

/**
 * The bytes `at..at + size` of an open file, which has them unless it shrank meanwhile; nobody may change them, and they are
 * others after the next call. null, with a line in the
 * log, where they cannot be had. nginx: ngx_read_file.
 */
export function bytesOf(r: Request, path: string, info: FileInfo, at: number, size: number): Buffer | null {
  if (info.body !== null) {
    return info.body.subarray(at, at + size);
  }
  const bytes = inputMemory(size);
  let length = 0;
  try {
    while (length < size) {
      const count = readSync(info.fd, bytes, length, size - length, at + length);
      if (count === 0) {
        r.log(CRIT, `pread() read only ${length} of ${size} from "${path}"`);
        return null;
      }
      length += count;
    }
  } catch (error) {
    r.log(CRIT, `pread() "${path}" failed (${errnoText(error)})`);
    return null;
  }
  return bytes;
}
