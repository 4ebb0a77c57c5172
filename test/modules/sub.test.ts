import t from 'tap';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';

const text = 'one two ONE two one three';
const large = 'x'.repeat(150_000);

t.test('sub_filter', async (t) => {
  const s = await startServer(t, {
    conf: serverConf(`
      default_type text/html;
      sub_filter_once off;
      location /one { sub_filter One 1; }
      location /once { sub_filter one 1; sub_filter two 2; sub_filter_once on; }
      location /many { sub_filter two 2; sub_filter "one t" "<1>"; sub_filter one $arg_a; sub_filter e ''; }
      location /variable { sub_filter $arg_a ($arg_a); sub_filter "two" 2; }
      location /inherits { location /inherits/none { } sub_filter one 1; }
      location /types { default_type text/plain; sub_filter one 1; location /types/plain { sub_filter_types text/plain; } location /types/any { sub_filter_types *; } }
      location /kept { sub_filter one 1; sub_filter_last_modified on; }
      location /large { sub_filter needle N; }
      location /redirect { sub_filter one 1; return 302 /; }
      location /gone { sub_filter 'not found' nowhere; }
    `),
    files: {
      ...Object.fromEntries(
        ['one', 'once', 'many', 'variable', 'inherits/none', 'types/t', 'types/plain', 'types/any', 'kept'].map((name) => [
          `html/${name}`,
          text,
        ]),
      ),
      'html/large': `${large}needle${large}NEEDLEneedl`,
      'html/one-empty': '',
    },
  });
  for (const [path, expected] of [
    ['/one', '1 two 1 two 1 three'],
    ['/once', '1 2 ONE two one three'],
    ['/many?a=A', '<1>wo <1>wo <1>hr'],
    ['/variable?a=THREE', 'one 2 ONE 2 one (THREE)'],
    ['/variable', 'one 2 ONE 2 one three'],
    ['/inherits/none', '1 two 1 two 1 three'],
    ['/types/t', text],
    ['/types/plain', '1 two 1 two 1 three'],
    ['/types/any', '1 two 1 two 1 three'],
    ['/large', `${large}N${large}Nneedl`],
    ['/one-empty', ''],
  ] as const) {
    t.equal((await httpGet(s, path)).text, expected, path);
  }
  t.match((await httpGet(s, '/gone')).text, /404 nowhere/, 'error pages, too');
  const one = await httpGet(s, '/one');
  for (const name of ['Content-Length', 'Last-Modified', 'ETag']) {
    t.equal(one.header(name), undefined, name);
  }
  const kept = await httpGet(s, '/kept');
  t.match([kept.header('Last-Modified'), kept.header('ETag')], [/GMT/, /^W\//]);
});

t.test('a body that comes in pieces', async (t) => {
  let pieces: readonly string[] = [];
  const origin = await startOrigin(t, async (_request, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n');
    for (const piece of pieces) {
      await reply.write(piece);
      await reply.sleep(5);
    }
    return reply.end();
  });
  const s = await startServer(t, {
    conf: serverConf(`
      proxy_buffering off;
      location /a { sub_filter abcd 1; sub_filter bca 2; sub_filter cc 3; sub_filter_once off; proxy_pass http://127.0.0.1:${origin.port}; }
      location /once { sub_filter ab 1; proxy_pass http://127.0.0.1:${origin.port}; }`),
  });
  for (const [path, body, expected] of [
    ['/a', 'abcd', '1'],
    ['/a', 'xabcabcdccx', 'xa2bcd3x'],
    ['/a', 'ababcd', 'ab1'],
    ['/a', 'bcabcd', '2bcd'],
    ['/a', 'xabc', 'xabc'],
    ['/once', 'aabab', 'a1ab'],
  ] as const) {
    for (const size of [1, 2, 3]) {
      pieces = body.match(new RegExp(`.{1,${size}}`, 'g'))!;
      t.equal((await httpGet(s, path)).text, expected, `${body} by ${size}`);
    }
  }
  origin.answer(async (_request, reply) => {
    await reply.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 10\r\n\r\nxyab');
    return undefined;
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/a'));
  await client.until('xy');
  t.notMatch(client.received, /xya/, 'only what may be the start of a match waits');
  client.destroy();
});

t.test('configuration', async (t) => {
  t.match(await configMessage(t, serverConf('sub_filter "" x;')), /empty search pattern/);
  const many = Array.from({ length: 256 }, (_, i) => `sub_filter a${i} x;`).join('\n');
  t.match(await configMessage(t, serverConf(many)), /number of search patterns exceeds 255/);
});
