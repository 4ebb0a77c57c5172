import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The path of the program, for `child_process.spawn(process.execPath, [program, '-c', FILE, '-g', 'daemon off;'])`. */
export const program: string = fileURLToPath(new URL('sluice.js', import.meta.url));

/** What a command left behind. */
export interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs the program to its end. Rejects where it cannot be started. */
export function runProgram(args: readonly string[]): Promise<Outcome> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.once('error', fail);
    child.once('close', (code) => done({ code, output, errors }));
  });
}
