// A descriptor that the ring signals, read by one of libuv's handles, so that the event loop wakes.
import { handleBinding } from '../handle-binding.js';

interface BellHandle {
  onread: () => void;
  open(fd: number): number;
  useUserBuffer(buffer: Buffer): void;
  readStart(): number;
}

interface PipeBinding {
  readonly Pipe: new (type: number) => BellHandle;
  readonly constants: { readonly SOCKET: number };
}

/** More than the 8 bytes of a signal, so that libuv does not ask whether there are others. Node does not keep it from the collector. */
const room = Buffer.allocUnsafeSlow(16);

/** Nor does it keep the handles. */
const handles: BellHandle[] = [];

/** Has `ring` called in the event loop after signals of an eventfd. Throws an Error where this Node cannot do that. */
export function watch(fd: number, ring: () => void): void {
  handleBinding();
  const { Pipe, constants } = (process as unknown as { binding(name: string): PipeBinding }).binding('pipe_wrap');
  const handle = new Pipe(constants.SOCKET);
  handle.onread = ring;
  if (handle.open(fd) < 0) {
    throw new Error('libuv does not take an eventfd');
  }
  handle.useUserBuffer(room);
  if (handle.readStart() !== 0) {
    throw new Error('libuv does not read an eventfd');
  }
  handles.push(handle);
}
