import { asStatus } from '../../task/codes.js';
import { checkClientCertificate } from '../../tls/request-check.js';
import type { KnownClient } from '../connection/known-client.js';
import { ERROR_CODE } from '../http2-frames/protocol.js';
import { refuseRequest, startRequest } from '../request/start-request.js';
import { takeHead } from '../serving/take-head.js';
import type { RequestReader } from './request-reader.js';
import type { RequestStream } from './request-stream.js';

/**
 * Answers the request whose fields the reader was given, which took `length` bytes. `status`: what to refuse it with, or 0. nginx: the end
 * of ngx_http_v2_run_request, of ngx_http_v3_process_request_header.
 */
export function beginRequest<C extends KnownClient>(stream: RequestStream<C>, reader: RequestReader, status: number, length: number): void {
  const r = stream.request;
  r.head.length = length;
  takeHead(r, r.head);
  if (status !== 0) {
    if (reader.malformed) {
      stream.afterwards = ERROR_CODE.PROTOCOL_ERROR;
    }
    refuseRequest(r, asStatus(status));
    return;
  }
  stream.action = undefined;
  stream.upgradeKey = reader.upgradeKey;
  const { priority } = reader;
  if (priority !== undefined) {
    stream.prioritize(priority);
  }
  const refused = stream.ownTls ? checkClientCertificate(r) : 0;
  if (refused === 0) {
    startRequest(r);
  } else {
    refuseRequest(r, asStatus(refused));
  }
}
