import { diskSources } from '../../shared/config/sources.js';
import { nativeText } from '../../shared/text/native-text.js';
import { scriptFiles } from '../../worker/js/scripts.js';
import { lintConfiguration } from '../lint/lint.js';
import type { SubcommandValues } from './command.js';
import { serverOptions } from './server-options.js';

/** A module that a configuration imports. */
export interface ImportedModule {
  /** As the directive names it. */
  readonly name: string;
  readonly file: string;
}

/** The files of the configuration, and the modules that it imports with theirs; as far as they can be read. */
export function configuredFiles(values: SubcommandValues): string[] {
  const { entry, read, scripts, folders } = readConfiguration(values);
  return [...new Set([entry, ...read, ...scriptFiles(scripts, folders)])].map(nativeText);
}

/** The modules that `js_import` names; those that are not there are left out. */
export function importedModules(values: SubcommandValues): ImportedModule[] {
  const { scripts, folders } = readConfiguration(values);
  return [...new Set(scripts)].flatMap((name) => {
    const [file] = scriptFiles([name], folders);
    return file === undefined ? [] : [{ name: nativeText(name), file: nativeText(file) }];
  });
}

/** The main file and all that it includes, the names that `js_import` has there, and where these are looked for. */
function readConfiguration(values: SubcommandValues): {
  readonly entry: string;
  readonly read: readonly string[];
  readonly scripts: readonly string[];
  readonly folders: readonly string[];
} {
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
  return { entry: options.entry, read: sources.order, scripts, folders: [options.confPrefix, ...folders] };
}
