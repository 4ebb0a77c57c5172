import { parseSize } from '../../shared/config/language/units.js';
import { ERROR } from '../../shared/log/level.js';
import type { ClientTask } from './client-task.js';

/** The size, in bytes, that a setting with variables came to; 0, and a line in the log, for none. nginx: ngx_http_complex_value_size */
export function sizeOf(task: Pick<ClientTask, 'log'>, text: string): number {
  const size = parseSize(text);
  if (size === undefined) {
    task.log(ERROR, `invalid size "${text}"`);
  }
  return size ?? 0;
}
