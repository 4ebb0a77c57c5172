import type { Request } from '../../http/request/request.js';
import { trimmed } from '../../text/trimmed.js';
import { rewriteValue } from './rewrite.js';
import type { CookieFlags, Rewrite } from './settings.js';

/** One attribute of a cookie; the first is its name and value. */
interface Attribute {
  /** Empty for one that was taken out. */
  name: string;
  value: string | undefined;
}

/** What the three `proxy_cookie_*` directives say. */
export interface CookieRules {
  readonly domains: readonly Rewrite[] | null;
  readonly paths: readonly Rewrite[] | null;
  readonly flags: readonly CookieFlags[] | null;
}

/** A Set-Cookie value as clients get it; undefined when it stays as it is. nginx: ngx_http_proxy_rewrite_cookie. */
export function rewriteCookie(r: Request, rules: CookieRules, text: string): string | undefined {
  const attributes = parseCookie(text);
  if (attributes[0]!.value === undefined) {
    return undefined;
  }
  let changed = false;
  for (let i = 1; i < attributes.length; i++) {
    const attribute = attributes[i]!;
    if (attribute.value === undefined) {
      continue;
    }
    const name = attribute.name.toLowerCase();
    const list = name === 'domain' ? rules.domains : name === 'path' ? rules.paths : null;
    const value = list === null ? undefined : rewriteValue(r, list, attribute.value, 0);
    if (value === undefined) {
      continue;
    }
    attribute.value = value;
    changed = true;
  }
  if (rules.flags !== null && applyFlags(r, rules.flags, attributes)) {
    changed = true;
  }
  return changed ? printCookie(attributes) : undefined;
}

// nginx: ngx_http_proxy_parse_cookie.
function parseCookie(text: string): Attribute[] {
  return text.split(';').map((part) => {
    const equals = part.indexOf('=');
    if (equals === -1) {
      return { name: trim(part), value: undefined };
    }
    return { name: trim(part.slice(0, equals)), value: trim(part.slice(equals + 1)) };
  });
}

const trim = (text: string): string => trimmed(text, (code) => code === 0x20);

function printCookie(attributes: readonly Attribute[]): string {
  let text = '';
  for (let i = 0; i < attributes.length; i++) {
    const { name, value } = attributes[i]!;
    if (i > 0 && name === '') {
      continue;
    }
    if (i > 0) {
      text += '; ';
    }
    text += value === undefined ? name : `${name}=${value}`;
  }
  return text;
}

// nginx: ngx_http_proxy_rewrite_cookie_flags.
function applyFlags(r: Request, lines: readonly CookieFlags[], attributes: Attribute[]): boolean {
  const cookie = attributes[0]!.name;
  const line = lines.find(({ name, regex }) =>
    regex === undefined ? name!.eval(r).toLowerCase() === cookie.toLowerCase() : regex.exec(r, cookie),
  );
  if (line === undefined) {
    return false;
  }
  const flags = line.flags.map((flag) => flag.eval(r).toLowerCase()).filter((flag) => KNOWN_FLAGS.has(flag));
  if (flags.length === 0) {
    return false;
  }
  setSwitch(attributes, flags, 'secure', 'Secure');
  setSwitch(attributes, flags, 'httponly', 'HttpOnly');
  setSameSite(attributes, flags);
  return true;
}

const SAME_SITE: readonly (readonly [string, string])[] = [
  ['samesite=strict', 'Strict'],
  ['samesite=lax', 'Lax'],
  ['samesite=none', 'None'],
];
const KNOWN_FLAGS = new Set(['secure', 'nosecure', 'httponly', 'nohttponly', 'nosamesite', ...SAME_SITE.map(([flag]) => flag)]);

// nginx: ngx_http_proxy_edit_cookie_flags.
function setSwitch(attributes: Attribute[], flags: readonly string[], flag: string, name: string): void {
  let on = flags.includes(flag);
  const off = flags.includes(`no${flag}`);
  for (let i = 1; i < attributes.length; i++) {
    const attribute = attributes[i]!;
    if (attribute.name.toLowerCase() !== flag) {
      continue;
    }
    if (on) {
      on = false;
    } else if (off) {
      attribute.name = '';
    }
  }
  if (on) {
    attributes.push({ name, value: undefined });
  }
}

function setSameSite(attributes: Attribute[], flags: readonly string[]): void {
  let value = SAME_SITE.find(([flag]) => flags.includes(flag))?.[1];
  const off = flags.includes('nosamesite');
  for (let i = 1; i < attributes.length; i++) {
    const attribute = attributes[i]!;
    if (attribute.name.toLowerCase() !== 'samesite') {
      continue;
    }
    if (value !== undefined) {
      if (attribute.value?.toLowerCase() !== value.toLowerCase()) {
        attribute.name = 'SameSite';
        attribute.value = value;
      }
      value = undefined;
    } else if (off) {
      attribute.name = '';
    }
  }
  if (value !== undefined) {
    attributes.push({ name: 'SameSite', value });
  }
}
