// Which Node a script starts the server with: the one that runs the script if it is new enough, otherwise that of the development
// dependency.
import { readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url).pathname;

/**
 * The oldest Node that the server runs on, as package.json has it: `22.12`.
 * @type {string}
 */
export const oldestNode = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).engines.node.replace('>=', '');

/** The path of the Node to use. Throws an Error that says what to install where there is none. */
export function usableNode() {
  if (isUsable(process.versions.node)) {
    return process.execPath;
  }
  const folder = `${root}node_modules/node-${process.platform}-${process.arch}`;
  try {
    if (isUsable(JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version)) {
      return `${folder}/bin/node`;
    }
  } catch {
    // There is none for this system.
  }
  throw new Error(`Node ${oldestNode} or later is needed, and ${process.execPath} is Node ${process.versions.node}: install Node 24`);
}

/** @param {string} version */
function isUsable(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

// For shell scripts: the path alone.
if (process.argv[1] === new URL(import.meta.url).pathname) {
  try {
    console.log(usableNode());
  } catch (error) {
    console.error(`sluice: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
}
