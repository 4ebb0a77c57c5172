import { hexDigit } from '../../../shared/text/hex-digit.js';

/** What a text is escaped for (nginx: NGX_ESCAPE_URI and so on; `mail-auth` is `memcached` there too). */
export type EscapeType = 'uri' | 'args' | 'component' | 'html' | 'refresh' | 'memcached';

const hexDigits = '0123456789ABCDEF';

function table(fromControls: boolean, unsafe: string): Uint8Array {
  const escaped = new Uint8Array(256);
  if (fromControls) {
    for (let c = 0; c <= 0x20; c++) {
      escaped[c] = 1;
    }
    for (let c = 0x7f; c < 0x100; c++) {
      escaped[c] = 1;
    }
  }
  for (let i = 0; i < unsafe.length; i++) {
    escaped[unsafe.charCodeAt(i)] = 1;
  }
  return escaped;
}

// What RFC 3986 allows nowhere.
const notInUris = '"<>\\^`{|}';

const tables: { readonly [type in EscapeType]: Uint8Array } = {
  uri: table(true, `#%?${notInUris}`),
  args: table(true, `#%&+;?${notInUris}`),
  component: table(true, `!#$%&'()*+,/:;=?@[]${notInUris}`),
  html: table(true, `#%'${notInUris}`),
  // "}" passes and "~" does not: so nginx's table has it.
  refresh: table(true, '"\'<>\\^`{|~'),
  memcached: table(false, ' %'),
};
for (let c = 0; c < 0x20; c++) {
  tables.memcached[c] = 1;
}

/** The text with every byte that `type` does not allow as "%XX" (nginx: ngx_escape_uri). */
export function escapeUri(text: string, type: EscapeType): string {
  const escaped = tables[type];
  for (let i = 0; i < text.length; i++) {
    if (escaped[text.charCodeAt(i)] === 1) {
      return escapeFrom(text, i, escaped);
    }
  }
  return text;
}

function escapeFrom(text: string, first: number, escaped: Uint8Array): string {
  let out = text.slice(0, first);
  let copied = first;
  for (let i = first; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (escaped[c] === 1) {
      out += `${text.slice(copied, i)}%${hexDigits[c >> 4]}${hexDigits[c & 15]}`;
      copied = i + 1;
    }
  }
  return out + text.slice(copied);
}

/**
 * Decodes "%XX" sequences (nginx: ngx_unescape_uri). A broken sequence loses its "%", and its first digit if only the second is
 * wrong. 'redirect' leaves alone what may not stand unescaped in a Location header, and everything after the first "?".
 */
export function unescapeUri(text: string, type: 'all' | 'redirect'): string {
  const first = text.indexOf('%');
  if (first === -1) {
    return text;
  }
  const question = type === 'redirect' ? text.indexOf('?') : -1;
  const end = question === -1 ? text.length : question;
  if (first > end) {
    return text;
  }

  let out = text.slice(0, first);
  for (let i = first; i < end; i++) {
    if (text.charCodeAt(i) !== 0x25) {
      out += text[i];
      continue;
    }
    if (++i === end) {
      break;
    }
    const high = hexDigit(text.charCodeAt(i));
    if (high === -1) {
      out += text[i];
      continue;
    }
    if (++i === end) {
      break;
    }
    const low = hexDigit(text.charCodeAt(i));
    if (low === -1) {
      continue;
    }
    const c = (high << 4) | low;
    if (type === 'all') {
      out += String.fromCharCode(c);
    } else if (c === 0x3f) {
      return `${out}?${text.slice(i + 1)}`;
    } else {
      out += c > 0x25 && c < 0x7f ? String.fromCharCode(c) : text.slice(i - 2, i + 1);
    }
  }
  return out + text.slice(end);
}

/** The text with "<", ">", "&" and the double quote as entities (nginx: ngx_escape_html). */
export function escapeHtml(text: string): string {
  return /[<>&"]/.test(text) ? text.replace(/[<>&"]/g, entity) : text;
}

function entity(c: string): string {
  return c === '<' ? '&lt;' : c === '>' ? '&gt;' : c === '&' ? '&amp;' : '&quot;';
}
