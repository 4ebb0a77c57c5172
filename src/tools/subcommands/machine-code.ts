import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** The parts of a package.json that tell of machine code. */
interface Manifest {
  readonly name?: string;
  readonly cpu?: unknown;
  readonly gypfile?: unknown;
  readonly binary?: unknown;
  readonly napi?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Packages by which others find their machine code. */
const FINDERS = ['bindings', 'node-gyp-build', 'node-pre-gyp', '@mapbox/node-pre-gyp', 'prebuild-install', '@mapbox/node-gyp-build'];

/** The name of the first package among these files that has machine code, which a bundle cannot hold; undefined where none has. */
export function packageWithMachineCode(files: readonly string[]): string | undefined {
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(resolve(file))?.[0] ?? []));
  for (const folder of folders) {
    const manifest = manifestIn(folder);
    if (manifest !== undefined && hasMachineCode(manifest, folder)) {
      return manifest.name;
    }
  }
  return undefined;
}

function manifestIn(folder: string): Manifest | undefined {
  const file = join(folder, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined;
}

function hasMachineCode(manifest: Manifest, folder: string): boolean {
  const { gypfile, binary, napi, dependencies = {}, optionalDependencies = {} } = manifest;
  if (gypfile === true || binary !== undefined || napi !== undefined || FINDERS.some((name) => name in dependencies)) {
    return true;
  }
  // Many bring a package for each kind of machine, of which one is installed.
  const find = createRequire(`${folder}/x.js`);
  return Object.keys(optionalDependencies).some((name) => {
    const places = find.resolve.paths(name) ?? [];
    return places.some((place) => manifestIn(join(place, name))?.cpu !== undefined);
  });
}
