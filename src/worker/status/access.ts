import { ERROR, NOTICE } from '../../shared/log/level.js';
import { basicCredentials } from '../http/headers/basic-credentials.js';
import { crossSite } from '../http/headers/cross-site.js';
import { noteReasonText } from '../http/request/error-reason.js';
import type { ServerRuntime } from '../http/request/http-runtime.js';
import type { Request } from '../http/request/request.js';
import { KnownHosts } from './known-host.js';

/** Why a request is not answered, in words for its client. */
export type Refused = 'unknown host' | 'cross-site request' | undefined;

/** Guards what an operator's browser can reach and other sites should not: the API and the dashboard. */
export class OperatorAccess {
  readonly #hosts: KnownHosts;
  readonly #what: string;

  /** `what`: what is guarded, for the log. */
  constructor(what: string, server: ServerRuntime) {
    this.#what = what;
    this.#hosts = new KnownHosts(server);
  }

  /** Tests a request; `writes`: it wants to change something. What a script asks for by a subrequest is the script's own business. */
  test(r: Request, writes: boolean): Refused {
    if (r !== r.main) {
      return undefined;
    }
    if (!this.#hosts.knows(r)) {
      refuse(r, `${this.#what} does not answer for the host "${r.head.host}", which no "server_name" has`);
      return 'unknown host';
    }
    const foreign = writes ? crossSite(r) : undefined;
    if (foreign !== undefined) {
      refuse(r, `${this.#what} refuses a change: ${foreign}`);
      return 'cross-site request';
    }
    return undefined;
  }
}

function refuse(r: Request, text: string): void {
  r.log(ERROR, text);
  noteReasonText(r, text);
}

/** Writes to the error log what was changed, and by whom; its line has the address as well. */
export function logChange(r: Request, text: string): void {
  const user = basicCredentials(r)?.user;
  r.log(NOTICE, user === undefined ? text : `${text}, by user "${user}"`);
}

/** Nothing at all: for answers that are no page. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

/** Adds the headers of answers that no page of another site should show or read; `policy`: what a page itself may do. */
export function forOperators(r: Request, policy = NOTHING): void {
  r.out.add('Content-Security-Policy', policy);
  r.out.add('X-Content-Type-Options', 'nosniff');
  r.out.add('Referrer-Policy', 'no-referrer');
  r.out.add('Cross-Origin-Resource-Policy', 'same-origin');
  r.out.add('X-Frame-Options', 'DENY');
}
