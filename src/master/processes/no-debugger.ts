/** What Node is started with so that USR1 opens nothing; the build has it from scripts/no-debugger.mjs. */
declare const NO_DEBUGGER: string;

/**
 * Node's options for a process that this one starts. Until a process listens for USR1, Node answers the signal by opening its debugger to
 * every local user, so the debugger is given an address that no socket can be bound to. Whoever started this one with `--inspect` keeps it.
 */
export function withoutDebugger(): readonly string[] {
  return wantsDebugger(process.execArgv.join(' ')) ? process.execArgv : [...process.execArgv, NO_DEBUGGER];
}

/**
 * Closes the debugger that a USR1 opened before anybody listened for it. Only a master that was started as `node dist/sluice.js`, without
 * the options that the executable file gives, can need it.
 */
export function closeDebugger(): void {
  const options = `${process.execArgv.join(' ')} ${process.env.NODE_OPTIONS ?? ''}`;
  if (options.includes(NO_DEBUGGER) || wantsDebugger(options)) {
    return;
  }
  // Loaded here alone: it takes two milliseconds of a start.
  const inspector = process.getBuiltinModule('node:inspector');
  if (inspector.url() !== undefined) {
    inspector.close();
  }
}

function wantsDebugger(options: string): boolean {
  return options.includes('--inspect');
}
