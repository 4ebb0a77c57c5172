import { twoDigits } from '../../../shared/time/time-format.js';
import { escapeHtml, escapeUri } from '../../http/syntax/uri-escape.js';
import type { ListEntry } from './entries.js';
import { clipUtf8, utf8Length } from './utf8.js';

/** Columns for a name. */
const WIDTH = 50;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The list as a page. `utf8`: names count in characters of UTF-8, not in bytes. nginx: ngx_http_autoindex_html. */
export function htmlList(uri: string, entries: readonly ListEntry[], localtime: boolean, exactSize: boolean, utf8: boolean): string {
  const title = escapeHtml(uri);
  let page = `<html>\r\n<head><title>Index of ${title}</title></head>\r\n<body>\r\n<h1>Index of ${title}</h1>`;
  page += '<hr><pre><a href="../">../</a>\r\n';
  const offset = localtime ? -new Date().getTimezoneOffset() * 60 : 0;
  for (const entry of entries) {
    const folder = entry.kind === 'directory';
    page += `<a href="${escapeUri(entry.name, 'component')}${folder ? '/' : ''}">${nameColumn(entry.name, folder, utf8)} `;
    page += `${dateColumn(entry.mtime + offset)} ${exactSize ? exact(entry, folder) : rounded(entry, folder)}\r\n`;
  }
  return `${page}</pre><hr></body>\r\n</html>\r\n`;
}

/** The visible name, the end of the link, and spaces up to the next column. */
function nameColumn(name: string, folder: boolean, utf8: boolean): string {
  const width = utf8 ? utf8Length(name) : name.length;
  if (width > WIDTH) {
    const start = width === name.length ? name.slice(0, WIDTH - 3) : clipUtf8(name, WIDTH - 3);
    return `${escapeHtml(start)}..&gt;</a>`;
  }
  const slash = folder && width < WIDTH ? '/' : '';
  return `${escapeHtml(name)}${slash}</a>${' '.repeat(WIDTH - width - slash.length)}`;
}

function dateColumn(seconds: number): string {
  const at = new Date(seconds * 1000);
  const day = `${twoDigits(at.getUTCDate())}-${MONTHS[at.getUTCMonth()]}-${at.getUTCFullYear()}`;
  return `${day} ${twoDigits(at.getUTCHours())}:${twoDigits(at.getUTCMinutes())}`;
}

const exact = (entry: ListEntry, folder: boolean): string => (folder ? '-' : `${entry.size}`).padStart(19);

const KILO = 1024;
const MEGA = KILO * KILO;
const GIGA = KILO * MEGA;

function rounded(entry: ListEntry, folder: boolean): string {
  if (folder) {
    return '      -';
  }
  const size = entry.size;
  if (size >= GIGA) {
    return `${Math.round(size / GIGA)}G`.padStart(7);
  }
  if (size >= MEGA) {
    return `${Math.round(size / MEGA)}M`.padStart(7);
  }
  if (size > 9999) {
    return `${Math.round(size / KILO)}K`.padStart(7);
  }
  return `${size}`.padStart(7);
}
