import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { EXIT } from '../../master/command-line/exit-codes.js';
import type { ImportedModule } from './configured-files.js';
import { packageWithMachineCode } from './machine-code.js';
import { packageBeside } from './package-beside.js';

/** The part of the package esbuild that is used. It is the user's own, so that nothing here depends on it. */
interface Bundler {
  build(options: object): Promise<{
    readonly outputFiles: readonly { readonly contents: Uint8Array }[];
    readonly metafile: { readonly inputs: Readonly<Record<string, unknown>> };
  }>;
  formatMessages(messages: readonly object[], options: object): Promise<readonly string[]>;
}

/** Modules of njs that Node has not, or has otherwise. */
const OURS = ['xml', 'querystring', 'zlib', 'fs', 'crypto', 'buffer', 'webcrypto'];
/** A bundle is a script, in which Node's `import.meta` has to be made. */
const BANNER = "const $file = require('node:url').pathToFileURL(__filename).href, $dirname = __dirname, $filename = __filename;";

/**
 * Makes one file of each module with all that it imports, in `folder`, so that they run where no package is installed. `external`: packages
 * that stay outside, such as those with machine code. `prefix`: the configuration's folder. Resolves to the exit code; 1 where a module
 * cannot be bundled.
 */
export async function makeBundles(
  modules: readonly ImportedModule[],
  folder: string,
  external: readonly string[],
  prefix: string,
): Promise<number> {
  if (modules.length === 0) {
    process.stderr.write('sluice: build: the configuration imports no module\n');
    return EXIT.NO;
  }
  const files = modules.map(({ file }) => file);
  const esbuild = packageBeside('esbuild', files, prefix) as Bundler | undefined;
  if (esbuild === undefined) {
    process.stderr.write(
      `sluice: build: bundles are made by the package esbuild, which is not there: run \`npm install --save-dev esbuild\` in ${prefix}\n`,
    );
    return EXIT.USAGE;
  }
  const made = new Map<string, string>();
  for (const { name, file } of modules) {
    const target = join(folder, nameOf(name));
    const other = made.get(target);
    if (other !== undefined) {
      process.stderr.write(`sluice: build: "${other}" and "${name}" would both be ${target}\n`);
      return EXIT.NO;
    }
    made.set(target, name);
    const text = await bundled(esbuild, file, external);
    if (text === undefined) {
      return EXIT.NO;
    }
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    process.stdout.write(`${target}: ${name} with all that it imports, ${(text.length / 1024).toFixed(1)} KB\n`);
  }
  return EXIT.OK;
}

/** Where a bundle lies in its folder: as the module's name says, unless that leads out of there. */
function nameOf(name: string): string {
  const plain = `${name.replace(/\.[cm]?[jt]s$/, '')}.js`;
  return isAbsolute(plain) || normalize(plain).startsWith('..') ? basename(plain) : normalize(plain);
}

async function bundled(esbuild: Bundler, file: string, external: readonly string[]): Promise<Uint8Array | undefined> {
  try {
    const { outputFiles, metafile } = await esbuild.build({
      entryPoints: [file],
      bundle: true,
      write: false,
      platform: 'node',
      target: `node${process.versions.node.split('.')[0]}`,
      // Modules are loaded as scripts, each as a function.
      format: 'cjs',
      external: [...OURS, ...external],
      define: { 'import.meta.url': '$file', 'import.meta.dirname': '$dirname', 'import.meta.filename': '$filename' },
      banner: { js: BANNER },
      // Names in messages and backtraces stay what they are.
      keepNames: true,
      metafile: true,
      logLevel: 'silent',
    });
    const native = packageWithMachineCode(Object.keys(metafile.inputs));
    if (native !== undefined) {
      process.stderr.write(refusalOf(native));
      return undefined;
    }
    return outputFiles[0]!.contents;
  } catch (error) {
    const { errors } = error as { readonly errors?: readonly { readonly location: { readonly file: string } | null }[] };
    if (errors === undefined) {
      throw error;
    }
    process.stderr.write((await esbuild.formatMessages(errors, { kind: 'error' })).join(''));
    const native = errors.map(({ location }) => packageWithMachineCode([location?.file ?? ''])).find((name) => name !== undefined);
    if (native !== undefined) {
      process.stderr.write(refusalOf(native));
    }
    return undefined;
  }
}

const refusalOf = (name: string): string =>
  `sluice: build: the package ${name} has machine code, which a bundle cannot hold: leave it out, by "--external ${name}", and install it where the bundle runs\n`;
