import { readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url).pathname;
const other = process.env['SLUICE_TEST_BINARY'];

/**
 * True when the tests run against a real nginx (SLUICE_TEST_BINARY names its executable), which shows whether a test is
 * right; it is false for the built server.
 */
export const againstNginx = other !== undefined && other !== '';

/** The name in the Server header, in built-in pages and before messages. */
export const product = againstNginx ? 'nginx' : 'sluice';

/** The version as package.json has it; use `productToken` to compare answers. */
export const version: string = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).version;

/** Matches the whole token in a Server header or a built-in page, `sluice/1.2.3`. */
export const productToken = againstNginx ? /nginx\/[\d.]+/ : new RegExp(`sluice/${version.replaceAll('.', '\\.')}`);

/**
 * The command that starts the server under test, without its arguments. tap passes NODE_OPTIONS on to every program of a test; its hooks
 * slow the server's processes down and end workers with an error once they have dropped the right to write tap's notes, so `env` takes
 * them away. SLUICE_DIST: where the build lies. `preload`: a module that each of the server's processes loads first.
 */
export function serverCommand(preload?: string): readonly [string, ...string[]] {
  if (againstNginx) {
    return [other as string];
  }
  return [
    '/usr/bin/env',
    '-u',
    'NODE_OPTIONS',
    process.execPath,
    ...(preload === undefined ? [] : [`--import=${preload}`]),
    builtProgram(),
  ];
}

/** The file that Node is started with. */
export function builtProgram(): string {
  const dist = process.env['SLUICE_DIST'] ?? `${root}dist`;
  return `${dist.replace(/\/$/, '')}/sluice.js`;
}
