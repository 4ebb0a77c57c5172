// What dist/sluice.js loads before all else when its Node is too old for SQLite's native module, which would crash: in a checkout it goes
// on with the Node of the development dependency, in this very process. Elsewhere it says what to install. Old Nodes read this file, so
// the build writes it in their language.
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadLibrary } from '../shared/native/native.js';
import { INHERITED } from './processes/inherited-mark.js';
import { withoutDebugger } from './processes/no-debugger.js';

/** The oldest Node that the server runs on, as package.json has it. */
declare const OLDEST_NODE: string;

const SIGUSR1 = 10;
const IGNORE = 1;
const SET_FLAGS = 2;
const STANDARD = ['0', '1', '2'];

const failed = execCheckoutNode();
process.stderr.write(
  `sluice: Node ${OLDEST_NODE} or later is needed, and ${process.execPath} is Node ${process.versions.node}: ` +
    `install Node 24 from your system's packages or from https://nodejs.org/${failed === '' ? '' : ` (${failed})`}\n`,
);
process.exit(1);

/**
 * Does not come back when the checkout's Node takes this process over. Otherwise it returns why that one cannot, or nothing where there is
 * none.
 */
function execCheckoutNode(): string {
  const folder = `${dirname(__dirname)}/node_modules/node-${process.platform}-${process.arch}`;
  try {
    if (isOld(JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version)) {
      return '';
    }
  } catch {
    return '';
  }
  const library = loadLibrary();
  if (typeof library === 'string') {
    return `${folder}/bin/node cannot take over: ${library}`;
  }
  const exec = library.find('int execve(const char *, const char **, const char **)');
  const setFlags = library.find('int fcntl(int, int, int)');
  // Node has the descriptors that it was given closed on exec.
  for (const fd of [...STANDARD, process.env['NODE_CHANNEL_FD'] || '', ...(process.env[INHERITED] || '').split(/[;:]/)]) {
    if (/^\d{1,9}$/.test(fd)) {
      setFlags(Number(fd), SET_FLAGS, 0);
    }
  }
  // As the executable file does: until Node takes care of this signal, it would end the process.
  library.find('intptr_t signal(int, intptr_t)')(SIGUSR1, IGNORE);
  const node = `${folder}/bin/node`;
  const variables = Object.keys(process.env).map((name) => `${name}=${process.env[name]}`);
  exec(node, [process.argv0, ...withoutDebugger(), ...process.argv.slice(1), null], [...variables, null]);
  return `${node} cannot be executed`;
}

function isOld(version: string): boolean {
  return Number.parseInt(version, 10) < Number.parseInt(OLDEST_NODE, 10);
}
