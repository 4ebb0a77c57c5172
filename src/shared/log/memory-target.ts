import type { Level } from './level.js';
import type { LogTarget } from './log-target.js';

/**
 * A target that keeps the latest lines in `size` bytes of memory, for `error_log memory:SIZE`. Nothing is written anywhere; the buffer
 * begins with a line `MEMLOG SIZE FILE:LINE`, by which it is found in a core dump. nginx: ngx_log_memory_writer.
 */
export function memoryTarget(size: number, where: string, level: Level, json: boolean): LogTarget & { readonly buffer: Buffer } {
  const buffer = Buffer.alloc(size, ' ');
  const start = buffer.write(`MEMLOG ${size} ${where}\n`, 'latin1');
  let at = start;
  return {
    level,
    json,
    buffer,
    write(_level, line) {
      let rest = line;
      while (rest !== '') {
        const written = buffer.write(rest, at, 'latin1');
        at = at + written < size ? at + written : start;
        rest = rest.slice(written);
      }
    },
  };
}
