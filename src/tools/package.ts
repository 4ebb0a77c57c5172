// What `import ... from 'sluice'` gives: enough to run the server from a program, and to make configurations for it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type DirectoryOptions, directoryConfiguration, type ProxyOptions, proxyConfiguration } from './subcommands/serve-text.js';

export type { DirectoryOptions, ProxyOptions, ServeOptions } from './subcommands/serve-text.js';
export { ServeError } from './subcommands/serve-text.js';

/** The path of the program, for `child_process.spawn(process.execPath, [program, '-c', FILE, '-g', 'daemon off;'])`. */
export const program: string = fileURLToPath(new URL('sluice.js', import.meta.url));

const shippedTypes = (): string => readFileSync(new URL('../conf/mime.types', import.meta.url), 'latin1');

/** The text of a configuration that serves a folder. Throws {@link ServeError} for what cannot be written in one. */
export function configurationForDirectory(options: Omit<DirectoryOptions, 'types'>): string {
  return directoryConfiguration({ ...options, types: shippedTypes() });
}

/** The text of a configuration that passes requests on to an application. Throws {@link ServeError}. */
export function configurationForProxy(options: Omit<ProxyOptions, 'types'>): string {
  return proxyConfiguration({ ...options, types: shippedTypes() });
}
