import t from 'tap';
import { firstFrame } from '../../src/worker/modules/image-filter/first-frame.js';
import { planFor, UNBOUNDED } from '../../src/worker/modules/image-filter/geometry.js';
import { imageSize } from '../../src/worker/modules/image-filter/image-size.js';
import { beginsAs, imageType } from '../../src/worker/modules/image-filter/image-type.js';
import { withoutTransparentColour } from '../../src/worker/modules/image-filter/png-chunks.js';
import { gif, jpegHead, png, webpHead } from '../support/pictures.js';

const whole: readonly Buffer[] = [
  png(9, 7, { type: 3, palette: [1, 2, 3], transparency: [0] }),
  gif(9, 7, [
    { width: 5, height: 3, left: 2, top: 1, transparent: 3 },
    { width: 9, height: 7 },
  ]),
  jpegHead(9, 7, 50),
  webpHead('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, 9, 0, 7, 0]),
  webpHead('VP8L', [0x2f, 1, 2, 3, 4]),
  webpHead('VP8X', [0, 0, 0, 0, 1, 2, 3, 4, 5, 6]),
];

/** Numbers that look like chance and are the same each time. */
function* chance(): Generator<number> {
  for (let state = 12_345; ; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 8;
  }
}

t.test('bytes that are cut off or changed', async (t) => {
  const numbers = chance();
  const next = (below: number): number => numbers.next().value % below;
  let longest = 0;
  for (const image of whole) {
    for (let round = 0; round < 3000; round++) {
      const bytes = Buffer.from(image.subarray(0, 16 + next(image.length - 15)));
      for (let i = next(6); i > 0; i--) {
        bytes[12 + next(bytes.length - 12)] = next(256);
      }
      const type = imageType(bytes)!;
      beginsAs(type, bytes);
      imageSize(type, bytes);
      for (const made of [type === 'gif' ? firstFrame(bytes, round % 2 === 0) : withoutTransparentColour(bytes)]) {
        longest = Math.max(longest, (made?.length ?? 0) - bytes.length);
      }
    }
  }
  t.ok(longest <= 1, `what is made of them is at most ${longest} bytes longer`);
});

t.test('the first frame of a GIF', async (t) => {
  const frame = firstFrame(whole[1]!, false)!;
  t.ok(frame.equals(gif(5, 3, [{ width: 5, height: 3, transparent: 3 }])));
  const opaque = firstFrame(whole[1]!, true)!;
  const at = opaque.indexOf(Buffer.from([0x21, 0xf9]));
  t.equal(opaque[at + 3], 0);
  t.equal(firstFrame(Buffer.from('GIF89a<svg width="1" height="1"></svg>'), false), undefined);
});

t.test('a plan has sides of at least one pixel, and of no more than is wanted', async (t) => {
  const numbers = chance();
  const side = (): number => [1, 2, 3, 1 + (numbers.next().value % 5000), 65_535][numbers.next().value % 5]!;
  const bound = (): number => (numbers.next().value % 6 === 0 ? UNBOUNDED : side());
  for (let round = 0; round < 20_000; round++) {
    const [width, height, maxWidth, maxHeight] = [side(), side(), bound(), bound()];
    const mode = (['resize', 'crop', 'rotate'] as const)[round % 3]!;
    const angle = [0, 90, 180, 270, 45][numbers.next().value % 5]!;
    const { scaled, turned, cut } = planFor(width, height, { mode, maxWidth, maxHeight, angle });
    let [dx, dy] = scaled === null ? [width, height] : [scaled.width, scaled.height];
    let fits = dx >= 1 && dy >= 1 && dx <= width && dy <= height && (mode !== 'resize' || (dx <= maxWidth && dy <= maxHeight));
    [dx, dy] = turned === 90 || turned === 270 ? [dy, dx] : [dx, dy];
    if (cut !== null) {
      fits &&= cut.left + cut.width <= dx && cut.top + cut.height <= dy && cut.width >= 1 && cut.height >= 1;
      [dx, dy] = [cut.width, cut.height];
    }
    fits &&= mode !== 'crop' || (dx <= maxWidth && dy <= maxHeight);
    if (!fits) {
      t.fail(JSON.stringify({ width, height, maxWidth, maxHeight, mode, angle, scaled, cut }));
    }
  }
});
