/** Codes of the transport (RFC 9000, 20.1). */
export const Code = {
  NO_ERROR: 0,
  INTERNAL: 1,
  REFUSED: 2,
  FLOW_CONTROL: 3,
  STREAM_LIMIT: 4,
  STREAM_STATE: 5,
  FINAL_SIZE: 6,
  FRAME_ENCODING: 7,
  TRANSPORT_PARAMETER: 8,
  CONNECTION_ID_LIMIT: 9,
  PROTOCOL: 10,
  INVALID_TOKEN: 11,
  APPLICATION: 12,
  CRYPTO_BUFFER: 13,
  KEY_UPDATE: 14,
  AEAD_LIMIT: 15,
} as const;

/** Alerts of TLS, which are codes of the transport from here on. */
export const ALERT = 0x100;
export const Alert = { UNEXPECTED_MESSAGE: 10, HANDSHAKE_FAILURE: 40, INTERNAL: 80, MISSING_EXTENSION: 109, NO_PROTOCOL: 120 } as const;

/** What the peer did makes the connection end with this code. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly code: number;
  /** The frame's type. */
  readonly frame: number;

  constructor(code: number, reason: string, frame = 0) {
    super(reason);
    this.code = code;
    this.frame = frame;
  }
}
