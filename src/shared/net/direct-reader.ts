// Reads without node:stream. libuv reports bytes by calling the handle's `onread`; Node's own function spends more time on its stream
// than on the call. Node has no public way to replace it.
import type { Socket } from 'node:net';
import { streamBinding } from './stream-binding.js';

interface Handle {
  onread: (this: Handle, bytes: ArrayBuffer | undefined) => unknown;
  reading: boolean;
  readStop(): number;
}

/**
 * Has `take` called with the number of bytes that came, for a plain socket that was opened with `onread` and reads into that buffer.
 * `take` returns false to stop reading until the socket is resumed. Everything else, such as the end, still goes the socket's own way.
 */
export function readDirectly(socket: Socket, take: (length: number) => boolean): void {
  const node = streamBinding();
  const handle = (socket as unknown as { readonly _handle: Handle | null })._handle;
  if (node === null || handle === null) {
    return;
  }
  const { streamBaseState, kReadBytesOrError } = node;
  const usual = handle.onread;
  handle.onread = (bytes) => {
    const length = streamBaseState[kReadBytesOrError] as number;
    if (length <= 0) {
      return usual.call(handle, bytes);
    }
    if (take(length)) {
      return undefined;
    }
    handle.reading = false;
    const error = handle.readStop();
    if (error !== 0) {
      socket.destroy();
    }
    return undefined;
  };
}
