import { readFileSync, statSync } from 'node:fs';
import { fsPath } from '../shared/files/fs-path.js';
import { parseCommandLine, programName } from './command-line/cli.js';
import { loadOptions } from './command-line/places.js';
import { DAEMON } from './processes/daemon-mark.js';
import { INHERITED } from './processes/inherited-mark.js';

/** A main file of more bytes is not looked into. */
const LONGEST_FILE = 256 * 1024;

/**
 * Whether these arguments start a server whose workers are this process's children, as far as can be told without reading the whole
 * configuration. Workers of an upgraded master would inherit sockets that they do not know.
 */
export function startsServer(args: readonly string[]): boolean {
  if (process.env[INHERITED] !== undefined) {
    return false;
  }
  const name = programName(process.argv[1]);
  try {
    const line = parseCommandLine(args, name === 'sluice');
    if (line.version || line.test || line.signal !== undefined) {
      return false;
    }
    const texts = [line.globals ?? '', beginning(loadOptions(line, name).entry)];
    // Without `daemon off` this process starts another one and goes.
    return (
      (process.env[DAEMON] !== undefined || texts.some((text) => isOff('daemon', text))) &&
      !texts.some((text) => isOff('master_process', text))
    );
  } catch {
    return false;
  }
}

function isOff(directive: string, text: string): boolean {
  return new RegExp(`(?:^|[;{}\\s])${directive}\\s+off\\s*;`).test(text);
}

function beginning(path: string): string {
  const file = fsPath(path);
  const stat = statSync(file, { throwIfNoEntry: false });
  // What is read from a pipe is gone for the one who needs it.
  return stat?.isFile() && stat.size <= LONGEST_FILE ? readFileSync(file, 'latin1') : '';
}
