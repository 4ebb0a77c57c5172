import { httpPart, type LocationRuntime } from '../../http/request/http-runtime.js';
import type { Request } from '../../http/request/request.js';
import type { UpstreamGroup } from '../group/group.js';
import type { Http1Reader } from '../response/http1-reader.js';
import type { Exchange } from './protocol.js';
import type { UpstreamRequest } from './upstream-request.js';

/** The backends of a location, for whoever asks them something on the server's own account. */
export interface LocationBackend {
  readonly group: UpstreamGroup;
  /** Makes what asks a backend for the URI of a request of ours, by the location's settings. It is not started. */
  ask(r: Request): { readonly u: UpstreamRequest; readonly reader: Http1Reader & Exchange };
}

/** The backends of locations that always ask the same group. */
export const backendsOf = httpPart(() => new Map<LocationRuntime, LocationBackend>());
