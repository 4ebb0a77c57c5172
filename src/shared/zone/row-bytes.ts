/**
 * The numbers that a row of a zone holds; none when what is there is no list of numbers, as after a zone's file came to harm. Copied, since
 * the bytes of a row may lie anywhere.
 */
export function floatsOf(bytes: unknown): Float64Array {
  if (!(bytes instanceof Uint8Array) || bytes.length % Float64Array.BYTES_PER_ELEMENT !== 0) {
    return new Float64Array(0);
  }
  const numbers = new Float64Array(bytes.slice().buffer);
  return numbers.every(Number.isFinite) ? numbers : new Float64Array(0);
}

/** Whole numbers from the bytes of a row. */
export function countsOf(bytes: unknown): Uint32Array {
  const whole = bytes instanceof Uint8Array && bytes.length % Uint32Array.BYTES_PER_ELEMENT === 0;
  return whole ? new Uint32Array(bytes.slice().buffer) : new Uint32Array(0);
}

/** Numbers as rows have them. */
export const rowBytes = (numbers: Float64Array | Uint32Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Whether a row has numbers and nothing else; one of a single column is the number itself. */
export function areNumbers(row: unknown): boolean {
  if (!Array.isArray(row)) {
    return typeof row === 'number';
  }
  for (let i = 0; i < row.length; i++) {
    if (typeof row[i] !== 'number') {
      return false;
    }
  }
  return true;
}

/** The object that a text of a row stands for; undefined when it stands for none. */
export function objectOf(text: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
