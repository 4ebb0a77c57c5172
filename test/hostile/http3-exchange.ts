import { quoted } from '../support/case-bytes.js';
import { frame, framesOf, type Http3Scene, headers, until } from '../support/http3-scene.js';
import type { MemoryStream } from '../support/memory-quic.js';
import type { Http2Case } from './http2/cases.js';
import { USUAL } from './http2/exchange.js';
import type { StrictBackend } from './strict-backend.js';

/** A field of a line `name: value`; the name may begin with a colon. */
function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(': ', 1);
  return [line.slice(0, colon), line.slice(colon + 2)];
}

/** What came of a stream, as the cases of HTTP/2 write it; codes are those of HTTP/3. */
function streamLine(stream: MemoryStream, id: number): string {
  const frames = framesOf(stream.bytes);
  const fields = frames.flatMap(({ fields }) => fields.map(fieldOf));
  const status = fields.find(([name]) => name === ':status')?.[1];
  const body = Buffer.concat(frames.filter(({ type }) => type === 0).map(({ payload }) => payload)).toString('latin1');
  const unusual = fields.filter(([name]) => !USUAL.has(name)).map(([name, value = '']) => ` ${quoted(`${name}: ${value}`)}`);
  const text = status === undefined ? '' : ` ${status}${unusual.join('')}${status === '200' ? ` body ${quoted(body)}` : ''}`;
  return `${id}:${text}${stream.resetCode === undefined ? '' : ` reset ${stream.resetCode}`}`;
}

/** Plays a case over HTTP/3, as `play` of HTTP/2 does. */
export async function playOverHttp3(scene: Http3Scene, backend: StrictBackend, { parts, streams, response }: Http2Case): Promise<string[]> {
  backend.begin(response);
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
    line.replace(/:(?:8443|443)\b/g, ':PORT').replace(/sec-websocket-key: [^\\]+/, 'sec-websocket-key: KEY'),
  );
}
