/**
 * Where Node's debugger is sent, which USR1 opens until a process listens for that signal: no system binds a TCP socket to a multicast
 * address, so it opens nothing. Node resets a signal that is ignored across exec, and Node 22.12 has no option yet that turns it off.
 */
export const NO_DEBUGGER = '--inspect-port=[ff02::1]:9229';

/**
 * The second line of the executable file, whose first is `#!/bin/sh`: a statement for Node, and for the shell a command that runs Node
 * with this file. Until Node takes care of USR1 the signal would end the process, hence the trap.
 */
export const FROM_THE_SHELL = `':' //; trap '' USR1; exec node '${NO_DEBUGGER}' "$0" "$@"`;
