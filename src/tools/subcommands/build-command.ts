import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../../master/command-line/exit-codes.js';
import { counted } from '../../shared/text/counted.js';
import { nativeText } from '../../shared/text/native-text.js';
import { makeBundles } from './bundle.js';
import type { SubcommandValues } from './command.js';
import { configuredFiles, importedModules } from './configured-files.js';
import { packageBeside } from './package-beside.js';
import { serverOptions } from './server-options.js';

/** The part of the package typescript that is used. It is the user's own, so that nothing here depends on it. */
interface Compiler {
  readonly sys: { fileExists(path: string): boolean; readFile(path: string): string | undefined };
  readonly ScriptTarget: { readonly ES2022: number };
  readonly ModuleKind: { readonly ESNext: number };
  readonly ModuleResolutionKind: { readonly Bundler: number };
  createProgram(files: readonly string[], options: object): object;
  getPreEmitDiagnostics(program: object): readonly object[];
  formatDiagnostics(diagnostics: readonly object[], host: object): string;
  findConfigFile(folder: string, exists: (path: string) => boolean): string | undefined;
  readConfigFile(path: string, read: (path: string) => string | undefined): { readonly config?: unknown };
  parseJsonConfigFileContent(config: unknown, host: object, folder: string): { readonly options: { readonly paths?: object } };
}

/**
 * `sluice build`: checks the types of the TypeScript modules that a configuration imports, with the compiler that is installed beside them;
 * serving takes types off without a look. `--bundle FOLDER` then makes one file of each module. Exit code 1: there are errors.
 */
export async function runBuildCommand(values: SubcommandValues): Promise<number> {
  const { bundle, external } = values;
  if (external !== undefined && bundle === undefined) {
    process.stderr.write('sluice: build: "--external" says what a bundle leaves out: name its folder, by "--bundle FOLDER"\n');
    return EXIT.USAGE;
  }
  const folder = nativeText(serverOptions(values, undefined).confPrefix);
  const checked = checkTypes(values, folder);
  return checked === EXIT.OK && typeof bundle === 'string'
    ? makeBundles(importedModules(values), bundle, listOf(external), folder)
    : checked;
}

const listOf = (value: SubcommandValues[string]): readonly string[] => (typeof value === 'string' ? value.split(',') : []);

function checkTypes(values: SubcommandValues, folder: string): number {
  const files = configuredFiles(values).filter((file) => /\.[cm]?ts$/.test(file));
  if (files.length === 0) {
    process.stdout.write('sluice: build: the configuration imports no TypeScript\n');
    return EXIT.OK;
  }
  const ts = packageBeside('typescript', files, folder) as Compiler | undefined;
  if (ts === undefined) {
    process.stderr.write(
      `sluice: build: types are checked by the package typescript, which is not there: run \`npm install --save-dev typescript\` in ${folder}\n`,
    );
    return EXIT.USAGE;
  }
  const program = ts.createProgram(files, optionsFor(ts, folder));
  const diagnostics = ts.getPreEmitDiagnostics(program);
  const host = { getCanonicalFileName: (name: string) => name, getCurrentDirectory: () => process.cwd(), getNewLine: () => '\n' };
  process.stdout.write(ts.formatDiagnostics(diagnostics, host));
  process.stdout.write(`${counted(diagnostics.length, 'error')} in ${counted(files.length, 'file')}\n`);
  return diagnostics.length === 0 ? EXIT.OK : EXIT.NO;
}

/** The options of the tsconfig.json that stands beside or above; else strict ones. Our types are found wherever the server is installed. */
function optionsFor(ts: Compiler, folder: string): object {
  const own = {
    noEmit: true,
    allowImportingTsExtensions: true,
    paths: { 'sluice/types': [fileURLToPath(new URL('../types/index.d.ts', import.meta.url))] },
  };
  const found = ts.findConfigFile(folder, ts.sys.fileExists);
  if (found !== undefined) {
    const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(found, ts.sys.readFile).config, ts.sys, dirname(found));
    return { ...options, noEmit: true, paths: { ...own.paths, ...options.paths } };
  }
  return {
    ...own,
    strict: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    baseUrl: folder,
  };
}
