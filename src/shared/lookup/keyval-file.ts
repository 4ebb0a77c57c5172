import { closeSync, constants, fsync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { fsPath } from '../lib/fs-path.js';
import type { KeyvalRecord } from './keyval-index.js';

/** Only the workers' user reads what is in here. */
const MODE = 0o600;

const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString();
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

/**
 * Writes the pairs of a zone as a JSON object, a line for each: `"key": "value"`, or `"key": {"value": "value", "expires": "time"}` for one
 * that ends. Whoever opens the file finds it whole. Throws the system's error.
 */
export function writeKeyvalFile(path: string, pairs: Iterable<readonly [key: string, record: KeyvalRecord]>): void {
  const lines: string[] = [];
  for (const [key, { value, expires }] of pairs) {
    const shown = expires === Number.POSITIVE_INFINITY ? utf8(value) : { value: utf8(value), expires: new Date(expires).toISOString() };
    lines.push(`  ${JSON.stringify(utf8(key))}: ${JSON.stringify(shown)}`);
  }
  const text = Buffer.from(lines.length === 0 ? '{}\n' : `{\n${lines.join(',\n')}\n}\n`);
  const fresh = fsPath(`${path}.${process.pid}.new`);
  const fd = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, MODE);
  try {
    for (let at = 0; at < text.length; ) {
      at += writeSync(fd, text, at);
    }
    renameSync(fresh, fsPath(path));
  } catch (error) {
    closeSync(fd);
    try {
      unlinkSync(fresh);
    } catch {
      // It cannot be removed either.
    }
    throw error;
  }
  // A disk may take long, and the writer holds the zone.
  fsync(fd, () => closeSync(fd));
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
    records.set(latin1(key), recordOf(key, shown));
  }
  return records;
}

function recordOf(key: string, shown: unknown): KeyvalRecord {
  if (typeof shown === 'string') {
    return { value: latin1(shown), expires: Number.POSITIVE_INFINITY };
  }
  const { value, expires } = (shown ?? {}) as { readonly value?: unknown; readonly expires?: unknown };
  const time = typeof expires === 'string' ? Date.parse(expires) : Number.NaN;
  if (typeof value !== 'string' || Number.isNaN(time)) {
    throw new Error(`the value of ${JSON.stringify(key)} is not a text, or has no time`);
  }
  return { value: latin1(value), expires: time };
}
