// The cases of HTTP/2 over HTTP/3, as far as they are not about frames that only HTTP/2 has: a request means the same over both.
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { quoted } from '../support/case-bytes.js';
import { frame, framesOf, Http3Scene, headers, until } from '../support/http3-scene.js';
import type { MemoryStream } from '../support/memory-quic.js';
import { configuration, files, SECRET } from './configuration.js';
import { type Http2Case, readHttp2Cases } from './http2/cases.js';
import { type StrictBackend, startStrictBackend } from './strict-backend.js';

const USUAL = new Set([':status', 'server', 'date', 'content-type', 'content-length', 'last-modified', 'etag', 'accept-ranges']);

/** What is an error of the connection there, or has no counterpart here. */
const OF_HTTP2 = new Set([
  'trailers that do not end the stream',
  'a section in two frames',
  'DATA within a section',
  'DATA behind the end of a stream',
]);

/** What came of a stream, as the cases of HTTP/2 write it, but for codes. */
function streamLine(stream: MemoryStream, id: number): string {
  const frames = framesOf(stream.bytes);
  const fields = frames.flatMap(({ fields }) => fields.map((line) => line.split(/(?<=.): /, 2) as [string, string]));
  const status = fields.find(([name]) => name === ':status')?.[1];
  const body = Buffer.concat(frames.filter(({ type }) => type === 0).map(({ payload }) => payload)).toString('latin1');
  const unusual = fields.filter(([name]) => !USUAL.has(name)).map(([name, value = '']) => ` ${quoted(`${name}: ${value}`)}`);
  return `${id}:${status === undefined ? '' : ` ${status}${unusual.join('')}${status === '200' ? ` body ${quoted(body)}` : ''}`}`;
}

const plain = (line: string): string => line.replace(/ reset \d+$/, '');

async function play(scene: Http3Scene, backend: StrictBackend, { parts, streams }: Http2Case): Promise<string[]> {
  backend.begin(undefined);
  const client = scene.client();
  const opened = new Map<number, MemoryStream>();
  for (const part of parts) {
    const stream = opened.get(part.stream) ?? client.open((part.stream - 1) * 2);
    opened.set(part.stream, stream);
    const bytes = part.type === 'DATA' ? frame(0, part.data) : headers(...part.fields.map(([name, value]) => `${name}: ${value}`));
    stream.send(bytes, part.flags.includes('END_STREAM'));
  }
  await until(() => client.end !== undefined || [...opened.values()].every((stream) => stream.ended || stream.resetCode !== undefined));
  const lines = streams.map((id) => streamLine(opened.get(id)!, id));
  client.finish({ by: 'peer', application: true, code: 0x100, reason: '' });
  await backend.settled();
  return [...lines, ...backend.report().sort()].map((line) =>
    line.replaceAll(':8443', ':PORT').replace(/sec-websocket-key: [^\\]+/, 'sec-websocket-key: KEY'),
  );
}

t.test('hostile requests over HTTP/3', { skip: againstNginx && 'in this process' }, async (t) => {
  const backend = await startStrictBackend();
  t.teardown(() => backend.stop());
  // Passwords are checked in a thread whose script the build makes; no case of HTTP/2 asks for one.
  const conf = configuration(backend.port).replace(/^ *location \/basic\/.*\n/m, '');
  const scene = await Http3Scene.whole(t, conf, files);
  for (const [name, ofFile] of readHttp2Cases()) {
    t.test(name, async (t) => {
      for (const played of ofFile) {
        if (OF_HTTP2.has(played.title) || played.log.some((line) => line.startsWith('goaway'))) {
          continue;
        }
        const found = await play(scene, backend, played);
        t.strictSame(found, played.log.map(plain), played.title);
        t.notMatch(found.join('\n'), new RegExp(`${SECRET}|^! (?!incomplete)|^> "\\w+ /p/smuggled|[\\r\\n]Injected`, 'm'), played.title);
      }
    });
  }
});
