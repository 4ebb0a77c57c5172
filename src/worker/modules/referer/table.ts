import { ALERT } from '../../../shared/log/level.js';
import { type CompiledRegex, matchFailure } from '../../../shared/regex/compile.js';
import type { RegexValue } from '../../../shared/value/regex-value.js';
import type { Request } from '../../http/request/request.js';
import { type AddResult, WildcardHash } from '../../lookup/wildcard-hash.js';
import { lowerAscii } from '../../text/ascii-case.js';

/** Host names longer than this are not looked up. */
const maxHost = 256;

/** The referers of one `valid_referers`. nginx: ngx_http_referer_conf_t. */
export class RefererTable {
  /** Requests without a Referer are valid. */
  none = false;
  /** A Referer without a scheme, as firewalls leave it, is valid. */
  blocked = false;
  /** The server's own names are valid. */
  serverNames = false;
  regexes: readonly CompiledRegex[] | undefined = undefined;
  serverRegexes: readonly RegexValue<Request>[] | undefined = undefined;
  /** By host: what the path must begin with; '' for any. */
  readonly #hosts = new WildcardHash<string>();

  get hasHosts(): boolean {
    return this.#hosts.size > 0;
  }

  add(host: string, path: string): AddResult {
    return this.#hosts.add(host, path, true);
  }

  /** Undefined when an expression gave up. nginx: ngx_http_referer_variable. */
  isValid(r: Request, referer: string | undefined): boolean | undefined {
    if (!this.hasHosts && this.regexes === undefined && this.serverRegexes === undefined) {
      return true;
    }
    if (referer === undefined) {
      return this.none;
    }
    const scheme = referer.length < 'http://i.ru'.length ? undefined : /^https?:\/\//i.exec(referer)?.[0];
    if (scheme === undefined) {
      return this.blocked;
    }
    const rest = referer.slice(scheme.length);
    const end = rest.search(/[/:]/);
    const host = lowerAscii(end < 0 ? rest : rest.slice(0, end));
    if (host.length > maxHost) {
      return false;
    }
    const path = this.#hosts.find(host);
    if (path !== undefined) {
      const slash = rest.indexOf('/', host.length);
      return path === '' || (slash >= 0 && rest.startsWith(path, slash));
    }
    return this.#matches(r, host, rest);
  }

  // nginx: ngx_regex_exec_array.
  #matches(r: Request, host: string, rest: string): boolean | undefined {
    for (const regex of this.serverRegexes ?? []) {
      if (regex.test(r, host)) {
        return true;
      }
      if (regex.failed) {
        return undefined;
      }
    }
    for (const regex of this.regexes ?? []) {
      if (regex.test(rest, r)) {
        return true;
      }
      if (regex.error !== 0) {
        r.log(ALERT, matchFailure(regex, rest));
        return undefined;
      }
    }
    return false;
  }
}
