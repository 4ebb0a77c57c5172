import { IS_EXECUTABLE } from '../../shared/system/executable.js';
import { withoutDebugger } from './no-debugger.js';

/**
 * What comes between this process's executable and a command line to start the program again: options of Node's and the script. A single
 * executable has both in it.
 */
export function programAgain(): readonly string[] {
  return IS_EXECUTABLE ? [] : [...withoutDebugger(), process.argv[1] as string];
}

/**
 * Node's options for a process that is forked: they come with a single executable, which has no others. What this process was given goes
 * before these.
 */
export function optionsOfForked(options: readonly string[]): readonly string[] {
  return IS_EXECUTABLE ? [] : [...options, ...withoutDebugger()];
}
