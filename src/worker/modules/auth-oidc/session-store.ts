import type { Request } from '../../http/request/request.js';
import type { LoginData, LoginSession } from './session.js';

/** Where the sessions of a provider are. What is written is seen by all workers; `done` runs later. */
export interface LoginStore {
  /** The session of the browser that made a request. */
  find(r: Request): LoginSession | undefined;
  /** Keeps a new session, and gives the browser what names it. A text says why that cannot be. */
  create(r: Request, data: LoginData, done: (outcome: LoginSession | string) => void): void;
  /** Gives the browser what it needs to go on with a session that was refreshed. */
  show(r: Request, session: LoginSession): void;
  /** What others have made of a session meanwhile; the same one where they have done nothing, and undefined once it has ended. */
  look(session: LoginSession): LoginSession | undefined;
  /**
   * Asks to be the only one who refreshes a session: `mine`, or `theirs` while another one is at it. If the session was changed before,
   * {@link look} says how.
   */
  lock(session: LoginSession, done: (outcome: 'mine' | 'theirs') => void): void;
  /** Lets others refresh it again. */
  unlock(session: LoginSession): void;
  /** Puts a refreshed session in the place of the one that was locked, and unlocks it. */
  refresh(session: LoginSession, data: LoginData, done: (outcome: LoginSession | undefined) => void): void;
  /** Ends a session for all browsers that have it. */
  end(session: LoginSession, done: () => void): void;
  /** Takes from the browser what names a session. */
  forget(r: Request): void;
}

/** How long (milliseconds) one worker may take to refresh a session. */
export const LOCK_MS = 15_000;
/** What workers remember of sessions that they have opened, in characters of what is stored. */
export const REMEMBERED = 8 * 1024 * 1024;
/** The longest text of a stored session, in characters. */
export const MAX_STORED = 128 * 1024;
