import { execFile as execFileWithCallback } from 'node:child_process';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { find, makeFolder, missing, reservedPort, startProgram } from './programs.js';
import { waitFor } from './wait.js';

const execFile = promisify(execFileWithCallback);

const FOLDERS = ['17', '16', '15', '14'].map((version) => `/usr/lib/postgresql/${version}/bin`);
const programs = { initdb: find('initdb', ...FOLDERS), postgres: find('postgres', ...FOLDERS), psql: find('psql') };

/** Its client; undefined where it is not installed. */
export const psqlCommand = programs.psql;

/** Why a test is skipped that needs PostgreSQL; false where it is installed. */
export const withoutPostgres = missing(programs);

/** Starts PostgreSQL with an empty database `postgres` of the user `tester`, who needs no password. Resolves to its port on 127.0.0.1. */
export async function startPostgres(t: Test): Promise<number> {
  // It refuses to run as root.
  const nobody = process.getuid?.() === 0 ? 65534 : undefined;
  const as = nobody === undefined ? {} : { uid: nobody, gid: nobody };
  const dir = makeFolder(t, nobody);
  const port = await reservedPort(t);
  const options = { ...as, env: { ...process.env, LC_ALL: 'C', HOME: dir }, cwd: dir };
  await execFile(programs.initdb!, ['-D', `${dir}/data`, '-A', 'trust', '-U', 'tester', '-N'], options);
  await startProgram(t, port, programs.postgres!, ['-D', `${dir}/data`, '-p', String(port), '-h', '127.0.0.1', '-k', dir, '-F'], options);
  const ask = ['-X', '-h', '127.0.0.1', '-p', String(port), '-U', 'tester', '-c', 'SELECT 1', 'postgres'];
  // It accepts before it answers.
  const answers = (): Promise<boolean> =>
    execFile(programs.psql!, ask).then(
      () => true,
      () => false,
    );
  await waitFor(answers, { what: 'the database' });
  return port;
}
