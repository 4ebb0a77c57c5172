/** The `userid*` directives of a location. */
export interface UserIdSettings {
  mode: 'off' | 'log' | 'v1' | 'on';
  service: number | undefined;
  name: string;
  /** With `; domain=` before it, or empty. */
  domain: string;
  /** With `; path=` before it. */
  path: string;
  /** Seconds; 0 for a cookie of the session, Infinity for the latest moment that cookies know. */
  expires: number;
  /** Bits of {@link FLAGS}. */
  flags: number;
  p3p: string;
  /** One character, or empty for none. */
  mark: string;
}

/** What `userid_flags` adds to the cookie. */
export const FLAGS = { off: 1, secure: 2, httponly: 4, 'samesite=strict': 8, 'samesite=lax': 16, 'samesite=none': 32 } as const;
