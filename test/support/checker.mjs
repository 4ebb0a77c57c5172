// Runs command lines of the built program one after the other, for which each would otherwise start a process: what its parent sends are
// the arguments, and after each run a mark goes to standard output and to standard error. `checker.ts` starts it.
// Arguments: dist/sluice.js, the mark.
import { readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

const [, , starter, mark] = process.argv;
const file = `${dirname(starter)}/program.js`;
// As the program's first file does it, so that V8's code for it can be used.
setFlagsFromString('--no-parallel-scavenge');
const script = new Script(readFileSync(file, 'latin1'), { filename: file, ...cached() });
const program = { exports: {} };
script.runInThisContext()(program.exports, createRequire(file), program, file);
const { run, parts } = program.exports;
/** What is open before the first run. */
let usual;

process.on('message', async (args) => {
  usual ??= openWithOutput();
  process.argv = [process.execPath, starter, ...args];
  const code = await run(args, undefined, parts);
  for (const end of process.listeners('exit')) {
    process.off('exit', end);
    end(code);
  }
  for (const fd of [1, 2]) {
    writeSync(fd, mark);
  }
  // What was closed is so in the event loop's next turn.
  setImmediate(() => setImmediate(() => process.send({ code, left: open() !== usual })));
});

/** With the process's own streams, which a run that tells standard error something opens for good. */
function openWithOutput() {
  return process.stdout && process.stderr && open();
}

/** What the event loop has open. */
function open() {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name !== 'Immediate')
    .sort()
    .join();
}

function cached() {
  try {
    return { cachedData: readFileSync(`${file}.cache`) };
  } catch {
    return {};
  }
}
