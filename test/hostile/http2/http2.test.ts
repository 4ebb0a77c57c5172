import t, { type Test } from 'tap';
import { againstNginx } from '../../support/binary.js';
import { quoted } from '../../support/case-bytes.js';
import { END_STREAM, type Frame, Http2Client, T } from '../../support/http2-client.js';
import { startServer } from '../../support/server.js';
import { waitFor } from '../../support/wait.js';
import { configuration, files, SECRET } from '../configuration.js';
import { type StrictBackend, startStrictBackend } from '../strict-backend.js';
import { type Http2Case, readHttp2Cases, writeHttp2Cases } from './cases.js';

const USUAL = new Set([':status', 'server', 'date', 'content-type', 'content-length', 'last-modified', 'etag', 'accept-ranges']);

/** What came of a stream: its status, unusual fields, the body of a 200, and the code that it was reset with. */
function streamLine(frames: readonly Frame[], id: number): string {
  const own = frames.filter((frame) => frame.id === id);
  const fields = own.flatMap((frame) => frame.fields ?? []);
  const status = fields.find(([name]) => name === ':status')?.[1];
  const body = Buffer.concat(own.filter(({ type }) => type === T.DATA).map(({ payload }) => payload)).toString('latin1');
  const unusual = fields.filter(([name]) => !USUAL.has(name)).map(([name, value]) => ` ${quoted(`${name}: ${value}`)}`);
  const reset = own.find(({ type }) => type === T.RST)?.payload.readUInt32BE(0);
  const text = status === undefined ? '' : ` ${status}${unusual.join('')}${status === '200' ? ` body ${quoted(body)}` : ''}`;
  return `${id}:${text}${reset === undefined || (status !== undefined && reset === 0) ? '' : ` reset ${reset}`}`;
}

const over = (frame: Frame, id: number): boolean =>
  frame.id === id && (frame.type === T.RST || (frame.type <= T.HEADERS && (frame.flags & END_STREAM) !== 0));

/** Plays a case. Gives a line for each stream, one for GOAWAY, and one for each request that reached the backend. */
async function play(t: Test, port: number, backend: StrictBackend, played: Http2Case): Promise<string[]> {
  backend.begin(undefined);
  const client = await Http2Client.connect(t, port);
  client.send(played.frames);
  const { frames } = client;
  await waitFor(() => client.ended || played.streams.every((id) => frames.some((frame) => over(frame, id))), {
    what: () => `the end of ${played.title}: ${client.text()}`,
    timeout: 15_000,
  });
  if (!client.ended) {
    client.ping().catch(() => {});
    await waitFor(() => client.ended || frames.some(({ type, flags }) => type === T.PING && flags === 1), { what: 'an answer to PING' });
  }
  client.socket.destroy();
  await backend.settled();
  const goaway = frames.find(({ type }) => type === T.GOAWAY);
  return [
    ...played.streams.map((id) => streamLine(frames, id)),
    ...(goaway === undefined ? [] : [`goaway ${goaway.payload.readUInt32BE(4)}`]),
    ...backend.report().sort(),
  ].map((line) => line.replaceAll(`:${port}`, ':PORT').replace(/sec-websocket-key: [^\\]+/, 'sec-websocket-key: KEY'));
}

t.test('hostile requests over HTTP/2', async (t) => {
  const backend = await startStrictBackend();
  t.teardown(() => backend.stop());
  const conf = configuration(backend.port).replace('http {', 'http {\n  http2 on;');
  const server = await startServer(t, { conf, files, asRoot: true });
  for (const [name, ofFile] of readHttp2Cases()) {
    t.test(name, async (t) => {
      const found: string[][] = [];
      for (const played of ofFile) {
        found.push(await play(t, server.port(0), backend, played));
      }
      if (process.env['UPDATE_CASES'] !== undefined) {
        writeHttp2Cases(name, againstNginx ? 'nginx' : 'log', found);
        return;
      }
      ofFile.forEach((played, i) => {
        t.strictSame(found[i], (againstNginx ? played.nginx : undefined) ?? played.log, played.title);
        // Whatever a case expects: one reading of each request, none that the client did not send, and nothing from outside a root.
        if (!againstNginx) {
          t.notMatch(
            found[i]!.join('\n'),
            new RegExp(`${SECRET}|^! (?!incomplete)|^> "\\w+ /p/smuggled|[\\r\\n]Injected`, 'm'),
            played.title,
          );
        }
      });
    });
  }
});
