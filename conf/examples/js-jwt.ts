import { createHmac, timingSafeEqual } from 'crypto';
import type { HttpRequest } from 'sluice/types';

interface Claims {
  readonly sub?: string;
  readonly exp?: number;
  readonly nbf?: number;
}

const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());

/** The claims of a token that was signed with the secret (HS256) and is valid now. */
function verified(token: string, secret: string): Claims | undefined {
  const [head = '', body = '', signature = '', ...rest] = token.split('.');
  const expected = createHmac('sha256', secret).update(`${head}.${body}`).digest();
  const given = Buffer.from(signature, 'base64url');
  if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return undefined;
  }
  const { alg } = decoded(head) as { alg?: string };
  const claims = decoded(body) as Claims;
  const now = Date.now() / 1000;
  return alg === 'HS256' && (claims.exp ?? 0) > now && (claims.nbf ?? 0) <= now ? claims : undefined;
}

/** Lets requests in that bring a valid token, and tells the backend whose it is. */
function check(r: HttpRequest): void {
  const token = /^Bearer (\S+)$/.exec(r.headersIn.Authorization ?? '')?.[1];
  let claims: Claims | undefined;
  try {
    claims = token === undefined ? undefined : verified(token, r.variables.jwt_secret ?? '');
  } catch {
    // What is no JSON is no token.
  }
  if (claims === undefined) {
    r.headersOut['WWW-Authenticate'] = 'Bearer';
    r.return(401);
    return;
  }
  r.variables.jwt_sub = claims.sub ?? '';
}

export default { check };
