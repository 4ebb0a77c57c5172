import type { Request } from '../../http/request/request.js';

/**
 * Whether a request can be led to a login page: a browser shows what comes back. What a script or a picture asks for cannot; it is
 * refused, so that the script sees a status instead of another site's page.
 */
export function isNavigation(r: Request): boolean {
  if (r.method !== 'GET' && r.method !== 'HEAD' && r.method !== 'POST') {
    return false;
  }
  if (r.header('upgrade') !== undefined || r.header('x-requested-with')?.toLowerCase() === 'xmlhttprequest') {
    return false;
  }
  // No browser sends a token by itself.
  if (/^bearer /i.test(r.header('authorization') ?? '')) {
    return false;
  }
  const mode = r.header('sec-fetch-mode');
  if (mode !== undefined) {
    return mode === 'navigate';
  }
  const accept = r.header('accept');
  return (
    accept === undefined ||
    (/text\/html|application\/xhtml\+xml|\*\/\*/i.test(accept) && !/^\s*application\/(?:[\w.-]+\+)?json/i.test(accept))
  );
}
