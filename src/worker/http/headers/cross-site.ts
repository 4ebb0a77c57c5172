import { ownValue } from '../../../shared/collection/own-value.js';
import type { Request } from '../request/request.js';

/** The port that an origin does not show, by its scheme. */
const USUAL_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * Whether a browser made the request on behalf of a page that this server did not serve: then it must not change anything, whatever
 * address or password the browser has. Programs send neither of the two headers. A text for the log; undefined: it may go on.
 */
export function crossSite(r: Request): string | undefined {
  const sites = r.head.joined('sec-fetch-site', ', ');
  if (sites !== undefined && sites !== 'same-origin' && sites !== 'none') {
    return `a page of another site sent it (Sec-Fetch-Site: ${sites})`;
  }
  const origins = r.head.joined('origin', ', ');
  if (origins !== undefined && !isOwn(origins, r.head.host, r.head.port)) {
    return `a page of another origin sent it (Origin: ${origins})`;
  }
  return undefined;
}

/** Whether an origin names the host and port that the request was sent to. */
function isOwn(origin: string, host: string, port: number): boolean {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/:[\]@]+|\[[^\]]*\])(?::(\d{1,5}))?$/i.exec(origin);
  if (match === null || host === '') {
    return false;
  }
  const usual = ownValue(USUAL_PORTS, match[1]!.toLowerCase()) ?? 0;
  return match[2]!.toLowerCase() === host && Number(match[3] ?? usual) === (port === 0 ? usual : port);
}
