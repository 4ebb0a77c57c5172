import type { FrameReader } from './frame-reader.js';
import type { Output } from './output.js';
import { FRAME, SETTING } from './protocol.js';

/** Sends SETTINGS with these values. */
export function sendSettings(output: Output, said: readonly (readonly [id: number, value: number])[]): void {
  const bytes = output.frame(FRAME.SETTINGS, 0, 0, said.length * 6);
  for (const [id, value] of said) {
    bytes.writeUInt16BE(id, output.length);
    output.length = bytes.writeUInt32BE(value, output.length + 2);
  }
}

/**
 * Gives each value of the frame at hand to `take`, until one is refused: then this returns -1. Otherwise it returns what the other side
 * lets streams send at first, `window` until now: however often it is there, only the last value means something.
 */
export function readSettings<C>(frames: FrameReader, window: number, c: C, take: (c: C, id: number, value: number) => boolean): number {
  const { bytes, start, end } = frames;
  let last = window;
  for (let at = start; at < end; at += 6) {
    const id = bytes.readUInt16BE(at);
    const value = bytes.readUInt32BE(at + 2);
    if (!take(c, id, value)) {
      return -1;
    }
    if (id === SETTING.INITIAL_WINDOW_SIZE) {
      last = value;
    }
  }
  return last;
}
