import { constants } from 'node:buffer';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { fsPath } from '../files/fs-path.js';
import { readFull } from '../files/read-full.js';
import { ConfigError, withErrno } from './errors.js';
import type { Pos } from './language/ast.js';

const MISSING = 'a relative name starts at the folder of the main file; a pattern such as `conf.d/*.conf` may match nothing';

/**
 * Reads a configuration file as latin1 text. As nginx does, it takes the size the system states, so that a pipe or a device is empty
 * and a directory fails to be read, not to be opened. nginx: ngx_conf_parse, ngx_conf_read_token
 *
 * @param from Where the file is included, for the message.
 * @throws ConfigError
 */
export function readConfigFile(path: string, from: Pos | undefined): string {
  let fd: number;
  try {
    fd = openSync(fsPath(path), 'r');
  } catch (err) {
    const hint = from !== undefined && (err as NodeJS.ErrnoException).code === 'ENOENT' ? MISSING : undefined;
    throw new ConfigError(withErrno(`open() "${path}" failed`, err), from, { hint });
  }
  try {
    const size = fstatSync(fd).size;
    if (size > constants.MAX_STRING_LENGTH) {
      throw new ConfigError(`"${path}" is too large`, from);
    }
    const content = Buffer.allocUnsafe(size);
    const read = readFully(fd, path, content);
    if (read !== size) {
      throw new ConfigError(`pread() returned only ${read} bytes instead of ${size}`, { file: path, line: 1, column: 1 });
    }
    return content.toString('latin1');
  } finally {
    closeSync(fd);
  }
}

function readFully(fd: number, path: string, into: Buffer): number {
  try {
    return readFull(fd, into);
  } catch (err) {
    throw new ConfigError(withErrno(`pread() "${path}" failed`, err), undefined, { level: 'crit' });
  }
}
