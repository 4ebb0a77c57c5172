import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The repository's folder, with its slash. */
export const root = new URL('../../', import.meta.url).pathname;

/** One import of a source file. */
export interface Import {
  /** The importing file, relative to `src/`. */
  readonly from: string;
  /** The imported file relative to `src/`, or the name of a package or built-in module. */
  readonly to: string;
  /** Only types are imported: nothing of it is there at run time. */
  readonly typeOnly: boolean;
}

/** All files below a folder of the repository whose names end so, relative to that folder, sorted. */
export const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .sort();

/** `{ type A, type B }`: no name of the list is there at run time. */
const onlyTypes = (names = ''): boolean => /^\{( type [^,}]+,?)+ \}$/.test(names.replace(/\s+/g, ' '));

/** Every import, re-export and import() of the files in `src/`, with the text of comments left out. */
export function imports(): Import[] {
  const found: Import[] = [];
  for (const from of filesBelow('src', '.ts')) {
    const text = readFileSync(`${root}src/${from}`, 'utf8');
    const specifiers = text.matchAll(/^(?:import|export)( type)? (?:([^;'"]*?) from )?'([^']+)'|(?<!\/\/.*)\bimport\(\s*'([^']+)'/gm);
    for (const [, type, names, named, called] of specifiers) {
      const specifier = (named ?? called)!;
      const to = specifier.startsWith('.') ? join(dirname(from), specifier).replace(/\.js$/, '.ts') : specifier;
      found.push({ from, to, typeOnly: type !== undefined || onlyTypes(names) });
    }
  }
  return found;
}
