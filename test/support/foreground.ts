import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';

/** A command that runs until it is told to end. */
export interface Foreground {
  readonly child: ChildProcess;
  /** What it has said so far on both of its outputs. */
  readonly said: () => string;
  /** Resolves to the match once its output has one; rejects when it ends before. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves to the exit code, or to the signal that ended it. */
  end(): Promise<number | NodeJS.Signals | null>;
  /** Sends a signal, and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

/** Starts a command; the test's end ends it. */
export function startForeground(
  t: Test,
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Foreground {
  const child = spawn(command, args, { cwd: options.cwd, env: { ...process.env, ...options.env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let text = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      for (const listener of listeners) {
        listener();
      }
    });
  }
  const end = async (): Promise<number | NodeJS.Signals | null> => {
    const [code, by] = await ended;
    return code ?? by;
  };
  const stop = (signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
    }
    return end();
  };
  t.teardown(() => stop('SIGTERM'));
  return {
    child,
    said: () => text,
    until: (pattern) =>
      new Promise((done, fail) => {
        const look = (): void => {
          const found = pattern.exec(text);
          if (found === null) {
            return;
          }
          listeners.delete(look);
          done(found);
        };
        listeners.add(look);
        child.once('close', () => fail(new Error(`ended before ${pattern}: ${text}`)));
        look();
      }),
    end,
    stop,
  };
}
