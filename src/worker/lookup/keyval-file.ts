import { readFileSync } from 'node:fs';
import { fsPath } from '../../shared/files/fs-path.js';
import { replaceStateFile } from '../../shared/files/state-file.js';
import { byteText, nativeText } from '../../shared/text/native-text.js';
import type { KeyvalRecord } from './keyval-index.js';

/** A disk may take long, and the writer holds a zone. */
const LATER = { onDisk: 'after' } as const;

/**
 * Writes the pairs of a zone as a JSON object, a line for each: `"key": "value"`, or `"key": {"value": "value", "expires": "time"}` for one
 * that ends. Whoever opens the file finds it whole. Throws the system's error.
 */
export function writeKeyvalFile(path: string, pairs: Iterable<readonly [key: string, record: KeyvalRecord]>): void {
  const lines: string[] = [];
  for (const [key, { value, expires }] of pairs) {
    const shown =
      expires === Number.POSITIVE_INFINITY ? nativeText(value) : { value: nativeText(value), expires: new Date(expires).toISOString() };
    lines.push(`  ${JSON.stringify(nativeText(key))}: ${JSON.stringify(shown)}`);
  }
  replaceStateFile(path, Buffer.from(lines.length === 0 ? '{}\n' : `{\n${lines.join(',\n')}\n}\n`), LATER);
}

/**
 * Reads what {@link writeKeyvalFile} wrote; times that are over are left to the reader. undefined: there is no file. Throws the system's
 * error, or one that says what is wrong with the text.
 */
export function readKeyvalFile(path: string): Map<string, KeyvalRecord> | undefined {
  let text: string;
  try {
    text = readFileSync(fsPath(path), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
  const records = new Map<string, KeyvalRecord>();
  const object: unknown = text.trim() === '' ? {} : JSON.parse(text);
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw new Error('an object is expected');
  }
  for (const [key, shown] of Object.entries(object)) {
    records.set(byteText(key), recordOf(key, shown));
  }
  return records;
}

function recordOf(key: string, shown: unknown): KeyvalRecord {
  if (typeof shown === 'string') {
    return { value: byteText(shown), expires: Number.POSITIVE_INFINITY };
  }
  const { value, expires } = (shown ?? {}) as { readonly value?: unknown; readonly expires?: unknown };
  const time = typeof expires === 'string' ? Date.parse(expires) : Number.NaN;
  if (typeof value !== 'string' || Number.isNaN(time)) {
    throw new Error(`the value of ${JSON.stringify(key)} is not a text, or has no time`);
  }
  return { value: byteText(value), expires: time };
}
