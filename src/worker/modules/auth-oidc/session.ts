import { byteText } from '../../../shared/text/native-text.js';
import { digestText } from './seal.js';

/** What is kept of a user who has logged in. Times are milliseconds of the wall clock. */
export interface LoginData {
  /** Names the session in this server; nobody can guess it. */
  readonly id: string;
  readonly sub: string;
  /** The provider's name for its own session; empty where it says none. */
  readonly sid: string;
  readonly idToken: string;
  readonly accessToken: string;
  /** Empty: there is none. */
  readonly refreshToken: string;
  /** The text of a JSON object; empty: it was not asked for. */
  readonly userinfo: string;
  readonly loggedInAt: number;
  /** When the access token was given, and when it ends; 0: it is not said. */
  readonly tokenAt: number;
  readonly tokenUntil: number;
  /** How often it was refreshed. */
  readonly refreshes: number;
  /** When the session ends. */
  readonly until: number;
}

const FIELDS = [
  'id',
  'sub',
  'sid',
  'idToken',
  'accessToken',
  'refreshToken',
  'userinfo',
  'loggedInAt',
  'tokenAt',
  'tokenUntil',
  'refreshes',
  'until',
] as const satisfies readonly (keyof LoginData)[];
const NUMBERS: ReadonlySet<string> = new Set(['loggedInAt', 'tokenAt', 'tokenUntil', 'refreshes', 'until']);

/** A token is refreshed so many milliseconds before its end, but not in the first half of its life. */
const EARLY = 60_000;

/** A session as requests use it. */
export class LoginSession {
  readonly data: LoginData;
  /** The name of its pair in the zone, or of what the zone knows of it. */
  readonly key: string;
  /** From when on its tokens are to be refreshed; `Infinity`: they are not. */
  readonly refreshAt: number;
  /** Names under which logouts of the session, and of the user, are noted. */
  readonly #sidName: string;
  readonly #subName: string;
  #claims: Readonly<Record<string, unknown>> | undefined;

  /** `purpose`: what ties it to its provider. */
  constructor(data: LoginData, key: string, purpose: string) {
    const { tokenAt, tokenUntil, refreshToken } = data;
    this.data = data;
    this.key = key;
    this.refreshAt =
      refreshToken === '' || tokenUntil === 0 ? Number.POSITIVE_INFINITY : Math.max(tokenUntil - EARLY, (tokenAt + tokenUntil) / 2);
    this.#sidName = data.sid === '' ? '' : logoutName(purpose, 'sid', data.sid);
    this.#subName = logoutName(purpose, 'sub', data.sub);
  }

  /** Whether it has ended, by its time or by a logout that `find` knows of. */
  isOver(now: number, find: (name: string) => string | undefined): boolean {
    const { until, loggedInAt } = this.data;
    return until <= now || (this.#sidName !== '' && after(find(this.#sidName), loggedInAt)) || after(find(this.#subName), loggedInAt);
  }

  /** A claim of the ID token, or else of the UserInfo data. */
  claim(name: string): unknown {
    const claims = (this.#claims ??= readClaims(this.data));
    if (Object.hasOwn(claims, name)) {
      return claims[name];
    }
    // Names of variables have no capital letters.
    const other = Object.keys(claims).find((key) => key.toLowerCase() === name);
    return other === undefined ? undefined : claims[other];
  }
}

const after = (time: string | undefined, loggedInAt: number): boolean => time !== undefined && Number(time) >= loggedInAt;

/** The name of the pair that says when sessions with such a name at a provider were logged out. */
export const logoutName = (purpose: string, kind: 'sid' | 'sub', name: string): string =>
  `logout:${digestText(`${kind} ${purpose} ${name}`)}`;

function readClaims({ idToken, userinfo }: LoginData): Readonly<Record<string, unknown>> {
  return { ...(userinfo === '' ? {} : objectOf(userinfo)), ...claimsOf(idToken) };
}

/** The claims of a JWT whose signature was checked when it came. */
export const claimsOf = (token: string): Readonly<Record<string, unknown>> =>
  objectOf(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The text that stores a session. */
export const writeSession = (data: LoginData): Buffer => Buffer.from(JSON.stringify(FIELDS.map((name) => data[name])));

/** Reads what {@link writeSession} has written; undefined for the text of another version. */
export function readSession(bytes: Buffer): LoginData | undefined {
  let values: unknown;
  try {
    values = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(values) || values.length !== FIELDS.length) {
    return undefined;
  }
  const sound = FIELDS.every((name, i) => typeof values[i] === (NUMBERS.has(name) ? 'number' : 'string'));
  return sound ? (Object.fromEntries(FIELDS.map((name, i) => [name, values[i]])) as unknown as LoginData) : undefined;
}

/**
 * A claim as the value of a variable: texts as they are, lists of simple values with commas between, objects as JSON. Control characters
 * become spaces, since a user may choose what a claim says, and the value may end up in a header.
 */
export function lineOfClaim(value: unknown): string | undefined {
  const text = plainText(value);
  return text === undefined ? undefined : byteText(text).replace(/[\x00-\x1f\x7f]/g, ' ');
}

function plainText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) {
        return undefined;
      }
      return Array.isArray(value) && value.every((item) => typeof item !== 'object') ? value.map(String).join(',') : JSON.stringify(value);
    default:
      return undefined;
  }
}
