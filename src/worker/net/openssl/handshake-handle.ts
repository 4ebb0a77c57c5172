// What stands below Node's cipher in a connection's place while it shakes hands: a stream whose writes JavaScript gets. Node has no public
// way to that.

import type { ConnectionHandle } from '../../../shared/net/connection-handle.js';
import type { WriteRequest } from '../../../shared/net/handle-binding.js';

/** Node's stream of which all is done in JavaScript. */
export interface HandshakeHandle extends ConnectionHandle {
  isClosing(): boolean;
  /** Sends the pieces, which are its own. `finishWrite` follows, later. */
  onwrite(request: WriteRequest, pieces: readonly Buffer[]): number;
  finishWrite(request: WriteRequest, status: number): void;
}

type Maker = new () => HandshakeHandle;

let loaded: Maker | null | undefined;

/** The class of such streams, or null where this Node has it no more. */
export function handshakeHandle(): Maker | null {
  if (loaded === undefined) {
    try {
      const { JSStream } = (process as unknown as { binding(name: string): { readonly JSStream?: Maker } }).binding('js_stream');
      loaded = typeof JSStream?.prototype.finishWrite === 'function' ? JSStream : null;
    } catch {
      loaded = null;
    }
  }
  return loaded;
}
