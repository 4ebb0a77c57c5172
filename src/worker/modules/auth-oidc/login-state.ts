import type { Provider } from './provider.js';
import { isRandomText, macText, randomText, seal, unseal } from './seal.js';

/**
 * What a browser brings back from the provider as `state`: encrypted, so that a login that nobody finishes costs the server nothing, and
 * any number of tabs can log in side by side.
 */
export interface LoginAttempt {
  /** When it began; milliseconds of the wall clock. */
  readonly begun: number;
  /** How many attempts came right before it. */
  readonly attempt: number;
  /** The path that the browser asked for. */
  readonly target: string;
  /** What the cookie of the browser that began is called here. */
  readonly browser: string;
  /** Of what nonce and code verifier are made, together with the cookie. */
  readonly salt: string;
}

/** How long (milliseconds) a user may take to log in. */
const MAX_AGE = 60 * 60 * 1000;

const purposeOf = (provider: Provider): string => `state ${provider.purpose}`;

/** Begins an attempt. `browser`: the text of the browser's cookie. */
export function newAttempt(provider: Provider, target: string, attempt: number, browser: string): { text: string; attempt: LoginAttempt } {
  const salt = randomText();
  const made = { begun: Date.now(), attempt, target, browser: markOf(salt, browser), salt };
  return { text: seal(provider.keys[0]!, Buffer.from(JSON.stringify(made)), purposeOf(provider)), attempt: made };
}

/** What the browser's cookie is called in a state. */
const markOf = (salt: string, cookie: string): string => macText(Buffer.from(salt), `browser ${cookie}`).slice(0, 22);

/** Reads a state that {@link newAttempt} has made for this provider; undefined for any other text. */
export function readAttempt(provider: Provider, text: string): LoginAttempt | undefined {
  const bytes = unseal(provider.keys, text, purposeOf(provider));
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as LoginAttempt);
}

/** Whether an attempt is of the browser that has a cookie, and not too old. */
export const isOf = ({ browser, salt, begun }: LoginAttempt, cookie: string | undefined): cookie is string =>
  cookie !== undefined && isRandomText(cookie) && markOf(salt, cookie) === browser && Date.now() - begun < MAX_AGE;

/** What shows to both sides that the browser that ends a login is the one that began it: nobody else has its cookie and the state. */
export const secretsOf = ({ salt }: LoginAttempt, cookie: string): { verifier: string; nonce: string } => ({
  verifier: macText(Buffer.from(salt), `verifier ${cookie}`),
  nonce: macText(Buffer.from(salt), `nonce ${cookie}`),
});
