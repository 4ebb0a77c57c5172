import { createHash } from 'crypto';

const variants = ['a', 'b'];

/** The variant that the visitor was given before. */
function kept(r) {
  return /(?:^|;\s*)variant=(a|b)(?:;|$)/.exec(r.headersIn.Cookie ?? '')?.[1];
}

/** $variant: the one of before, else one that the same visitor is given again as long as the cookie is not there yet. */
function variant(r) {
  const visitor = `${r.remoteAddress} ${r.headersIn['User-Agent']}`;
  return kept(r) ?? variants[createHash('md5').update(visitor).digest()[0] % variants.length];
}

/** Has the browser keep it for a month. */
function remember(r) {
  if (kept(r) === undefined) {
    const cookies = r.headersOut['Set-Cookie'] ?? [];
    r.headersOut['Set-Cookie'] = [...cookies, `variant=${r.variables.variant}; Path=/; Max-Age=2592000; SameSite=Lax`];
  }
}

export default { variant, remember };
