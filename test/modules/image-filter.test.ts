import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { gif, jpegHead, png, webpHead } from '../support/pictures.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const TEXT = 'This is no image, however long it is.';

t.test('test passes images on, and nothing else', async (t) => {
  const small = png(30, 20);
  const large = Buffer.concat([png(30, 20), Buffer.alloc(300_000, 'x')]);
  const s = await startServer(t, {
    conf: serverConf(`
      location / { image_filter test; }
      location /page/ { alias %%DIR%%/html/; image_filter test; error_page 404 415 = /empty; }
      location = /empty { empty_gif; }
      location /off/ { alias %%DIR%%/html/; image_filter off; }
      location /buffer/ { alias %%DIR%%/html/; image_filter test; image_filter_buffer 1000; }
      location /tight/ { image_filter test; image_filter_buffer 10; add_header X-Page $status always; }
      location /redirect { image_filter test; return 302 /; }
      location /nothing { image_filter test; return 204; }`),
    files: {
      'html/a.png': small,
      'html/large.png': large,
      'html/a.gif': gif(3, 2),
      'html/a.jpg': jpegHead(3, 2),
      'html/a.webp': webpHead('VP8 ', []),
      'html/a.txt': png(1, 1),
      'html/text.png': TEXT,
      'html/short.png': small.subarray(0, 15),
      'html/empty.png': '',
      'html/gif88.gif': 'GIF88a0123456789',
      'html/old.gif': 'GIF87a0123456789',
    },
  });
  for (const [path, type] of [
    ['/a.png', 'image/png'],
    ['/a.gif', 'image/gif'],
    ['/a.jpg', 'image/jpeg'],
    ['/a.webp', 'image/webp'],
    ['/a.txt', 'image/png'],
    ['/old.gif', 'image/gif'],
  ] as const) {
    const got = await httpGet(s, path);
    t.match([got.status, got.header('Content-Type')], [200, type], path);
    t.match([got.header('ETag'), got.header('Last-Modified')], [/^"/, /GMT$/]);
    t.equal(got.header('Accept-Ranges'), undefined);
  }
  const got = await httpGet(s, '/large.png', { Range: 'bytes=0-9' });
  t.strictSame([got.status, got.body.equals(large), got.header('Content-Length')], [200, true, String(large.length)], 'whole');
  const whole = await httpGet(s, '/a.png');
  t.ok(whole.body.equals(small));
  for (const path of ['/text.png', '/short.png', '/empty.png', '/gif88.gif', '/missing.png', '/redirect', '/nothing']) {
    const refused = await httpGet(s, path);
    t.match([refused.status, refused.text, refused.header('ETag')], [415, /415 Unsupported Media Type/, undefined], path);
  }
  const page = await httpGet(s, '/tight/missing.png');
  t.equal(page.status, 415, 'a page that is too large');
  t.strictSame(
    page.headers.filter(([name]) => name === 'X-Page'),
    [['X-Page', '415']],
    'has the fields of the last page alone',
  );
  for (const path of ['/page/text.png', '/page/missing.png']) {
    t.match(await httpGet(s, path), { status: 200, text: /^GIF89a/ }, path);
  }
  t.equal((await httpGet(s, '/off/text.png')).text, TEXT);
  t.equal((await httpGet(s, '/buffer/large.png')).status, 415, 'a length that is too much');
  t.match(s.log(), /image filter: too big response: 3\d+[ ,]/);
  const fresh = await httpGet(s, '/a.png', { 'If-None-Match': whole.header('ETag')! });
  t.equal(fresh.status, 304);
});

t.test('size tells what the head says', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      location / { image_filter size; }
      location /types/ { alias %%DIR%%/html/; image_filter size; expires 1h; add_header X-A b; }`),
    files: {
      'html/a.png': png(300, 200),
      'html/huge.png': png(70_000, 65_537, { empty: true }),
      'html/short.png': png(1, 1).subarray(0, 23),
      'html/a.gif': gif(258, 513, [{ width: 1, height: 1 }]),
      'html/a.jpg': jpegHead(640, 480, 100),
      'html/none.jpg': Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xff, 0xff, 0xc0]), Buffer.alloc(20)]),
      'html/zero.jpg': jpegHead(0, 480),
      'html/lossy.webp': webpHead('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, 0x21, 0x40, 0x43, 0x80]),
      'html/follows.webp': webpHead('VP8 ', [1, 0, 0, 0x9d, 0x01, 0x2a, 0x21, 0x40, 0x43, 0x80]),
      'html/code.webp': webpHead('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2b, 0x21, 0x40, 0x43, 0x80]),
      'html/lossless.webp': webpHead('VP8L', [0x2f, 0x2b, 0xc1, 0xd2, 0x03]),
      'html/unsigned.webp': webpHead('VP8L', [0x2e, 0x2b, 0xc1, 0xd2, 0x03]),
      'html/extended.webp': webpHead('VP8X', [0x10, 0, 0, 0, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06]),
      'html/other.webp': webpHead('VP8Y', [0x10]),
      'html/strange.webp': webpHead('ALPH', [0x10]),
      'html/text.png': TEXT,
      'html/empty.png': '',
    },
  });
  const json = (width: number, height: number, type: string): string =>
    `{ "img" : { "width": ${width}, "height": ${height}, "type": "${type}" } }\r\n`;
  for (const [path, text] of [
    ['/a.png', json(300, 200, 'png')],
    ['/huge.png', json(70_000 - 65_536, 1, 'png')],
    ['/short.png', '{}\r\n'],
    ['/a.gif', json(258, 513, 'gif')],
    ['/a.jpg', json(640, 480, 'jpeg')],
    ['/none.jpg', '{}\r\n'],
    ['/zero.jpg', '{}\r\n'],
    ['/lossy.webp', json(33, 67, 'webp')],
    ['/follows.webp', '{}\r\n'],
    ['/code.webp', '{}\r\n'],
    ['/lossless.webp', json(300, 3916, 'webp')],
    ['/unsigned.webp', '{}\r\n'],
    ['/extended.webp', json(0x030201 + 1, 0x060504 + 1, 'webp')],
    ['/other.webp', '{}\r\n'],
    ['/strange.webp', '{}\r\n'],
    ['/text.png', '{}\r\n'],
    ['/empty.png', '{}\r\n'],
    ['/missing.png', '{}\r\n'],
  ] as const) {
    const got = await httpGet(s, path);
    t.strictSame([got.status, got.text, got.header('Content-Type')], [200, text, 'application/json'], path);
    t.strictSame([got.header('Content-Length'), got.header('ETag'), got.header('Last-Modified')], [`${text.length}`, undefined, undefined]);
  }
  const types = await httpGet(s, '/types/a.gif');
  t.strictSame([types.header('Cache-Control'), types.header('X-A')], [undefined, undefined], 'nothing of the image is left');
});

t.test('images of backends', async (t) => {
  const image = png(40, 30);
  const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n';
  const origin = await startOrigin(t, async ({ target }, reply) => {
    switch (target) {
      case '/chunked':
        return reply.end(
          `${head}Transfer-Encoding: chunked\r\n\r\n${image.length.toString(16)}\r\n${image.toString('latin1')}\r\n0\r\n\r\n`,
        );
      case '/pieces':
        // nginx takes a head without a body behind it for one without an image.
        await reply.write(
          Buffer.concat([
            Buffer.from(`${head}Content-Type: text/plain; charset=utf-8\r\nETag: "x"\r\nRefresh: 1\r\nAccept-Ranges: bytes\r\n\r\n`),
            image.subarray(0, 20),
          ]),
        );
        for (let at = 20; at < image.length; at += 20) {
          await reply.write(image.subarray(at, at + 20));
          await reply.sleep(2);
        }
        return reply.end();
      case '/long':
        await reply.write(`${head}\r\n`);
        await reply.write(image);
        return reply.end(Buffer.alloc(5000));
      case '/parts':
        return reply.end(`${head}Content-Type: Multipart/x-mixed-replace;boundary=x\r\n\r\n--x\r\n\r\n`);
      case '/cut':
        await reply.write(`${head}Content-Length: 1000\r\n\r\n`);
        await reply.write(image);
        return reply.end();
      case '/text':
        return { body: TEXT, close: true };
      case '/none':
        return { status: 204, close: true };
      default:
        return { body: image, headers: { ETag: '"x"' }, close: true };
    }
  });
  const s = await startServer(t, {
    conf: serverConf(
      `
      location / { image_filter size; proxy_pass http://127.0.0.1:${origin.port}/; }
      location /u/ { proxy_buffering off; image_filter size; proxy_pass http://127.0.0.1:${origin.port}/; }
      location /test/ { proxy_buffering off; image_filter test; proxy_pass http://127.0.0.1:${origin.port}/; }
      location /small/ { image_filter size; image_filter_buffer 2000; proxy_pass http://127.0.0.1:${origin.port}/; }
      location /cached/ { image_filter size; proxy_cache c; proxy_cache_valid any 1h; proxy_pass http://127.0.0.1:${origin.port}/; }
      location /fallback/ { image_filter test; error_page 415 = @other; proxy_pass http://127.0.0.1:${origin.port}/; }
      location @other { proxy_pass http://127.0.0.1:${origin.port}; rewrite ^ /image break; }`,
      'proxy_cache_path %%DIR%%/cache keys_zone=c:1m;',
    ),
  });
  const size = '{ "img" : { "width": 40, "height": 30, "type": "png" } }\r\n';
  for (const path of ['/image', '/chunked', '/pieces', '/u/image', '/u/chunked', '/u/pieces', '/small/image', '/cached/image']) {
    const got = await httpGet(s, path);
    t.strictSame([got.status, got.text], [200, size], path);
  }
  t.equal((await httpGet(s, '/cached/image')).text, size);
  t.equal(origin.requests.filter(({ target }) => target === '/image').length, 4, 'the cache has the image');
  const passed = await httpGet(s, '/test/pieces');
  t.ok(passed.body.equals(image));
  t.strictSame(
    ['Content-Type', 'ETag', 'Refresh', 'Accept-Ranges', 'Content-Length'].map((name) => passed.header(name)),
    ['image/png; charset=utf-8', '"x"', '1', 'bytes', undefined],
  );
  for (const path of ['/text', '/u/text', '/cached/text']) {
    t.equal((await httpGet(s, path)).text, '{}\r\n', path);
  }
  for (const path of ['/small/long', '/test/text', '/test/none']) {
    t.equal((await httpGet(s, path)).status, 415, path);
  }
  for (const path of ['/parts', '/test/parts']) {
    const client = await RawClient.connect(s);
    t.equal(await client.send(requestText('GET', path)).rest(), '', path);
  }
  t.match(s.log(), /\[error\] .*image filter: multipart\/x-mixed-replace response/);
  t.match(s.log(), /\[error\] .*image filter: too big response while/);
  if (!againstNginx) {
    // nginx asks no second backend from within a body, and waits for send_timeout with nothing to send where a body breaks off.
    t.ok((await httpGet(s, '/fallback/text')).body.equals(image), 'another backend answers');
    const client = await RawClient.connect(s);
    t.equal(await client.send(requestText('GET', '/cut')).rest(), '', 'a body that breaks off');
  }
});

t.test(
  'where other bodies are put beside an image',
  { skip: againstNginx && 'nginx answers with a body in front of its head' },
  async (t) => {
    const s = await startServer(t, {
      conf: serverConf(`
      location / { }
      location /added/ { alias %%DIR%%/html/; image_filter size; add_before_body /text; add_after_body /text; addition_types *; }
      location /test/ { alias %%DIR%%/html/; image_filter test; add_before_body /text; addition_types *; }
      location /slice/ { slice 50; proxy_pass http://127.0.0.1:%%PORT_0%%/; proxy_set_header Range $slice_range; image_filter size; }
      location /tested/ { slice 50; proxy_pass http://127.0.0.1:%%PORT_0%%/; proxy_set_header Range $slice_range; image_filter test; }`),
      files: { 'html/a.png': png(40, 30), 'html/text': TEXT, 'html/long': TEXT.repeat(100) },
    });
    t.equal((await httpGet(s, '/added/a.png')).text, '{ "img" : { "width": 40, "height": 30, "type": "png" } }\r\n');
    t.ok((await httpGet(s, '/test/a.png')).body.equals(png(40, 30)));
    t.equal((await httpGet(s, '/slice/long')).text, '{}\r\n');
    t.equal((await httpGet(s, '/tested/long')).status, 415);
    t.notMatch(s.log(), /a response in slices/);
    t.equal((await httpGet(s, '/tested/a.png')).status, 415);
    t.equal((await httpGet(s, '/slice/a.png')).status, 415);
    t.match(s.log(), /image filter: a response in slices/);
  },
);

t.test('requests on one connection', { skip: againstNginx && 'nginx ends the connection' }, async (t) => {
  const s = await startServer(t, {
    conf: serverConf('location / { image_filter test; } location /size/ { alias %%DIR%%/html/; image_filter size; }'),
    files: { 'html/a.png': png(3, 2), 'html/b.png': TEXT, 'html/c.png': TEXT.repeat(20_000) },
  });
  const client = await RawClient.connect(s);
  for (const [path, status] of [
    ['/a.png', 200],
    ['/b.png', 415],
    ['/c.png', 415],
    ['/size/b.png', 200],
    ['/size/c.png', 200],
    ['/size/a.png', 200],
    ['/a.png', 200],
  ] as const) {
    t.equal((await client.send(requestText('GET', path)).response()).status, status, path);
  }
});

t.test('wrong settings', async (t) => {
  const messages: readonly (readonly [string, string])[] = [
    ['image_filter on', 'invalid parameter "on"'],
    ['image_filter resize', 'invalid parameter "resize"'],
    ['image_filter resize 1', 'invalid parameter "resize"'],
    ['image_filter rotate 45', 'invalid parameter "45"'],
    ['image_filter rotate -', 'invalid parameter "-"'],
    ['image_filter rotate 90 90', 'invalid parameter "rotate"'],
    ['image_filter resize 0 1', 'invalid parameter "0"'],
    ['image_filter crop 1 x', 'invalid parameter "x"'],
    ['image_filter crop 1 -1', 'invalid parameter "-1"'],
    ['image_filter', 'invalid number of arguments in "image_filter" directive'],
    ['image_filter resize 1 1 1', 'invalid number of arguments in "image_filter" directive'],
    ['image_filter rotate $', 'invalid variable name'],
    ['image_filter resize $none 1', 'unknown "none" variable'],
    ['image_filter_jpeg_quality 0', 'invalid value "0"'],
    ['image_filter_jpeg_quality -', 'invalid value "-"'],
    ['image_filter_webp_quality x', 'invalid value "x"'],
    ['image_filter_sharpen -', 'invalid value "-"'],
    ['image_filter_buffer x', '"image_filter_buffer" directive invalid value'],
    ['image_filter_interlace 1', 'invalid value "1" in "image_filter_interlace" directive, it must be "on" or "off"'],
    ['image_filter_transparency on; image_filter_transparency on', '"image_filter_transparency" directive is duplicate'],
  ];
  for (const [line, message] of messages) {
    const told = await configMessage(t, serverConf(`location / {\n${line}; }`));
    t.ok(told?.startsWith(`${message} in %%FILE%%:`) || told === message, `${line}: ${told}`);
  }
  t.match(await configMessage(t, serverConf('image_filter test;')), '"image_filter" directive is not allowed here');
  t.match(
    await configMessage(t, serverConf('location / { if ($uri) { image_filter test; } }')),
    '"image_filter" directive is not allowed here',
  );
  t.equal(
    await configMessage(
      t,
      serverConf(
        `image_filter_jpeg_quality 101; image_filter_sharpen x; image_filter_buffer 0;
        location / { image_filter_jpeg_quality 1; image_filter_jpeg_quality $arg_a; image_filter test; image_filter size; image_filter off; }`,
        'image_filter_sharpen 0; image_filter_webp_quality $uri; image_filter_interlace on;',
      ),
    ),
    undefined,
  );
});
