import { parseAddress } from '../../shared/address/address.js';
import type { RegexValue } from '../../shared/value/regex-value.js';
import type { ServerRuntime } from '../http/request/http-runtime.js';
import type { Request } from '../http/request/request.js';
import { WildcardHash } from '../lookup/wildcard-hash.js';

/**
 * The names under which a server may be asked for what only its operator should see. Whoever owns another name can have it lead to this
 * server's address, and so make a browser take the server's answers for those of a page of theirs.
 */
export class KnownHosts {
  readonly #names = new WildcardHash<true>();
  readonly #patterns: RegexValue<Request>[] = [];

  /** The names of `server_name` and of `listen`. */
  constructor({ root }: ServerRuntime) {
    const { serverNames = [], listenNames = [] } = root.info;
    for (const { name, regex } of serverNames) {
      if (regex !== undefined) {
        this.#patterns.push(regex);
      } else if (name !== '') {
        this.#names.add(name, true, true);
      }
    }
    for (const name of ['localhost', ...listenNames]) {
      this.#names.add(name, true, true);
    }
  }

  /**
   * Whether a request was sent to an address or a known name. One without a Host is of no browser, nor is one over a unix socket, whose
   * clients put any word there; a name with a dot may be what a proxy in front was asked for.
   */
  knows(r: Request): boolean {
    const { host } = r.head;
    if (host === '' || parseAddress(host.replace(/^\[|\]$/g, '')) !== undefined || this.#names.find(host) !== undefined) {
      return true;
    }
    if (r.connection.remoteAddress === 'unix:' && !host.includes('.')) {
      return true;
    }
    return this.#patterns.some((regex) => regex.test(r, host));
  }
}
