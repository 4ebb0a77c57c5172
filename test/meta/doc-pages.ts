import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import type { Test } from 'tap';
import { ConfigErrors } from '../../src/shared/config/configuration.js';
import { loadConfiguration } from '../../src/tools/configuration.js';
import { certs } from '../support/certs.js';
import { makePrefix, type Prefix } from '../support/prefix.js';
import { type CliResult, runCheck } from '../support/run-cli.js';
import { filesBelow, root } from './source-files.js';

/** Every page that users read: paths relative to the repository. */
export const pages: readonly string[] = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'].filter((page) => existsSync(root + page)),
  ...filesBelow('docs', '.md').map((page) => `docs/${page}`),
];

/** The fenced blocks of one language on a page, without the indentation of a list that they stand in. */
export function blocksOf(page: string, language: string): string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm');
  return [...readFileSync(root + page, 'utf8').matchAll(fence)].map(([, indent = '', block = '']) =>
    indent === '' ? block : block.replace(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

/** A configuration with its ports (but for datagrams), certificates, users and folders of the system replaced by what a test may use. */
export function moved(text: string, dir: string): string {
  const { rsa } = certs();
  return text
    .replace(/^( *listen +)443(?= quic)/gm, '$1127.0.0.1:28443')
    .replace(/^( *listen +)([^ ;]+)(?!.* (?:udp|quic))/gm, (_, listen, address) => `${listen}unix:${dir}/${address.replace(/\W/g, '_')}`)
    .replaceAll(/\/etc\/ssl\/[\w./-]+\.(pem|crt)/g, rsa.cert)
    .replaceAll(/\/etc\/(?:ssl|sluice)\/[\w./-]+\.key/g, rsa.key)
    .replaceAll(/\/(var\/log|var\/cache|run)\/sluice/g, `${dir}/var`)
    .replace(/^user .*\n/m, '');
}

/** A prefix with the shipped files that configurations include. */
export async function shippedPrefix(t: Test): Promise<Prefix> {
  const prefix = await makePrefix(t);
  mkdirSync(`${prefix.dir}/var`);
  // For modules that import packages.
  symlinkSync(`${root}node_modules`, `${prefix.dir}/node_modules`);
  const copying = `cp -R ${root}conf/mime.types ${root}conf/snippets ${root}conf/examples ${root}conf/*_params ${root}conf/fastcgi.conf ${prefix.dir}`;
  const { status, stderr } = spawnSync('sh', ['-c', copying], { encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(stderr);
  }
  return prefix;
}

/**
 * The first error of a configuration; undefined when there is none. It is read in this process, many times faster than by the command
 * line, which opens logs and sockets too.
 */
export async function firstError({ dir, write }: Prefix, text: string): Promise<string | undefined> {
  await write('sluice.conf', moved(text, dir));
  const prefix = `${dir}/`;
  const places = { entry: `${dir}/sluice.conf`, prefix, confPrefix: prefix, errorLog: 'stderr', globals: '', pid: 'logs/sluice.pid' };
  try {
    await loadConfiguration({ ...places, signalling: false });
    return undefined;
  } catch (error) {
    if (error instanceof ConfigErrors) {
      return error.findings[0]?.message ?? 'an error';
    }
    throw error;
  }
}

/** What `-t` says of a configuration. */
export async function tested({ dir, write }: Prefix, text: string): Promise<CliResult> {
  await write('sluice.conf', moved(text, dir));
  return runCheck(['-t', '-p', `${dir}/`, '-c', 'sluice.conf', '-e', 'stderr']);
}
