// Node's sockets read into memory that one gives them if one opens them oneself (`onread`). This does the same for sockets that are open
// already, such as those that a TLS handshake brought about, by setting what node:net sets itself.
import { Socket } from 'node:net';
import { spoil } from '../../shared/system/spoil.js';

/**
 * Takes what arrived on a connection. The memory is used again after the call; only the first `length` bytes count.
 * Returns false to stop reading until the socket is resumed.
 */
type ByteTaker = (bytes: Buffer, length: number) => boolean;

/** node:net's own properties for `onread`. */
interface Keys {
  readonly buffer: symbol;
  readonly callback: symbol;
}

interface Handle {
  useUserBuffer?(buffer: Buffer): void;
}

/** A record of TLS brings 16 KB at most. */
const buffer = Buffer.allocUnsafeSlow(16 * 1024);
let found: Keys | null | undefined;

/** The properties, or null where this Node has them no more. */
function keys(): Keys | null {
  if (found === undefined) {
    const all = Object.getOwnPropertySymbols(new Socket());
    const named = (name: string): symbol | undefined => all.find(({ description }) => description === name);
    const [bufferKey, callback] = [named('kBuffer'), named('kBufferCb')];
    found = bufferKey === undefined || callback === undefined ? null : { buffer: bufferKey, callback };
  }
  return found;
}

/**
 * Gives what a TLS socket brings to `take`, what it has brought already at once, in memory that all of them share. Returns false where
 * Node cannot do that.
 */
export function readInto(socket: Socket, take: ByteTaker): boolean {
  const names = keys();
  const handle = (socket as unknown as { _handle: Handle | null })._handle;
  if (names === null || handle?.useUserBuffer === undefined) {
    return false;
  }
  handle.useUserBuffer(buffer);
  const fields = socket as unknown as Record<symbol, unknown>;
  fields[names.buffer] = buffer;
  fields[names.callback] = (length: number): boolean => lend(take, length);
  const early = socket.read() as Buffer | null;
  if (early !== null) {
    take(early, early.length);
  }
  return true;
}

function lend(take: ByteTaker, length: number): boolean {
  const more = take(buffer, length);
  spoil(buffer, 0, length);
  return more;
}
