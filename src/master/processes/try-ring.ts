import { type ChildProcess, execFile } from 'node:child_process';
import { makeRing } from '../../shared/net/engine/choose.js';
import { numberOfSignal } from '../../shared/system/signal.js';
import { programAgain } from './program-again.js';

/** Marks the process that only tries the ring. */
const MARK = 'SLUICE_TRY_RING';
/** Milliseconds that it may take. */
const LONGEST = 20_000;
/** Bytes that it may say. */
const MOST_WORDS = 4096;

/** What came of a trial. */
export interface RingTrial {
  /** Why there is no ring, in words that follow "because"; empty when it works. */
  readonly why: string;
  /** A process that tries it does not survive that. */
  readonly fatal: boolean;
}

let trial: Promise<RingTrial> | undefined;

/** True in the process that only tries the ring. */
export const onlyTriesRing = (): boolean => process.env[MARK] !== undefined;

/** Why there is no ring here, empty when it works: what the process says that only tries it. */
export function ringTried(): string {
  const ring = makeRing();
  return typeof ring === 'string' ? ring : '';
}

/** Tries the ring in a process of its own, which may die of that. All callers get the first one's trial. */
export function tryRingApart(): Promise<RingTrial> {
  trial ??= new Promise((done) => {
    const options = { encoding: 'utf8', env: { ...process.env, [MARK]: '1' }, timeout: LONGEST, maxBuffer: MOST_WORDS } as const;
    try {
      const child = execFile(process.execPath, programAgain(), options, (error, stdout) => {
        if (error === null) {
          done({ why: stdout, fatal: false });
        } else {
          done({ why: child.pid === undefined ? error.message : `a process that tried io_uring ${endOf(child)}`, fatal: true });
        }
      });
      child.stdin?.end();
    } catch (error) {
      // Node throws some of the system's errors.
      done({ why: (error as Error).message, fatal: true });
    }
  });
  return trial;
}

function endOf({ signalCode, exitCode }: ChildProcess): string {
  return signalCode === null ? `ended with code ${exitCode}` : `was ended by signal ${numberOfSignal(signalCode)}`;
}
