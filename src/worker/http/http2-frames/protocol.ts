/** Types of frames (RFC 9113, 6; RFC 9218, 7.1). */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
  PRIORITY_UPDATE: 16,
} as const;

/** Flags of frames. */
export const FLAG = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const;

/** Error codes (RFC 9113, 7). */
export const ERROR_CODE = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
} as const;

/** Parameters of SETTINGS (RFC 9113, 6.5.2; RFC 8441, 3). */
export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  ENABLE_CONNECT_PROTOCOL: 8,
} as const;

/** Bytes of a frame's head. */
export const FRAME_HEAD = 9;
/** The longest frame there can be, and the longest that everybody takes. */
export const MAX_FRAME = 2 ** 24 - 1;
export const DEFAULT_FRAME = 2 ** 14;
/** The largest window, and what a window is unless somebody says otherwise. */
export const MAX_WINDOW = 2 ** 31 - 1;
export const DEFAULT_WINDOW = 65535;

/** What a client sends first (RFC 9113, 3.4). */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
