import type { Test } from 'tap';
import { quoted } from '../../support/case-bytes.js';
import { END_STREAM, type Frame, Http2Client, T } from '../../support/http2-client.js';
import type { StrictBackend } from '../strict-backend.js';
import type { Http2Case } from './cases.js';

/** Fields that say nothing about how a request was read. */
export const USUAL: ReadonlySet<string> = new Set([
  ':status',
  'server',
  'date',
  'content-type',
  'content-length',
  'last-modified',
  'etag',
  'accept-ranges',
]);

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

/** Milliseconds, for a machine that is busy. */
const PATIENCE = 60_000;

const over = (frame: Frame, id: number): boolean =>
  frame.id === id && (frame.type === T.RST || (frame.type <= T.HEADERS && (frame.flags & END_STREAM) !== 0));

/** Waits until what a connection has brought is enough. `what` says what was waited for. */
function came({ socket }: Http2Client, enough: () => boolean, what: () => string): Promise<void> {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`waited in vain for: ${what()}`)), PATIENCE);
    const look = (): void => {
      if (enough()) {
        clearTimeout(timer);
        socket.off('data', look).off('end', look).off('close', look);
        done();
      }
    };
    socket.on('data', look).on('end', look).on('close', look);
    look();
  });
}

/** Plays a case over HTTP/2. Gives a line for each stream, one for GOAWAY, and one for each request that reached the backend. */
export async function play(t: Test, port: number, backend: StrictBackend, played: Http2Case): Promise<string[]> {
  backend.begin(played.response);
  const client = await Http2Client.connect(t, port);
  client.send(played.frames);
  const { frames } = client;
  const isOver = (): boolean => client.ended || played.streams.every((id) => frames.some((frame) => over(frame, id)));
  await came(client, isOver, () => `the end of ${played.title}: ${client.text()}`);
  if (!client.ended) {
    client.ping().catch(() => {});
    await came(
      client,
      () => client.ended || frames.some(({ type, flags }) => type === T.PING && flags === 1),
      () => 'an answer to PING',
    );
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
