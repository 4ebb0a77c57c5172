import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { byteText } from '../../shared/text/native-text.js';
import { hasNobody, isClosedToNobody } from '../subcommands/closed-to-nobody.js';
import { directoryConfiguration, proxyConfiguration, ServeError } from '../subcommands/serve-text.js';
import type { ServerOptions } from './options.js';

/** Where a configuration lies that the program is started with. */
export interface ProgramPlace {
  /** What the program is told: `-p` and `-c`. */
  readonly args: readonly string[];
  /** The file, where it was made of options; else undefined. */
  readonly file: string | undefined;
  /** Directives for the command line. */
  readonly globals: string;
  /** Removes what was made. */
  remove(): void;
}

/** Puts the configuration that options describe into a file, unless they name one. @throws ServeError */
export function makeProgramPlace(options: ServerOptions, port: number): ProgramPlace {
  const { configFile, prefix } = options;
  if (configFile !== undefined) {
    const path = resolve(configFile);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
      throw new ServeError(`"${configFile}" is no file`);
    }
    return {
      args: [...(prefix === undefined ? [] : ['-p', `${resolve(prefix)}/`]), '-c', path],
      file: undefined,
      globals: '',
      remove() {},
    };
  }
  const text = configurationText(options, port);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  // Workers of a server that root starts become nobody, and keep bodies of requests here.
  chmodSync(folder, 0o711);
  mkdirSync(`${folder}/logs`);
  const file = `${folder}/sluice.conf`;
  writeFileSync(file, text, 'latin1');
  const closed = !hasNobody() || (options.directory !== undefined && isClosedToNobody(byteText(resolve(options.directory))));
  return {
    args: ['-p', prefix === undefined ? `${folder}/` : `${resolve(prefix)}/`, '-c', file],
    file,
    globals: closed ? 'user root;' : '',
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The text of a configuration, a character for a byte. @throws ServeError */
export function configurationText(options: ServerOptions, port: number): string {
  const { directory, proxy, spa = false, log = false } = options;
  const place = { host: byteText(options.host ?? '127.0.0.1'), port, log, types: shippedTypes() };
  if (directory !== undefined) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new ServeError(`"${directory}" is no folder`);
    }
    return directoryConfiguration({ ...place, directory: byteText(resolve(directory)), spa });
  }
  return proxy === undefined ? byteText(options.config!) : proxyConfiguration({ ...place, target: byteText(String(proxy)) });
}

/** The media types that the package comes with. */
export const shippedTypes = (): string => readFileSync(new URL('../conf/mime.types', import.meta.url), 'latin1');
