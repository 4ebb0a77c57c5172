import { readFull } from '../../../shared/files/read-full.js';
import { CRIT } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { FileInfo } from '../../files/file-info.js';
import type { Request } from '../../http/request/request.js';
import { inputMemory } from './scratch.js';

/**
 * The bytes `at..at + size` of an open file, which has them unless it shrank meanwhile; nobody may change them, and they are
 * others after the next call. null, with a line in the log, where they cannot be had. nginx: ngx_read_file.
 */
export function bytesOf(r: Request, path: string, info: FileInfo, at: number, size: number): Buffer | null {
  if (info.body !== null) {
    return info.body.subarray(at, at + size);
  }
  const bytes = inputMemory(size);
  try {
    const length = readFull(info.fd, bytes, at);
    if (length < size) {
      r.log(CRIT, `pread() read only ${length} of ${size} from "${path}"`);
      return null;
    }
  } catch (error) {
    r.log(CRIT, `pread() "${path}" failed (${errnoText(error)})`);
    return null;
  }
  return bytes;
}
