import { escapeHtml } from '../../http/syntax/uri-escape.js';
import type { ListEntry } from './entries.js';

/** The list as XML, an element for each entry. nginx: ngx_http_autoindex_xml. */
export function xmlList(entries: readonly ListEntry[]): string {
  let text = '<?xml version="1.0"?>\r\n<list>\r\n';
  for (const { name, kind, mtime, size } of entries) {
    const time = new Date(mtime * 1000).toISOString().replace('.000Z', 'Z');
    const sizeAttribute = kind === 'file' ? ` size="${size}"` : '';
    text += `<${kind} mtime="${time}"${sizeAttribute}>${escapeHtml(name)}</${kind}>\r\n`;
  }
  return `${text}</list>\r\n`;
}
