import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Has the system forget what it has of a file in memory, where the file system allows that: who reads it next waits for the disk. */
export function makeCold(path: string): void {
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
  execFileSync('dd', [`if=${path}`, 'of=/dev/null', 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
}
