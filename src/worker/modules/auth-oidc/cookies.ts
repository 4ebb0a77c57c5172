import { cookieValue } from '../../http/headers/cookie.js';
import type { Request } from '../../http/request/request.js';
import { lastingSlot } from '../../task/client-task.js';
import type { LoginSession } from './session.js';

/** What a request has of a login. */
class LoginState {
  session: LoginSession | undefined = undefined;
  /** Lines of Set-Cookie for the response. */
  readonly cookies: string[] = [];
}

const slot = lastingSlot<LoginState>();

/** What a request has of a login; undefined: nothing. */
export const loginOf = (r: Request): LoginState | undefined => slot.get(r);

/** The request's login, to be written to. */
export function loginFor(r: Request): LoginState {
  let state = slot.get(r);
  if (state === undefined) {
    slot.set(r, (state = new LoginState()));
  }
  return state;
}

/**
 * Sets a cookie of the session of the browser; an empty value removes it. `sameSite`: whether requests that other sites make bring it;
 * undefined: as the browser likes.
 */
export function setCookie(r: Request, name: string, value: string, secure: boolean, sameSite: 'Lax' | 'None' | undefined = 'Lax'): void {
  const { cookies } = loginFor(r);
  const before = cookies.findIndex((line) => line.startsWith(`${name}=`));
  const age = value === '' ? '; Max-Age=0' : '';
  cookies.splice(
    before === -1 ? cookies.length : before,
    1,
    `${name}=${value}; Path=/${age}; HttpOnly${sameSite === undefined ? '' : `; SameSite=${sameSite}`}${secure ? '; Secure' : ''}`,
  );
}

/** The value of a cookie whose name may have capital letters. */
export const cookieNamed = (r: Request, name: string): string | undefined => cookieValue(r, name.toLowerCase());
