import type { Request } from '../../http/request/request.js';
import { LocationSlot } from '../../task/settings-slot.js';
import type { UpstreamGroup } from '../group/group.js';
import type { Http1Reader } from '../response/http1-reader.js';
import type { Exchange } from './exchange.js';
import type { Http2Exchange } from './http2-exchange.js';
import type { UpstreamRequest } from './upstream-request.js';

/** The backends of a location, for whoever asks them something on the server's own account. */
export interface LocationBackend {
  readonly group: UpstreamGroup;
  /** Makes what asks a backend for the URI of a request of ours, by the location's settings. It is not started. Of HTTP/1. */
  ask?(r: Request): { readonly u: UpstreamRequest; readonly reader: Http1Reader & Exchange };
  /** Makes what asks over HTTP/2; `message` is posted to a server of gRPC, in its frame. */
  askByHttp2?(r: Request, message: Buffer | undefined): { readonly u: UpstreamRequest; readonly exchange: Http2Exchange };
}

/** The backends of locations that always ask the same group. */
export const backendSlot = new LocationSlot<LocationBackend | undefined>();
