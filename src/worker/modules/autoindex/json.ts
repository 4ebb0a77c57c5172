import { httpDate } from '../../text/http-date.js';
import type { ListEntry } from './entries.js';

/** The list as an array of objects, one a line. nginx: ngx_http_autoindex_json. */
export function jsonList(entries: readonly ListEntry[]): string {
  const lines = entries.map(({ name, kind, mtime, size }) => {
    const sizeField = kind === 'file' ? `, "size":${size}` : '';
    return `\r\n{ "name":"${escapeJson(name)}", "type":"${kind}", "mtime":"${httpDate(mtime * 1000)}"${sizeField} }`;
  });
  return `[${lines.join(',')}\r\n]`;
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

/** Bytes above 0x7f stay as they are, so that names in UTF-8 make JSON in UTF-8. nginx: ngx_escape_json. */
function escapeJson(text: string): string {
  return text.replace(/[\x00-\x1f"\\]/g, (c) => SHORT[c] ?? `\\u00${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
