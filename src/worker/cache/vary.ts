import { createHash } from 'node:crypto';
import type { Request } from '../http/request/request.js';

/** Headers whose lists are compared without regard to blanks. */
const LISTS = new Set(['accept-charset', 'accept-encoding', 'accept-language']);

/**
 * The request headers that a response varies by, as text that is equal for requests that may share a response. nginx:
 * ngx_http_file_cache_vary.
 */
export function varyText(r: Request, vary: string): string {
  let text = '';
  for (const name of vary.toLowerCase().split(/[ ,]+/)) {
    if (name !== '') {
      text += `${name}:${headerText(r, name)}\r\n`;
    }
  }
  return text;
}

// nginx: ngx_http_file_cache_vary_header.
function headerText(r: Request, name: string): string {
  const { names, headers } = r.head;
  const list = LISTS.has(name);
  let text = '';
  let several = false;
  for (let i = 0; i < names.length; i++) {
    if (names[i] !== name) {
      continue;
    }
    const value = headers[i * 2 + 1]!;
    for (const part of list ? value.split(/[ ,]+/) : [value]) {
      if (list && part === '') {
        continue;
      }
      text += several ? `,${part}` : part;
      several = true;
    }
  }
  return text;
}

/** The digest of a key's variant: the name of its file when the key's own is another variant. */
export function variantHash(main: string, text: string): string {
  return createHash('md5').update(main, 'hex').update(text, 'latin1').digest('hex');
}
