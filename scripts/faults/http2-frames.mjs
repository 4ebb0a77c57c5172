// Frames of HTTP/2 as the drills send them: header fields are written out, so that no state is kept.

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const T = { DATA: 0, HEADERS: 1, PRIORITY: 2, RST_STREAM: 3, SETTINGS: 4, PING: 6, GOAWAY: 7, WINDOW_UPDATE: 8, CONTINUATION: 9 };
export const END_STREAM = 1;
export const END_HEADERS = 4;

/** The bytes of a frame. */
export function frame(type, flags, id, payload = Buffer.alloc(0)) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, payload]);
}

export function number32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Parameters of SETTINGS: numbers and values by turns. */
export function settings(...pairs) {
  const bytes = Buffer.alloc(pairs.length * 3);
  for (let i = 0; i < pairs.length; i += 2) {
    bytes.writeUInt16BE(pairs[i], i * 3);
    bytes.writeUInt32BE(pairs[i + 1], i * 3 + 2);
  }
  return bytes;
}

function text(value) {
  const length = value.length < 127 ? [value.length] : [127, ...rest(value.length - 127)];
  return Buffer.concat([Buffer.from(length), Buffer.from(value, 'latin1')]);
}

function rest(length) {
  return length < 128 ? [length] : [(length & 0x7f) | 0x80, ...rest(length >> 7)];
}

/** A field, which the table of the other side keeps if it is `kept`. */
export const field = (name, value, kept = false) => Buffer.concat([Buffer.from([kept ? 0x40 : 0]), text(name), text(value)]);

/** The fields of a request. */
export const request = (path, method = 'GET') =>
  Buffer.concat([field(':method', method), field(':scheme', 'http'), field(':path', path), field(':authority', 'localhost')]);
