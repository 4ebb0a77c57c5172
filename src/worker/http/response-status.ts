import type { Request } from './request.js';

const REASONS: Readonly<Record<number, string>> = {
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
  425: 'Too Early',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Temporarily Unavailable',
  504: 'Gateway Time-out',
  505: 'HTTP Version Not Supported',
  507: 'Insufficient Storage',
};

/** The words after a status in nginx's responses; empty for a status it has no words for. */
export const reasonPhrase = (status: number): string => REASONS[status] ?? '';

const TITLES: Readonly<Record<number, string>> = {
  302: '302 Found',
  494: '400 Request Header Or Cookie Too Large',
  495: '400 The SSL certificate error',
  496: '400 No required SSL certificate was sent',
  497: '400 The plain HTTP request was sent to HTTPS port',
};

const EMPTY = Buffer.alloc(0);

/** The built-in page of an error or redirect; empty for a status that has none. nginx: ngx_http_error_pages. */
export function errorPageBody(status: number, r: Request): Buffer {
  if (status < 300 || (status < 400 && status > 308) || (REASONS[status] === undefined && TITLES[status] === undefined) || status === 304)
    return EMPTY;
  const title = TITLES[status] ?? `${status} ${REASONS[status]}`;
  const server = r.location.settings.serverTokens.eval(r);
  return Buffer.from(
    `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>${server}</center>\r\n</body>\r\n</html>\r\n`,
    'latin1',
  );
}
