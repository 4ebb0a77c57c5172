import { diskSources } from '../../shared/config/sources.js';
import { nativeText } from '../../shared/text/native-text.js';
import { scriptFiles } from '../../worker/js/scripts.js';
import { lintConfiguration } from '../lint/lint.js';
import type { SubcommandValues } from './command.js';
import { serverOptions } from './server-options.js';

/** The files of the configuration, and the modules that it imports with theirs; as far as they can be read. */
export function configuredFiles(values: SubcommandValues): string[] {
  const options = serverOptions(values, undefined);
  const sources = diskSources(options);
  try {
    // Reads whatever the main file includes.
    lintConfiguration(sources);
  } catch {
    // What was read up to there is enough to wait for a change.
  }
  const scripts: string[] = [];
  const folders: string[] = [];
  for (const file of sources.order) {
    const text = (sources.text(file) ?? '').replace(/#.*/g, '');
    for (const [, name = '', words = ''] of text.matchAll(/\b(js_import|js_path)\s+([^;{}]+);/g)) {
      const path = words
        .trim()
        .split(/\s+/)
        .at(-1)!
        .replace(/^(['"])(.*)\1$/, '$2');
      if (name === 'js_import') {
        scripts.push(path);
      } else {
        folders.push(path.startsWith('/') ? path : options.confPrefix + path);
      }
    }
  }
  return [...new Set([options.entry, ...sources.order, ...scriptFiles(scripts, [...folders, options.confPrefix])])].map(nativeText);
}
