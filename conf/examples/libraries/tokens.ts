import { errors, jwtVerify, SignJWT } from 'jose';
import type { HttpRequest } from 'sluice/types';

const key = new TextEncoder().encode(process.env.TOKEN_KEY);

/** Gives a token to whoever has passed the location's own checks. */
async function issue(r: HttpRequest): Promise<void> {
  const token = await new SignJWT({ role: 'reader' }).setProtectedHeader({ alg: 'HS256' }).setSubject('ada').setExpirationTime('5m').sign(key);
  r.return(200, token);
}

/** For `js_access`: lets requests with a good token pass. */
async function check(r: HttpRequest): Promise<void> {
  try {
    await jwtVerify((r.headersIn.authorization ?? '').replace(/^Bearer /, ''), key, { algorithms: ['HS256'] });
  } catch (error) {
    r.error(`token refused: ${error instanceof errors.JOSEError ? error.code : error}`);
    r.return(401);
  }
}

export default { issue, check };
