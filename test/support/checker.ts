import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CliResult } from './run-cli.js';

/** Between what one run and the next have written. */
const MARK = '\x01end of a run\x01';
/** Milliseconds that a run may take. */
const LONGEST = 60_000;

interface Answer {
  readonly code: number;
  /** Something is open that was not before: a process would have ended with it. */
  readonly left: boolean;
}

/**
 * Runs command lines of the built program that read a configuration and end (`-t`, `-T`), one after the other, in one process: to start one
 * for each takes most of the time that such a run takes. What module-level state the program has is none of a configuration's
 * (test/meta/module-state.test.ts). A run that ends the process, or leaves something open, is the last one in it.
 */
export class Checker {
  #child: ChildProcess | undefined;
  /** The program that the child runs, and its environment. */
  #started = '';
  #last: Promise<unknown> = Promise.resolve();

  /** Runs one of `program`, dist/sluice.js of a build, to its end. Never rejects for an exit code. */
  run(program: string, args: readonly string[]): Promise<CliResult> {
    const result = this.#last.then(() => this.#run(program, args));
    this.#last = result.catch(() => {});
    return result;
  }

  #run(program: string, args: readonly string[]): Promise<CliResult> {
    const wanted = JSON.stringify([program, process.env]);
    if (wanted !== this.#started) {
      this.#child?.kill('SIGKILL');
      this.#child = undefined;
      this.#started = wanted;
    }
    const child = this.#child ?? this.#start(program);
    hold(child, true);
    return new Promise((done, fail) => {
      const texts = ['', ''];
      const streams = [child.stdout!, child.stderr!] as const;
      let answer: Answer | undefined;
      const listeners = [0, 1].map((i) => (text: string): void => {
        texts[i] += text;
        look();
      });
      const look = (): void => {
        if (answer !== undefined && texts.every((text) => text.endsWith(MARK))) {
          end(answer.code, null, answer.left);
        }
      };
      const heard = (message: unknown): void => {
        answer = message as Answer;
        look();
      };
      const closed = (code: number | null, signal: NodeJS.Signals | null): void => end(code, signal, true);
      const end = (code: number | null, signal: NodeJS.Signals | null, last: boolean): void => {
        clearTimeout(timer);
        child.off('message', heard).off('close', closed).off('error', fail);
        for (const [i, stream] of streams.entries()) {
          stream.off('data', listeners[i]!);
        }
        hold(child, false);
        if (last) {
          this.#child = undefined;
          child.kill('SIGKILL');
        }
        const [stdout, stderr] = texts.map((text) => (text.endsWith(MARK) ? text.slice(0, -MARK.length) : text)) as [string, string];
        done({ code, signal, stdout, stderr });
      };
      const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST);
      for (const [i, stream] of streams.entries()) {
        stream.on('data', listeners[i]!);
      }
      child.on('message', heard).once('close', closed).once('error', fail);
      child.send(args);
    });
  }

  #start(program: string): ChildProcess {
    const child = fork(fileURLToPath(new URL('checker.mjs', import.meta.url)), [program, MARK], {
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('latin1');
    }
    this.#child = child;
    return child;
  }
}

/** Whether the test waits for what the child does. */
function hold(child: ChildProcess, on: boolean): void {
  for (const one of [child, child.channel, child.stdout, child.stderr] as unknown as ({ ref(): void; unref(): void } | null)[]) {
    if (on) {
      one?.ref();
    } else {
      one?.unref();
    }
  }
}
