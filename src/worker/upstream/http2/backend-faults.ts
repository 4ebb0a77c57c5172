import type { Faults } from '../../http/http2-frames/endpoint.js';
import { FRAME } from '../../http/http2-frames/protocol.js';

/** The name of a frame as nginx writes it of a backend's. */
export const lower = (name: string): string => name.toLowerCase().replaceAll('_', ' ');

const unexpected = (type: number): string => `upstream sent unexpected http2 frame: ${type}`;

/** What the log says of a backend that breaks the rules. nginx: the messages of ngx_http_grpc_module.c. */
export const backendFaults: Faults = {
  length: (name, length) => `upstream sent ${lower(name)} frame with invalid length: ${length}`,
  identifier: (name, streamId) => `upstream sent ${lower(name)} frame with non-zero stream id: ${streamId}`,
  paddedData: (length, padding) =>
    length === 0
      ? 'upstream sent too short http2 frame'
      : `upstream sent http2 frame with too long padding: ${padding} in frame ${length - 1}`,
  paddedHeaders: (length, padding) => `upstream sent http2 frame with too long padding: ${padding} in frame ${length}`,
  emptyBlock: undefined,
  withinSection: unexpected,
  strayContinuation: unexpected(FRAME.CONTINUATION),
  otherContinuation: unexpected(FRAME.CONTINUATION),
  manyContinuations: 'upstream sent too many continuation frames',
  largeSection: 'upstream sent too large http2 header',
  acknowledgement: (length) => `upstream sent settings frame with ack flag and non-zero length: ${length}`,
  noRoom: 'upstream sent zero window update',
};
