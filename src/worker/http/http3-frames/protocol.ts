/** Types of frames (RFC 9114, 7.2; RFC 9218, 7.2). */
export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  CANCEL_PUSH: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  GOAWAY: 7,
  MAX_PUSH_ID: 13,
  PRIORITY_UPDATE_REQUEST: 0xf0700,
  PRIORITY_UPDATE_PUSH: 0xf0701,
} as const;

/** Whether a type is one that HTTP/2 has and HTTP/3 must not (RFC 9114, 7.2.8). */
export const isHttp2Frame = (type: number): boolean => type === 2 || type === 6 || type === 8 || type === 9;

/** Error codes (RFC 9114, 8.1; RFC 9204, 6). */
export const H3_ERROR = {
  NO_ERROR: 0x100,
  GENERAL_PROTOCOL_ERROR: 0x101,
  INTERNAL_ERROR: 0x102,
  STREAM_CREATION_ERROR: 0x103,
  CLOSED_CRITICAL_STREAM: 0x104,
  FRAME_UNEXPECTED: 0x105,
  FRAME_ERROR: 0x106,
  EXCESSIVE_LOAD: 0x107,
  ID_ERROR: 0x108,
  SETTINGS_ERROR: 0x109,
  MISSING_SETTINGS: 0x10a,
  REQUEST_REJECTED: 0x10b,
  REQUEST_CANCELLED: 0x10c,
  REQUEST_INCOMPLETE: 0x10d,
  MESSAGE_ERROR: 0x10e,
  CONNECT_ERROR: 0x10f,
  VERSION_FALLBACK: 0x110,
  QPACK_DECOMPRESSION_FAILED: 0x200,
  QPACK_ENCODER_STREAM_ERROR: 0x201,
  QPACK_DECODER_STREAM_ERROR: 0x202,
} as const;

/** Parameters of SETTINGS (RFC 9114, 7.2.4.1; RFC 9204, 5; RFC 9220, 3). */
export const H3_SETTING = {
  QPACK_MAX_TABLE_CAPACITY: 1,
  MAX_FIELD_SECTION_SIZE: 6,
  QPACK_BLOCKED_STREAMS: 7,
  ENABLE_CONNECT_PROTOCOL: 8,
} as const;

/** Whether a parameter is one of HTTP/2's, or reserved beside them, which HTTP/3 must not have (RFC 9114, 11.2.2). */
export const isHttp2Setting = (id: number): boolean => id === 0 || (id >= 2 && id <= 5);

/** Types of streams in one direction (RFC 9114, 6.2; RFC 9204, 4.2). */
export const STREAM = { CONTROL: 0, PUSH: 1, ENCODER: 2, DECODER: 3 } as const;
