import type { Faults } from '../http2-frames/endpoint.js';

/** What the log says of a client that breaks the rules. nginx: the messages of ngx_http_v2.c. */
export const clientFaults: Faults = {
  length: (name, length) => `client sent ${name} frame with incorrect length ${length}`,
  identifier: (name) => `client sent ${name} frame with incorrect identifier`,
  paddedData: (length) => `client sent padded DATA frame with incorrect length: ${length}`,
  paddedHeaders: (length, padding) => `client sent padded HEADERS frame with incorrect length: ${length}, padding: ${padding}`,
  emptyBlock: 'client sent HEADERS frame with empty header block',
  withinSection: () => 'client sent inappropriate frame while CONTINUATION was expected',
  strayContinuation: 'client sent unexpected CONTINUATION frame',
  otherContinuation: 'client sent CONTINUATION frame with incorrect identifier',
  manyContinuations: 'client sent too many CONTINUATION frames',
  largeSection: 'client sent too large header',
  acknowledgement: () => 'client sent SETTINGS frame with the ACK flag and nonzero length',
  noRoom: 'client sent WINDOW_UPDATE frame with incorrect window increment 0',
};
