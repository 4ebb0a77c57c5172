import { clientSlot } from '../../http/request/client-settings.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, type Variable } from '../../module.js';
import { httpDate } from '../../text/http-date.js';

/** A variable that keeps the value that it had when it was asked for first, as nginx's does. */
const settled = (name: string, get: (r: Request) => string | undefined): Variable => ({ name, cacheable: true, get });
const live = (name: string, get: (r: Request) => string | undefined): Variable => ({ name, cacheable: false, get });

function status(r: Request): string {
  const code = r.errStatus !== 0 ? r.errStatus : r.out.status !== 0 ? r.out.status : r.httpVersion === 9 ? 9 : 0;
  return String(code).padStart(3, '0');
}

function contentType(r: Request): string | undefined {
  const { contentType: type, charset } = r.out;
  if (type === '') {
    return undefined;
  }
  return charset === '' ? type : `${type}; charset=${charset}`;
}

/** Whether a variable's suffix stands for a field's name: `_` there is `-` or `_` here. */
function standsFor(suffix: string, name: string): boolean {
  if (name.length !== suffix.length) {
    return false;
  }
  const lower = name.toLowerCase();
  return lower === suffix || lower.replaceAll('-', '_') === suffix;
}

/** All values of a response header, joined. nginx: ngx_http_variable_unknown_header, ngx_http_variable_headers. */
function sentHeader(r: Request, suffix: string): string | undefined {
  let value: string | undefined;
  for (const header of r.out.list) {
    if (!standsFor(suffix, header.name)) {
      continue;
    }
    value = value === undefined ? header.value : `${value}, ${header.value}`;
  }
  return value;
}

function sentConnection(r: Request): string {
  if (r.out.status === 101) {
    return 'upgrade';
  }
  return r.keepalive ? 'keep-alive' : 'close';
}

function lastModified(r: Request): string | undefined {
  const { lastModified: seconds, lastModifiedText } = r.out;
  return lastModifiedText ?? (seconds === -1 ? undefined : httpDate(seconds * 1000));
}

function sentTrailer(r: Request, suffix: string): string | undefined {
  const { trailers } = r.out;
  let value: string | undefined;
  for (let i = 0; i < trailers.length; i += 2) {
    if (standsFor(suffix, trailers[i]!)) {
      value = value === undefined ? trailers[i + 1] : `${value}, ${trailers[i + 1]}`;
    }
  }
  return value;
}

const variables: readonly Variable[] = [
  live('status', status),
  live('bytes_sent', (r) => String(r.main.bytesSent)),
  live('body_bytes_sent', (r) => String(Math.max(0, r.main.bytesSent - r.main.headerSize))),
  settled('sent_http_content_type', contentType),
  settled('sent_http_content_length', (r) => (r.out.contentLength >= 0 ? String(r.out.contentLength) : undefined)),
  settled('sent_http_last_modified', lastModified),
  settled('sent_http_location', (r) => r.out.location ?? sentHeader(r, 'location')),
  settled('sent_http_connection', sentConnection),
  settled('sent_http_keep_alive', (r) => {
    const seconds = r.location.conf(clientSlot).keepaliveHeader;
    return r.keepalive && seconds > 0 ? `timeout=${seconds}` : undefined;
  }),
  settled('sent_http_transfer_encoding', (r) => (r.chunkedOut ? 'chunked' : undefined)),
  { name: 'sent_http_', prefix: true, cacheable: true, get: sentHeader },
  { name: 'sent_trailer_', prefix: true, cacheable: true, get: sentTrailer },
];

/** Variables about the response. nginx: ngx_http_core_variables. */
export const varsResponseModule = defineModule({ name: 'vars_response', variables });
