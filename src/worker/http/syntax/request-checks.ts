import { HeaderSlot } from './header-names.js';
import { METHOD } from './method.js';
import type { RequestHead } from './request-head.js';
import { HTTP_10, HTTP_11 } from './request-line.js';

/**
 * Checks what a complete request head says about its host, its body and its method, and takes the framing of the body from it. Returns 0,
 * or the status to refuse the request with and the reason in `head.error` (nginx: ngx_http_process_request_header).
 */
export function checkHead(head: RequestHead, allowConnect: boolean): number {
  if (!head.has(HeaderSlot.host) && head.version > HTTP_10) {
    return refuse(head, 400, 'client sent HTTP/1.1 request without "Host" header');
  }

  const length = head.known(HeaderSlot.contentLength);
  if (length !== undefined) {
    head.contentLength = parseContentLength(length);
    if (head.contentLength === -1) {
      return refuse(head, 400, 'client sent invalid "Content-Length" header');
    }
  }
  const encoding = head.known(HeaderSlot.transferEncoding);
  if (encoding !== undefined) {
    if (head.version < HTTP_11) {
      return refuse(head, 400, 'client sent HTTP/1.0 request with "Transfer-Encoding" header');
    }
    if (encoding.length !== 7 || encoding.toLowerCase() !== 'chunked') {
      return refuse(head, 501, `client sent unknown "Transfer-Encoding": "${encoding}"`);
    }
    // Whoever is in front of us may have believed the other one of the two.
    if (length !== undefined) {
      return refuse(head, 400, 'client sent "Content-Length" and "Transfer-Encoding" headers at the same time');
    }
    head.chunked = true;
  }

  if (head.methodBit === METHOD.CONNECT) {
    if (head.version !== HTTP_11 || !allowConnect) {
      return refuse(head, 405, 'client sent CONNECT method');
    }
    if (head.contentLength > 0 || head.chunked) {
      return refuse(head, 400, 'client sent CONNECT request with body');
    }
  }
  return head.methodBit === METHOD.TRACE ? refuse(head, 405, 'client sent TRACE method') : 0;
}

function refuse(head: RequestHead, status: number, error: string): number {
  head.error = error;
  return status;
}

/** The number that a Content-Length header gives; -1 if it is malformed or does not fit into 63 bits (nginx: ngx_atoof). */
export function parseContentLength(text: string): number {
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) {
      return -1;
    }
    value = value * 10 + digit;
  }
  // A double cannot tell the largest numbers apart; the digits can.
  if (value >= 2 ** 63 - 1024 && BigInt(text) > 0x7fffffffffffffffn) {
    return -1;
  }
  return text === '' ? -1 : value;
}
