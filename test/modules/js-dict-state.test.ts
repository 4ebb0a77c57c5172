import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { httpGet } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { serverConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

// The files of `js_shared_dict_zone ... state=`: what njs reads, and what it says of the rest. The answers are nginx's with njs.

const READ: readonly (readonly [type: 'string' | 'number', text: string, items: unknown])[] = [
  ['string', '', []],
  ['string', '{}', []],
  ['string', ' \r\n\t{ } \n', []],
  ['string', '  {"a":{"value":"x"},} ', [['a', 'x']]],
  ['string', '{"a":{"value":"x",}}', [['a', 'x']]],
  [
    'string',
    '{"a":{"value":"x","other":"y","n":1e3}"b":{"value":"\\ud83d\\ude00\\ud800"}}',
    [
      ['a', 'x'],
      ['b', '😀\ufffd'],
    ],
  ],
  ['string', '{"q\\"\\\\\\/\\n\\t\\u0001é€😀" : {"value" : "v\\b\\f\\r\\u001f\x7f"}}', [['q"\\/\n\t\u0001é€😀', 'v\b\f\r\u001f\x7f']]],
  ['string', '{"":{"value":""}}', [['', '']]],
  ['string', '{"a":{"expire":"5","value":"x"}}', [['a', 'x']]],
  ['string', '{"a":{"value":"x","value":"y"}}', [['a', 'y']]],
  [
    'number',
    '{"a":{"value":5.000000},"b":{"value":-1e2},"c":{"value":.5}}',
    [
      ['a', 5],
      ['b', -100],
      ['c', 0.5],
    ],
  ],
  ['number', '{"a":{"value":1000000000000000000000.000}}', [['a', 1e21]]],
  [
    'number',
    '{"i":{"value":1e999},"j":{"value":-inf}}',
    [
      ['i', null],
      ['j', null],
    ],
  ],
];

const REFUSED: readonly (readonly [type: 'string' | 'number', text: string, problem: string])[] = [
  ['string', '   ', 'empty json at offset 3'],
  ['string', '[]', "json must start with '{' at offset 1"],
  ['string', '{"a" {"value":"x"}}', "unexpected character, expected ':' at offset 6"],
  ['string', '{"a":5}', "unexpected character, expected '{' at offset 6"],
  ['string', '{"a":{"value":5}}', 'expected number value at offset 15'],
  ['number', '{"a":{"value":"x"}}', 'expected string value at offset 17'],
  ['string', '{"a":{}}', 'missing value at offset 6'],
  ['string', '{"a":{"value":"x"}} y', 'unexpected character, expected end of json at offset 20'],
  ['string', '{"a":{"value":"x"}', 'unexpected end of json at offset 18'],
  ['string', '{"a":{"value":"x"', 'unexpected end of json at offset 17'],
  ['string', '{"a":{"value":"x', 'unexpected end of input at offset 16'],
  ['string', '{"a":{"value":"\\q"}}', 'Invalid escape char at offset 16'],
  ['string', '{"a":{"value":"\\u12"}}', 'Invalid Unicode escape sequence at offset '],
  ['string', '{"a":{"value":nope}}', 'invalid number value at offset 14'],
  ['string', '{"a":{"value":null}}', 'invalid number value at offset 14'],
  ['number', '{"a":{"value":{}}}', 'invalid number value at offset 14'],
  ['string', "{'a':{}}", "unexpected character, expected '\"' at offset 1"],
  ['string', '{"a":{"value":"tab\tx"}}', 'Invalid source char at offset 18'],
];

const zone = (n: number, type: string): string => `js_shared_dict_zone zone=z${n}:32k type=${type} state=%%DIR%%/z${n}.json;`;

t.test('what state files say', async (t) => {
  const s = await startServer(t, {
    conf: `
events {}
http {
  js_import main.js;
  ${READ.map(([type], n) => zone(n, type)).join('\n  ')}
  js_shared_dict_zone zone=timed:32k timeout=100s state=%%DIR%%/timed.json;
  js_shared_dict_zone zone=written:32k state=%%DIR%%/written.json; js_shared_dict_zone zone=numbers:32k type=number state=%%DIR%%/numbers.json;
  server { listen 127.0.0.1:%%PORT_0%%; location / { js_content main.read; } location = /write { js_content main.write; } }
}
`,
    asRoot: true,
    files: {
      'main.js': `
function read(r) {
  const items = ngx.shared[r.uri.slice(1)].items();
  r.return(200, r.args.ttl === undefined ? JSON.stringify(items) : JSON.stringify(items.map(([key]) => [key, ngx.shared[r.uri.slice(1)].ttl(key) > 200000])));
}
function write(r) {
  ngx.shared.written.set('q"\\\\/\\n\\x01é€😀', 'v\\b\\x7f\\u2028').set('', '');
  ngx.shared.numbers.set('i', 5).set('big', 1e21).set('inf', Infinity).set('small', 1e-9);
  ngx.shared.timed.set('new', 'v', 50000000);
  r.return(200);
}
export default { read, write };`,
      ...Object.fromEntries(READ.map(([, text], n) => [`z${n}.json`, text])),
      'timed.json': `{"gone":{"value":"x","expire":${Date.now() - 5}},"long":{"value":"y","expire":${Date.now() + 300_000}},"none":{"value":"z"},"zero":{"value":"z","expire":0}}`,
    },
  });
  for (const [n, [, text, items]] of READ.entries()) {
    const found = JSON.parse((await httpGet(s.port(0), `/z${n}`)).body.toString()) as [string, unknown][];
    t.strictSame(found.sort(), items, text);
  }
  t.strictSame(
    (JSON.parse((await httpGet(s.port(0), '/timed?ttl=1')).body.toString()) as string[][]).sort(),
    [
      ['long', true],
      ['none', false],
      ['zero', false],
    ],
    'times are those of the file, or else those of the zone',
  );
  await httpGet(s.port(0), '/write');
  await s.stop('QUIT');
  t.strictSame(JSON.parse(s.read('written.json')), {
    'q"\\/\n\u0001Ã©â\u0082¬ð\u009f\u0098\u0080': { value: 'v\b\x7fâ\u0080¨' },
    '': { value: '' },
  });
  t.match(s.read('numbers.json'), /"inf":\{"value":1e999\}/, 'a number that JSON has no word for is read again');
  t.strictSame(Object.keys(JSON.parse(s.read('timed.json')) as object).sort(), ['long', 'new', 'none', 'zero']);
  t.match(s.read('timed.json'), /"long":\{"value":"y","expire":\d{13}\}/);
});

t.test('state files that cannot be read', async (t) => {
  for (const [type, text, problem] of REFUSED) {
    const { stderr, code, prefix } = await testConfig(t, `events {} http { ${zone(0, type)} }`, { 'z0.json': text });
    const file = `${prefix.dir}/z0.json`;
    t.ok(
      stderr.includes(`invalid format while loading js_shared_dict_zone "z0" from state file "${file}": ${problem}`),
      `${text}: ${stderr}`,
    );
    t.equal(code, 1);
  }
});

t.test('what a reload may change of a dictionary', async (t) => {
  const conf = (zone: string): string =>
    serverConf(
      'location /set { js_content d.set; } location /get { js_content d.get; }',
      `js_import d.js; js_shared_dict_zone zone=d:${zone};`,
    );
  const s = await startServer(t, {
    conf: conf('64k'),
    files: {
      'd.js': `export default { set(r) { r.return(200, String(ngx.shared.d.set('k', 'v'))); },
        get(r) { r.return(200, typeof ngx.shared.d.get('k')); } };`,
    },
  });
  await httpGet(s, '/set');
  await s.reload();
  t.equal((await httpGet(s, '/get')).text, 'string', 'the entries are kept');
  await t.rejects(s.reload(conf('64k type=number')), /js_shared_dict_zone "d" had previously a different type/);
  await t.rejects(s.reload(conf('64k timeout=5s')), /js_shared_dict_zone "d" uses timeout 5000 while previously it did not use timeout/);
  t.equal((await httpGet(s, '/get')).text, 'string', 'a refused configuration changes nothing');
  await s.reload(conf('128k type=number'));
  t.equal((await httpGet(s, '/get')).text, 'undefined', 'another size is another dictionary');
});
