// What `import ... from 'sluice'` gives: enough to run the server from a program, and to make, read and test configurations for it.
import { shippedTypes } from './programs/place.js';
import { type DirectoryOptions, directoryConfiguration, type ProxyOptions, proxyConfiguration } from './subcommands/serve-text.js';

export { type ConfigFinding, type ConfigResult, type ExplainedRequest, type Explanation, explain, testConfig } from './programs/check.js';
export { format, ParseError, type ProgramDirective, parse } from './programs/language.js';
export type { ConfigurationOptions, ServerOptions } from './programs/options.js';
export { program } from './programs/program.js';
export { type SluiceServer, serve } from './programs/serve.js';
export type { DirectoryOptions, ProxyOptions, ServeOptions } from './subcommands/serve-text.js';
export { ServeError } from './subcommands/serve-text.js';

/** The text of a configuration that serves a folder. Throws {@link ServeError} for what cannot be written in one. */
export function configurationForDirectory(options: Omit<DirectoryOptions, 'types'>): string {
  return directoryConfiguration({ ...options, types: shippedTypes() });
}

/** The text of a configuration that passes requests on to an application. Throws {@link ServeError}. */
export function configurationForProxy(options: Omit<ProxyOptions, 'types'>): string {
  return proxyConfiguration({ ...options, types: shippedTypes() });
}
