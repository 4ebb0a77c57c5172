import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Dice } from './faulty-ring.js';

/** Passes on what is written, in pieces of any length, some of them later; `change` may make something else of each. */
export function splitting(dice: Dice, raw: Socket, change: (piece: Buffer) => Buffer): Duplex {
  const stream: Duplex = new Duplex({
    read: () => raw.resume(),
    write(bytes: Buffer, _encoding, done): void {
      let at = 0;
      const next = (): void => {
        if (at >= bytes.length) {
          done();
          return;
        }
        const length = dice.below(3) === 0 ? 1 + dice.below(20) : 1 + dice.below(20_000);
        raw.write(change(bytes.subarray(at, at + length)));
        at += length;
        if (dice.below(2) === 0) {
          setImmediate(next);
        } else {
          next();
        }
      };
      next();
    },
    final(done): void {
      raw.end(done);
    },
  });
  raw.on('data', (bytes) => stream.push(bytes) || raw.pause());
  raw.on('end', () => stream.push(null));
  raw.on('error', () => stream.destroy());
  raw.on('close', () => stream.destroy());
  return stream;
}

/** Changes one bit of what is passed on, among the first `few` bytes or further behind, or breaks the connection off there. */
export function damaging(dice: Dice, raw: Socket, few: number): (piece: Buffer) => Buffer {
  let left = dice.below(dice.of([few, 100_000]));
  const breaks = dice.below(2) === 0;
  // What is changed may be the length of a record, of which the other side waits for the rest.
  raw.setTimeout(300, () => raw.destroy());
  return (piece) => {
    if (left < 0 || left >= piece.length) {
      left -= piece.length;
      return piece;
    }
    const changed = Buffer.from(piece);
    changed[left]! ^= 1 << dice.below(8);
    const cut = changed.subarray(0, left);
    left = -1;
    if (breaks) {
      setImmediate(() => (dice.below(2) === 0 ? raw.destroy() : raw.resetAndDestroy()));
    }
    return breaks ? cut : changed;
  };
}

/** Something that no other connection says. */
export function saidBy(dice: Dice, number: number): Buffer {
  const length = dice.of([1, 100, 5000, 70_000, 300_000]);
  const bytes = Buffer.alloc(1 + dice.below(length), `<${number}>`);
  bytes.write(`${dice.below(1_000_000)}`);
  return bytes;
}
