import { Buffer } from 'node:buffer';
import { EMPTY } from '../../bytes/empty.js';
import { BROWSER, browserFlags } from '../syntax/browser.js';
import { HeaderSlot } from '../syntax/header-names.js';
import { HTTP_10 } from '../syntax/request-line.js';
import { documentSlot } from './document-settings.js';
import { errorPageSlot } from './error-page.js';
import type { Request } from './request.js';

const reasons: Readonly<Record<number, string>> = {
  100: 'Continue',
  103: 'Early Hints',
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Moved Temporarily',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Not Allowed',
  406: 'Not Acceptable',
  407: 'Proxy Authentication Required',
  408: 'Request Time-out',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Request Entity Too Large',
  414: 'Request-URI Too Large',
  415: 'Unsupported Media Type',
  416: 'Requested Range Not Satisfiable',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Temporarily Unavailable',
  504: 'Gateway Time-out',
  505: 'HTTP Version Not Supported',
  507: 'Insufficient Storage',
};

// Pages whose title is not the status line's text.
const titles: Readonly<Record<number, string>> = {
  302: '302 Found',
  401: '401 Authorization Required',
  494: '400 Request Header Or Cookie Too Large',
  495: '400 The SSL certificate error',
  496: '400 No required SSL certificate was sent',
  497: '400 The plain HTTP request was sent to HTTPS port',
  498: '404 Not Found',
};

const padding = '<!-- a padding to disable MSIE and Chrome friendly error page -->\r\n'.repeat(6);

/** The words after a status in nginx's responses; empty for a status it has no words for (nginx: ngx_http_status_lines). */
export const reasonPhrase = (status: number): string => reasons[status] ?? '';

// Pages by status and by what stands at their foot; there are as few different ones as there are statuses and servers' names.
const pages = new Map<string, Buffer>();
/**
 * The built-in page of an error or redirect; empty for a status that has none. Some browsers replace a short page by their own, so it is
 * padded for them (nginx: ngx_http_send_special_response).
 */
export function errorPageBody(status: number, r: Request): Buffer {
  const server = r.location.conf(documentSlot).serverTokens.eval(r);
  const padded =
    status >= 400 &&
    r.location.conf(errorPageSlot).msiePadding &&
    r.httpVersion >= HTTP_10 &&
    needsPadding(r.head.known(HeaderSlot.userAgent));
  const key = `${padded ? '+' : '-'}${status}${server}`;
  let page = pages.get(key);
  if (page === undefined) {
    const text = pageText(status, server);
    page = text === '' ? EMPTY : Buffer.from(padded ? text + padding : text, 'latin1');
    pages.set(key, page);
  }
  return page;
}

function needsPadding(userAgent: string | undefined): boolean {
  return userAgent !== undefined && (browserFlags(userAgent) & (BROWSER.MSIE | BROWSER.CHROME)) !== 0;
}

function pageText(status: number, server: string): string {
  const reason = reasons[status];
  const title = titles[status] ?? (reason === undefined ? '' : `${status} ${reason}`);
  if (title === '' || status < 301 || status === 304) {
    return '';
  }
  // The statuses of nginx's own are a 400 to the client, and say more below the heading.
  const special = status >= 494 && status <= 497;
  const heading = special ? '400 Bad Request' : title;
  const detail = special ? `<center>${title.slice(4)}</center>\r\n` : '';
  return (
    `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${heading}</h1></center>\r\n${detail}` +
    `<hr><center>${server}</center>\r\n</body>\r\n</html>\r\n`
  );
}
