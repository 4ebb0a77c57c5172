import { byteText, nativeText } from '../../shared/lib/native-text.js';
import { ERROR as ERR, type Level } from '../../shared/log/level.js';

/** A value that a handler gives as text, one character for a byte. nginx: ngx_js_string. */
export function bytesOf(value: unknown): string {
  if (typeof value === 'string') {
    return byteText(value);
  }
  return bufferOf(value).toString('latin1');
}

/**
 * A variable's value that a handler gave it; undefined when it gave none. A promise comes too late for that, and the log says so.
 * nginx: ngx_http_js_variable_set.
 */
export function valueText(value: unknown, subject: { log(level: Level, message: string): void }, name: string): string | undefined {
  if (value instanceof Promise) {
    subject.log(ERR, `async operation inside "${name}" variable handler`);
    return undefined;
  }
  return value === undefined || value === null ? undefined : bytesOf(value);
}

/** A value that a handler sends: bytes as they are, everything else as text in UTF-8. */
export function bufferOf(value: unknown): Buffer {
  if (value === undefined || value === null) {
    return Buffer.alloc(0);
  }
  if (value instanceof ArrayBuffer) {
    return Buffer.from(value);
  }
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return Buffer.from(String(value), 'utf8');
}

/** Text of one character for a byte as a handler sees it. */
export const textOf = (bytes: string): string => nativeText(bytes);
