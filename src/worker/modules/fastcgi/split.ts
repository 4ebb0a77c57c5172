import type { RegexValue } from '../../../shared/value/regex-value.js';
import { contextSlot, type Request } from '../../http/request/request.js';
import { LocationSlot } from '../../task/settings-slot.js';

interface Split {
  readonly uri: string;
  readonly script: string;
  readonly info: string;
}

/** How `$fastcgi_script_name` and `$fastcgi_path_info` are made. */
interface ScriptRules {
  readonly index: string;
  readonly split: RegexValue<Request> | undefined;
}

export const scriptSlot = new LocationSlot<ScriptRules>();

const slot = contextSlot<Split>();

/** Cuts the URI into script and path info as `fastcgi_split_path_info` says; kept while the URI stays. nginx: ngx_http_fastcgi_split. */
function split(r: Request): Split | undefined {
  const { split: regex } = r.location.conf(scriptSlot);
  if (regex === undefined) {
    return undefined;
  }
  const known = slot.get(r);
  if (known !== undefined && known.uri === r.uri) {
    return known;
  }
  // The captures of the request itself stay as they are.
  const captures = r.captures;
  const found = regex.exec(r, r.uri);
  const made: Split =
    found === true ? { uri: r.uri, script: r.captures?.[1] ?? '', info: r.captures?.[2] ?? '' } : { uri: r.uri, script: r.uri, info: '' };
  r.captures = captures;
  slot.set(r, made);
  return made;
}

/** nginx: ngx_http_fastcgi_script_name_variable. */
export function scriptName(r: Request): string {
  const script = split(r)?.script ?? r.uri;
  return script.endsWith('/') ? script + r.location.conf(scriptSlot).index : script;
}

/** nginx: ngx_http_fastcgi_path_info_variable. */
export function pathInfo(r: Request): string {
  return split(r)?.info ?? '';
}
