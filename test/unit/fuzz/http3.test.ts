import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import t from 'tap';
import { FRAME, STREAM } from '../../../src/worker/http/http3-frames/protocol.js';
import { frame, framesOf, get, Http3Scene, headers, post } from '../../support/http3-scene.js';
import { Mutations, trials } from './mutations.js';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** The inputs of h2o's fuzzer. */
function corpus(): string[] {
  const text = readFileSync(new URL('../../support/http3-corpus.txt', import.meta.url), 'latin1').replace(/^#.*\n/gm, '');
  const bytes = inflateSync(Buffer.from(text, 'base64'));
  const inputs: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 2 + bytes.readUInt16BE(at);
    inputs.push(bytes.toString('latin1', at + 2, end));
    at = end;
  }
  return inputs;
}

const inputs = corpus();
const requests = [
  ...inputs,
  ...[get('/'), get('/a', 'accept: */*', 'priority: u=1, i'), headers(':method: HEAD', ':scheme: http', ':path: /?a', ':authority: x')],
  Buffer.concat([post('/', 'content-length: 3'), frame(FRAME.DATA, 'abc')]),
  Buffer.concat([post('/body'), frame(FRAME.DATA, 'a'), frame(0x21, 'x'), frame(FRAME.DATA, 'bc'), headers('x: y')]),
  frame(FRAME.HEADERS, latin1('\x03\x81\x10\x11')),
  frame(FRAME.HEADERS, latin1('\x02\0\xd1\xd7\xc1\x50\x01a\x80')),
].map((bytes) => (typeof bytes === 'string' ? bytes : bytes.toString('latin1')));

const control = [
  `\0${frame(FRAME.SETTINGS).toString('latin1')}${frame(FRAME.MAX_PUSH_ID, '\x05').toString('latin1')}`,
  `\0${frame(FRAME.SETTINGS, '\x01\x50\0\x07\x40\x64\x06\x80\0\x10\0').toString('latin1')}${frame(FRAME.GOAWAY, '\x04').toString('latin1')}`,
  `\0${frame(FRAME.SETTINGS).toString('latin1')}${frame(FRAME.PRIORITY_UPDATE_REQUEST, '\0u=1, i').toString('latin1')}`,
  '\x02\x3f\xbd\x01\xc0\x0fwww.example.com\xc1\x0c/sample/path\x02',
  '\x02\x3f\xe1\x1f\x4acustom-key\x0ccustom-value\x00\x20',
  '\x03\x44\x7f\x01',
  '\x21grease',
  `${String.fromCharCode(STREAM.PUSH)}\0`,
];

const mutations = new Mutations(40, [
  ...[
    '\0',
    '\x01',
    '\x3f',
    '\x40',
    '\x7f',
    '\x80',
    '\xc0',
    '\xff',
    '\xff\xff\xff\xff\xff\xff\xff\xff',
    '\x01\0',
    '\0\0',
    '\x04\0',
    '\x40\x40',
  ],
  ...['\x82', '\xd1', '\xd7', '\x50\x01a', '\x23abc\x01x', '\x2b', '\x10', '\0\x01a', get('/').toString('latin1')],
]);

t.test('whatever a client sends over HTTP/3, nothing is left over and others are served', async (t) => {
  const scene = await Http3Scene.of(
    t,
    `server {
      listen 127.0.0.1:8443;
      large_client_header_buffers 4 1k;
      error_log /dev/null crit;
      access_log off;
      location / { return 200 "$request_uri"; }
      location /body { client_body_in_file_only clean; proxy_pass http://127.0.0.1:1; }
    }`,
  );
  const check = (streams: readonly (readonly [id: number, bytes: Buffer])[], size: number, end: boolean): void => {
    const client = scene.connect();
    for (const [id, bytes] of streams) {
      client.open(id).send(bytes, end && id % 4 === 0, Math.max(1, Math.min(size, bytes.length)));
      if (client.end !== undefined) {
        break;
      }
    }
    const written = client.streams.get(0)?.bytes;
    client.finish({ by: 'peer', application: true, code: 0x100, reason: '' });
    if (written !== undefined) {
      framesOf(written);
    }
  };
  for (const input of inputs) {
    check([[0, latin1(input)]], input.length, true);
    check([[0, latin1(input)]], 1, true);
  }
  const settled = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 0));
  for (let i = 0; i < trials(6000); i++) {
    const streams: [number, Buffer][] = [];
    for (let n = mutations.below(4); n >= 0; n--) {
      const own = mutations.below(3) === 0;
      const id = streams.length * 4 + (own ? 2 : 0);
      streams.push([id, latin1(own ? mutations.mutated(control) : mutations.mutated(requests))]);
    }
    try {
      check(streams, mutations.pick([1, 2, 5, 100_000]), mutations.below(2) === 0);
    } catch (error) {
      t.fail(`${(error as Error).stack} ${streams.map(([id, bytes]) => `${id}: ${bytes.toString('base64')}`).join(' ')}`);
      break;
    }
    if (i % 100 === 0) {
      await settled();
    }
  }
  await settled();
  t.equal(scene.counters.waiting, 0);
  t.equal(scene.counters.writing, 0);
});
