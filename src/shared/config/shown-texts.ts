import { nativeText } from '../text/native-text.js';
import type { Snapshot } from './configuration.js';
import { redactConfiguration } from './redact.js';

/** How many characters of a configuration are shown; files beyond are named alone. */
const MOST_TEXT = 1024 * 1024;

/** A configuration as operators see it, for JSON. */
export interface ShownTexts {
  readonly globals: string;
  /** `text` is null for what is too much. */
  readonly files: readonly { readonly path: string; readonly text: string | null }[];
}

/** The texts of a configuration without their secrets. */
export function shownTexts({ globals, files }: Pick<Snapshot, 'globals' | 'files'>): ShownTexts {
  let room = MOST_TEXT;
  return {
    globals: meant(redactConfiguration(globals)),
    files: Object.entries(files).map(([path, text]) => {
      room -= text.length;
      return { path: meant(path), text: room < 0 ? null : meant(redactConfiguration(text)) };
    }),
  };
}

/** A text whose characters are bytes, as it is meant. */
export const meant = <T extends string | null>(text: T): T => (text === null ? text : (nativeText(text) as T));
