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

/** Something that no other connection says. */
export function saidBy(dice: Dice, number: number): Buffer {
  const length = dice.of([1, 100, 5000, 70_000, 300_000]);
  const bytes = Buffer.alloc(1 + dice.below(length), `<${number}>`);
  bytes.write(`${dice.below(1_000_000)}`);
  return bytes;
}
