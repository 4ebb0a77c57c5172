import { isMarkedAsUntransferable } from 'node:worker_threads';
import { byteText } from '../../shared/text/native-text.js';

/** A value that a handler gives as text, one character for a byte. nginx: ngx_js_string. */
export function bytesOf(value: unknown): string {
  if (typeof value === 'string') {
    return byteText(value);
  }
  return bufferOf(value).toString('latin1');
}

/** A value that a handler sends: bytes as they are, everything else as text in UTF-8. @throws what a value throws that has no text. */
export function bufferOf(value: unknown): Buffer {
  if (value === undefined || value === null) {
    return Buffer.alloc(0);
  }
  if (value instanceof ArrayBuffer) {
    refusePool(value);
    return Buffer.from(value);
  }
  if (ArrayBuffer.isView(value)) {
    if (value.byteLength === value.buffer.byteLength) {
      refusePool(value.buffer);
    }
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  return Buffer.from(`${value as string}`, 'utf8');
}

/**
 * Node keeps short Buffers in memory that the whole process shares. A script that gives all of it meant one Buffer. Node marks this memory
 * and what native packages have made alike; its own has one size.
 */
function refusePool(memory: ArrayBufferLike): void {
  if (memory.byteLength === Buffer.poolSize && isMarkedAsUntransferable(memory)) {
    throw new TypeError('the "buffer" of a short Buffer holds bytes of others: give the Buffer itself');
  }
}

/** As {@link bufferOf}. @throws TypeError for what has no text. nginx: ngx_js_string. */
export function givenBuffer(value: unknown): Buffer {
  try {
    return bufferOf(value);
  } catch {
    // What it has thrown is of no interest, as in njs.
    throw new TypeError('failed to get buffer arg');
  }
}

/** A name or key as a script gives it: nothing at all is an empty text. @throws TypeError for a symbol. */
export const givenText = (value: unknown): string => (value === undefined || value === null ? '' : `${value as string}`);

/** An {@link integer} of what njs takes from numbers alone. @throws TypeError for everything else. */
export function givenInteger(value: unknown): number {
  if (typeof value !== 'number') {
    throw new TypeError('invalid number');
  }
  return integer(value);
}

/** A number of a script's without its fraction. @throws TypeError or RangeError for what is none. nginx: ngx_qjs_integer. */
export function integer(value: unknown): number {
  const number = typeof value === 'symbol' || typeof value === 'bigint' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) {
    throw new TypeError('invalid number');
  }
  if (Math.abs(number) >= 2 ** 63) {
    throw new RangeError('number is out of range');
  }
  return Math.trunc(number);
}
