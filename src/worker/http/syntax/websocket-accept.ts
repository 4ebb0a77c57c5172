import { hash } from 'node:crypto';

/** What RFC 6455, 1.3, has the server hash behind the key. */
const SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The `Sec-WebSocket-Accept` that answers a `Sec-WebSocket-Key`. */
export const acceptOf = (key: string): string => hash('sha1', key + SUFFIX, 'base64');
