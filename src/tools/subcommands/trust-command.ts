import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { EXIT } from '../../master/command-line/exit-codes.js';
import { fsPath } from '../../shared/files/fs-path.js';
import { replaceStateFile } from '../../shared/files/state-file.js';
import { errnoText } from '../../shared/system/errno.js';
import { loadConfiguration } from '../configuration.js';
import type { SubcommandValues } from './command.js';
import { tellConfigErrors } from './config-errors.js';
import { serverOptions } from './server-options.js';

/** A system's place for further roots, and the command that takes them into its list. */
interface TrustStore {
  readonly folder: string;
  readonly command: readonly [string, ...string[]];
}

/** Debian and its kin, Alpine, Arch; then Fedora and its kin; then SUSE. */
const STORES: readonly TrustStore[] = [
  { folder: '/usr/local/share/ca-certificates', command: ['update-ca-certificates'] },
  { folder: '/etc/pki/ca-trust/source/anchors', command: ['update-ca-trust', 'extract'] },
  { folder: '/etc/pki/trust/anchors', command: ['update-ca-certificates'] },
];

const NAME = 'sluice-internal-ca.crt';

/**
 * `sluice trust`: prints the root certificate of `https internal`, and makes the system trust it where that is possible. Resolves to the
 * exit code.
 */
export async function runTrustCommand(values: SubcommandValues): Promise<number> {
  let path: string | undefined;
  try {
    path = (await loadConfiguration(serverOptions(values, 'quit'))).internalRoot;
  } catch (error) {
    return tellConfigErrors(error);
  }
  const say = (text: string): void => void process.stderr.write(`sluice: ${text}\n`, 'latin1');
  if (values.remove === true) {
    return change(say, (store) => rmSync(`${store.folder}/${NAME}`, { force: true }), 'is no longer trusted');
  }
  if (path === undefined) {
    say('no server of this configuration has "https internal"');
    return EXIT.CONFIGURATION;
  }
  let pem: string;
  try {
    pem = readFileSync(fsPath(path), 'latin1');
  } catch (error) {
    say(`the root certificate cannot be read: open() "${path}" failed (${errnoText(error)}); the server makes it when it starts`);
    return EXIT.NOT_RUNNING;
  }
  const { subject, validTo, fingerprint256 } = new X509Certificate(pem);
  process.stdout.write(pem);
  say(`${subject}, valid until ${validTo}, SHA-256 ${fingerprint256}`);
  if (values.print === true) {
    return EXIT.OK;
  }
  return change(
    say,
    (store) => replaceStateFile(`${store.folder}/${NAME}`, Buffer.from(pem, 'latin1'), { mode: 0o644 }),
    'is trusted by this system',
  );
}

function change(say: (text: string) => void, act: (store: TrustStore) => void, outcome: string): number {
  const store = STORES.find(({ folder }) => existsSync(folder));
  if (store === undefined) {
    say('this system has no known place for root certificates: import the certificate above where your browser or system wants it');
    return EXIT.NO;
  }
  const [command, ...args] = store.command;
  try {
    act(store);
    execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    say(`"${store.folder}/${NAME}": ${code === 'EACCES' ? 'permission denied, run this as root' : message}`);
    return EXIT.NO;
  }
  say(`the root certificate ${outcome}; Firefox and Java have lists of their own`);
  return EXIT.OK;
}
