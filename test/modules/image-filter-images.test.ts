import { readFileSync } from 'node:fs';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { gif, pixelMap as map, noSharp, pictureOf, png, sharp } from '../support/pictures.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

if (noSharp) {
  t.bailout(noSharp);
}

const noise = png(400, 300, { sample: (x, y, band) => (x * 31 + y * 17 * band + ((x * y) % 251)) & 255 });

/** Where a pixel of a PNG was in a {@link map}. */
async function pixel(image: Buffer, x: number, y: number): Promise<readonly number[]> {
  const { data, info } = await sharp!(image).raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray((y * info.width + x) * info.channels, (y * info.width + x) * info.channels + 2)];
}

const LOCATIONS = `
  location /resize/ { alias %%DIR%%/html/; image_filter resize $arg_w $arg_h; }
  location /crop/ { alias %%DIR%%/html/; image_filter crop $arg_w $arg_h; }
  location /rotate/ { alias %%DIR%%/html/; image_filter rotate $arg_a; }
  location /resize-rotate/ { alias %%DIR%%/html/; image_filter resize $arg_w $arg_h; image_filter rotate $arg_a; }
  location /crop-rotate/ { alias %%DIR%%/html/; image_filter rotate $arg_a; image_filter crop $arg_w $arg_h; }`;

t.test('sizes', async (t) => {
  const rotated = await sharp!(map(100, 60)).jpeg().withMetadata({ orientation: 6 }).toBuffer();
  const files = {
    'html/a.png': map(100, 60),
    'html/flat.png': map(1000, 3),
    'html/a.jpg': await sharp!(map(100, 60)).jpeg().toBuffer(),
    'html/grey.jpg': await sharp!(map(100, 60)).greyscale().jpeg().toBuffer(),
    'html/cmyk.jpg': await sharp!(map(100, 60)).toColourspace('cmyk').jpeg().toBuffer(),
    'html/a.webp': await sharp!(map(100, 60)).webp().toBuffer(),
    'html/lossless.webp': await sharp!(map(100, 60)).webp({ lossless: true }).toBuffer(),
    'html/a.gif': gif(100, 60),
    'html/deep.png': await sharp!(map(100, 60)).toColourspace('rgb16').png().toBuffer(),
    'html/palette.png': png(100, 60, { type: 3, palette: [255, 0, 0, 0, 0, 255], sample: (x) => x & 1 }),
    'html/grey.png': png(100, 60, { type: 0, sample: (x) => x }),
    'html/alpha.png': png(100, 60, { type: 6, sample: (x, _y, band) => (band === 3 ? x : 200) }),
    'html/interlaced.png': await sharp!(map(100, 60)).png({ progressive: true }).toBuffer(),
    'html/progressive.jpg': await sharp!(map(100, 60)).jpeg({ progressive: true }).toBuffer(),
    'html/turned.jpg': rotated,
    'html/frames.gif': gif(100, 60, [
      { width: 80, height: 40, left: 10, top: 10 },
      { width: 100, height: 60 },
    ]),
  };
  const s = await startServer(t, { conf: serverConf(LOCATIONS), files });
  const same = 'as it is';
  for (const [path, expected] of [
    ['/resize/a.png?w=50&h=50', 'png 50x30'],
    ['/resize/a.png?w=50&h=20', 'png 33x20'],
    ['/resize/a.png?w=33&h=-', 'png 33x19'],
    ['/resize/a.png?w=-&h=20', 'png 33x20'],
    ['/resize/a.png?w=100&h=60', same],
    ['/resize/a.png?w=-&h=-', same],
    ['/resize/a.png?w=99999999999&h=60', same],
    ['/resize/flat.png?w=10&h=-', 'png 10x1'],
    ['/resize/flat.png?w=-&h=1', 'png 333x1'],
    ['/crop/a.png?w=50&h=50', 'png 50x50'],
    ['/crop/a.png?w=20&h=60', 'png 20x60'],
    ['/crop/a.png?w=200&h=30', 'png 100x30'],
    ['/crop/a.png?w=-&h=30', 'png 100x30'],
    ['/crop/a.png?w=30&h=-', 'png 30x60'],
    ['/crop/a.png?w=7&h=4', 'png 7x4'],
    ['/crop/a.png?w=100&h=60', same],
    ['/rotate/a.png?a=90', 'png 60x100'],
    ['/rotate/a.png?a=180', 'png 100x60'],
    ['/rotate/a.png?a=270', 'png 60x100'],
    ['/resize-rotate/a.png?w=50&h=50&a=90', 'png 30x50'],
    ['/resize-rotate/a.png?w=500&h=500&a=180', 'png 100x60'],
    ['/resize-rotate/a.png?w=500&h=500&a=45', 'png 100x60'],
    ['/resize-rotate/a.png?w=500&h=500&a=0', same],
    ['/crop-rotate/a.png?w=50&h=20&a=90', 'png 30x20'],
    ['/crop-rotate/a.png?w=100&h=60&a=90', 'png 60x60'],
    ['/crop-rotate/a.png?w=50&h=20&a=180', 'png 50x20'],
    ['/resize/a.jpg?w=50&h=50', 'jpeg 50x30'],
    ['/resize/grey.jpg?w=50&h=50', 'jpeg 50x30'],
    ['/resize/cmyk.jpg?w=50&h=50', 'jpeg 50x30'],
    ['/resize/progressive.jpg?w=50&h=50', 'jpeg 50x30'],
    ['/resize/turned.jpg?w=50&h=50', 'jpeg 50x30'],
    ['/crop-rotate/a.jpg?w=50&h=20&a=270', 'jpeg 30x20'],
    ['/resize/a.webp?w=50&h=50', 'webp 50x30'],
    ['/resize/lossless.webp?w=50&h=50', 'webp 50x30'],
    ['/crop/a.webp?w=20&h=20', 'webp 20x20'],
    ['/resize/a.gif?w=50&h=50', 'gif 50x30'],
    ['/rotate/a.gif?a=90', 'gif 60x100'],
    ['/resize/frames.gif?w=50&h=50', 'gif 50x25'],
    ['/resize/frames.gif?w=80&h=40', same],
    ['/resize/frames.gif?w=79&h=40', 'gif 79x39'],
    ['/resize/deep.png?w=50&h=50', 'png 50x30'],
    ['/resize/palette.png?w=50&h=50', 'png 50x30'],
    ['/resize/grey.png?w=50&h=50', 'png 50x30'],
    ['/resize/alpha.png?w=50&h=50', 'png 50x30'],
    ['/resize/interlaced.png?w=50&h=50', 'png 50x30'],
  ] as const) {
    const got = await httpGet(s, path);
    const name = /\/([^/?]+)\?/.exec(path)![1]!;
    const is = got.body.equals(files[`html/${name}` as keyof typeof files]) ? same : await pictureOf(got.body);
    t.strictSame([got.status, is], [200, expected], path);
    t.equal(got.header('Content-Type'), `image/${name.endsWith('jpg') ? 'jpeg' : name.split('.')[1]}`);
    t.strictSame([got.header('Content-Length'), got.header('Accept-Ranges')], [`${got.body.length}`, undefined]);
    t.match([got.header('ETag'), got.header('Last-Modified')], [expected === same ? /^"/ : /^W\/"/, /GMT$/]);
  }
  for (const path of [
    '/resize/a.png',
    '/resize/a.png?w=0&h=10',
    '/resize/a.png?w=10&h=x',
    '/crop/a.png?w=-1&h=10',
    '/crop/a.png?w=10&h=9223372036854775808',
    '/rotate/a.png',
    '/rotate/a.png?a=45',
    '/rotate/a.png?a=0',
    '/rotate/a.png?a=-',
  ]) {
    t.equal((await httpGet(s, path)).status, 415, path);
  }
  const head = await http(s, requestText('HEAD', '/resize/a.png?w=50&h=50', { Connection: 'close' }));
  const whole = await httpGet(s, '/resize/a.png?w=50&h=50');
  t.strictSame([head.status, head.header('Content-Length'), head.text], [200, whole.header('Content-Length'), '']);
  const rest = await httpGet(s, '/resize/a.png?w=50&h=50', { Range: 'bytes=0-1' });
  t.strictSame([rest.status, rest.body.length], [200, whole.body.length]);
});

t.test('which pixels are left', async (t) => {
  const s = await startServer(t, { conf: serverConf(LOCATIONS), files: { 'html/a.png': map(100, 60) } });
  const corners = async (path: string): Promise<readonly (readonly number[])[]> => {
    const { body } = await httpGet(s, path);
    const { width, height } = await sharp!(body).metadata();
    return [await pixel(body, 0, 0), await pixel(body, width - 1, height - 1)];
  };
  // libgd turns by sines, and loses the last line.
  const off = againstNginx ? 1 : 0;
  t.strictSame(await corners('/crop/a.png?w=30&h=-'), [
    [35, 0],
    [64, 59],
  ]);
  t.strictSame(await corners('/crop/a.png?w=-&h=31'), [
    [0, 14],
    [99, 44],
  ]);
  t.strictSame(
    await corners('/rotate/a.png?a=90'),
    [
      [99, 0],
      [0, 59 - off],
    ],
    'against the clock',
  );
  t.strictSame(await corners('/rotate/a.png?a=270'), [
    [0, 59],
    [99 - off, 0],
  ]);
  t.strictSame(await corners('/rotate/a.png?a=180'), [
    [99, 59],
    [0, 0],
  ]);
  t.strictSame(
    await corners('/crop-rotate/a.png?w=60&h=60&a=90'),
    [
      [79, 0],
      [20, 59 - off],
    ],
    'cut last',
  );
});

t.test('quality, interlacing, sharpness, transparency', async (t) => {
  const jpeg = await sharp!(noise).jpeg({ quality: 95 }).toBuffer();
  const s = await startServer(t, {
    conf: serverConf(`
      image_filter_jpeg_quality $arg_q;
      image_filter_webp_quality $arg_q;
      location / { image_filter resize 200 -; }
      location /inner/ { alias %%DIR%%/html/; image_filter resize 200 -; location /inner/low/ { alias %%DIR%%/html/; image_filter_jpeg_quality 5; } }
      location /interlaced/ { alias %%DIR%%/html/; image_filter resize 200 -; image_filter_interlace on; image_filter_jpeg_quality 75; }
      location /sharp/ { alias %%DIR%%/html/; image_filter resize 200 -; image_filter_sharpen $arg_s; image_filter_jpeg_quality 75; }
      location /opaque/ { alias %%DIR%%/html/; image_filter resize 200 -; image_filter_transparency off; }`),
    files: {
      'html/a.jpg': jpeg,
      'html/a.webp': await sharp!(noise).webp({ quality: 95 }).toBuffer(),
      'html/a.png': noise,
      'html/a.gif': gif(400, 300, [{ width: 400, height: 300, transparent: 1 }]),
      'html/palette.png': png(400, 300, { type: 3, palette: [0, 0, 0, 255, 0, 0], transparency: [255, 0], sample: () => 1 }),
      'html/alpha.png': png(400, 300, { type: 6, sample: (_x, _y, band) => (band === 3 ? 0 : 255) }),
      'html/notes.jpg': await sharp!(map(100, 60))
        .jpeg()
        .withExif({ IFD0: { Copyright: 'x'.repeat(2000) } })
        .toBuffer(),
    },
  });
  const body = async (path: string): Promise<Buffer> => (await httpGet(s, path)).body;
  for (const name of ['a.jpg', 'a.webp']) {
    const lengths = [await body(`/${name}?q=5`), await body(`/${name}?q=50`), await body(`/${name}?q=95`)].map(({ length }) => length);
    t.ok(lengths[0]! < lengths[1]! && lengths[1]! < lengths[2]!, `${name}: ${lengths}`);
    for (const quality of ['', '0', '-', 'x', '-5']) {
      t.equal((await httpGet(s, `/${name}?q=${quality}`)).status, 415, quality);
    }
    t.equal(await pictureOf(await body(`/${name}?q=1000`)), `${name === 'a.jpg' ? 'jpeg' : 'webp'} 200x150`);
  }
  t.equal((await httpGet(s, '/a.png')).status, 200, 'a PNG has no quality');
  t.ok((await body('/inner/low/a.jpg?q=95')).length < (await body('/inner/a.jpg?q=95')).length, 'the inner block decides');
  const isProgressive = async (path: string): Promise<boolean> => (await sharp!(await body(path)).metadata()).isProgressive === true;
  for (const name of ['a.jpg', 'a.png']) {
    t.equal(await isProgressive(`/${name}?q=75`), false);
    t.equal(await isProgressive(`/interlaced/${name}`), true);
  }
  t.notOk((await body('/sharp/a.jpg?s=100')).equals(await body('/sharp/a.jpg?s=0')));
  for (const nothing of ['', '-', 'x']) {
    t.ok((await body(`/sharp/a.jpg?s=${nothing}`)).equals(await body('/sharp/a.jpg?s=0')), nothing);
  }
  t.equal(await pictureOf(await body('/sharp/a.jpg?s=99999999')), 'jpeg 200x150');
  const fresh = await httpGet(s, '/notes.jpg?q=75');
  t.strictSame([await pictureOf(fresh.body), fresh.body.includes('xxxxx')], ['jpeg 100x60', false], 'notes are left out');
  if (againstNginx) {
    return; // libgd's colours are others.
  }
  const colour = async (path: string): Promise<readonly number[]> => [
    ...(
      await sharp!(await body(path))
        .ensureAlpha()
        .raw()
        .toBuffer()
    ).subarray(0, 4),
  ];
  t.equal((await colour('/a.gif'))[3], 0);
  t.strictSame(await colour('/opaque/a.gif'), [255, 0, 0, 255]);
  t.equal((await colour('/palette.png'))[3], 0);
  t.strictSame(await colour('/opaque/palette.png'), [255, 0, 0, 255]);
  t.equal((await colour('/alpha.png'))[3], 0);
  t.equal((await colour('/opaque/alpha.png'))[3], 0, 'an alpha channel stays');
});

t.test('what cannot be decoded', async (t) => {
  const whole = map(100, 60);
  const files = {
    'html/cut.png': whole.subarray(0, 200),
    'html/head.png': whole.subarray(0, 40),
    'html/cut.webp': (await sharp!(noise).webp().toBuffer()).subarray(0, 500),
    'html/head.gif': gif(100, 60).subarray(0, 100),
    'html/no-frame.gif': Buffer.concat([gif(100, 60).subarray(0, 13 + 384), Buffer.from([0x3b]), Buffer.alloc(9)]),
    'html/bomb.png': png(50_000, 50_000, { empty: true }),
    'html/wide.png': png(2_000_000_000, 1, { empty: true }),
    'html/svg.gif': 'GIF89a<svg xmlns="http://www.w3.org/2000/svg" width="500" height="500"></svg>',
    'html/other.jpg': Buffer.concat([
      Buffer.from([0xff, 0xd8]),
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="500" height="500"></svg>'),
    ]),
    'html/svg.png': '<svg xmlns="http://www.w3.org/2000/svg" width="500" height="500"></svg>',
    'html/a.tiff': await sharp!(whole).tiff().toBuffer(),
    'html/a.png': whole,
    'html/long.png': Buffer.concat([whole, Buffer.alloc(5000)]),
  };
  const s = await startServer(t, {
    conf: serverConf(`
      location / { image_filter resize 50 50; }
      location /page/ { alias %%DIR%%/html/; image_filter resize 50 50; error_page 415 = /empty; }
      location /small/ { alias %%DIR%%/html/; image_filter resize 50 50; image_filter_buffer 4k; }
      location = /empty { empty_gif; }`),
    files,
  });
  for (const name of Object.keys(files).filter((path) => !/\/(a|long)\.png$/.test(path))) {
    const path = name.slice('html'.length);
    const got = await httpGet(s, path);
    t.match([got.status, got.text], [415, /415 Unsupported/], path);
    t.match((await httpGet(s, `/page${path}`)).text, /^GIF89a/);
  }
  t.equal((await httpGet(s, '/small/long.png')).status, 415);
  t.equal(await pictureOf((await httpGet(s, '/long.png')).body), 'png 50x30', 'what follows an image is nothing to it');
  if (!againstNginx) {
    const worker = s.workers()[0]!;
    const most = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${worker}/status`, 'latin1'))![1]);
    t.ok(most < 400_000, `${most} kB at most`);
    t.match(s.log(), /image filter: Input image exceeds pixel limit/);
  }
});
