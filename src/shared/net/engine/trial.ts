import { release } from 'node:os';
import type { Native } from '../../native/native.js';
import { Family } from '../socket-addresses.js';
import type { UringEngine } from '../uring/engine.js';
import { BUFFER_SHIFT, MORE } from '../uring/ring.js';

const STREAM_NOT_BLOCKING = 0x80801;
/** Bytes of the address that the kernel gives to a Unix-domain socket without one: its family, a zero and five digits. */
const ABSTRACT = 8;
const ECANCELED = -125;
/** More than enough: between two ends in one process, everything is complete when the call returns. */
const TRIES = 100;
const TEXT = 'sluice';

/** The oldest kernel that has all that is used. */
const OLDEST = [6, 1] as const;

/** Whether the kernel is too old, in words. */
export function kernelTooOld(version = release()): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const old = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  return old ? `Linux ${version} is older than ${OLDEST.join('.')}` : undefined;
}

/**
 * Does with a ring that nobody uses yet what it is there for: accepts, sends, receives, cancels, reads and closes. Throws an Error that
 * says what did not work.
 */
export function tryRing(engine: UringEngine): void {
  const { native, ring, slots, small } = engine;
  const open: number[] = [];
  const results = new Map<number, { result: number; flags: number }>();
  const until = (tag: number, what: string): { result: number; flags: number } => {
    for (let i = 0; i < TRIES; i++) {
      const found = results.get(tag);
      if (found !== undefined) {
        results.delete(tag);
        return found;
      }
      ring.enter();
      while (ring.next()) {
        results.set(ring.tag, { result: ring.result, flags: ring.flags });
      }
      ring.taken();
    }
    throw new Error(`io_uring does not ${what}`);
  };
  const checked = (value: number, what: string): number => {
    if (value < 0) {
      throw Object.assign(new Error(`io_uring cannot ${what}`), { errno: value });
    }
    return value;
  };
  const descriptor = (value: number, what: string): number => {
    open.push(checked(value, what));
    return value;
  };
  const slot = slots.take();
  try {
    const listener = descriptor(native.socket(Family.UNIX, STREAM_NOT_BLOCKING), 'be tried: socket()');
    const address = listen(native, listener);
    ring.accept(listener, true, 1, 1);
    const client = descriptor(native.socket(Family.UNIX, STREAM_NOT_BLOCKING), 'be tried: socket()');
    checked(native.connect(client, address, ABSTRACT), 'be tried: connect()');
    const accepted = until(1, 'accept');
    const server = descriptor(accepted.result, 'accept');
    ring.receive(server, small.group, engine.receiveMost, 2, 1);
    ring.enter();
    if (results.has(2) || ring.next()) {
      // A bound that the kernel does not know is refused at once.
      ring.taken();
      engine.receiveMost = 0;
      ring.receive(server, small.group, 0, 2, 1);
    }
    slots.putText(slot, 0, TEXT);
    ring.send(client, slots.address(slot, TEXT.length), TEXT.length, 3, 1);
    if (until(3, 'send').result !== TEXT.length) {
      throw new Error('io_uring does not send');
    }
    const { result, flags } = until(2, 'receive');
    const id = flags >>> BUFFER_SHIFT;
    if (checked(result, 'receive') !== TEXT.length || small.take(id).toString('latin1', 0, result) !== TEXT) {
      throw new Error('io_uring receives something else than was sent');
    }
    small.give(id);
    small.publish();
    if ((accepted.flags & MORE) === 0 || (flags & MORE) === 0) {
      if ((accepted.flags & MORE) === 0 || engine.receiveMost > 0) {
        throw new Error('io_uring does not go on with an operation');
      }
      ring.receive(server, small.group, 0, 2, 1);
    }
    ring.cancel(1, 1);
    ring.cancel(2, 1);
    if (until(1, 'cancel').result !== ECANCELED || until(2, 'cancel').result !== ECANCELED) {
      throw new Error('io_uring does not cancel');
    }
    ring.send(client, slots.address(slot, TEXT.length), TEXT.length, 3, 1);
    until(3, 'send');
    ring.read(server, slots.address(slot, TEXT.length), TEXT.length, 0, 5, 1);
    if (checked(until(5, 'read').result, 'read') !== TEXT.length) {
      throw new Error('io_uring reads something else than was sent');
    }
    ring.close(server, 4, 1);
    checked(until(4, 'close').result, 'close');
    open.pop();
  } finally {
    slots.release(slot);
    for (const fd of open) {
      native.close(fd);
    }
  }
}

function listen(native: Native, fd: number): Buffer {
  const address = Buffer.alloc(128);
  address.writeUInt16LE(Family.UNIX, 0);
  if (native.bind(fd, address, 2) < 0 || native.listen(fd, 1) < 0 || native.localAddress(fd, address) < 0) {
    throw new Error('io_uring cannot be tried: bind()');
  }
  return address;
}
