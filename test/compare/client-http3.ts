import { framesOf, headers, frame as http3Frame } from '../support/http3-frames.js';
import { APPLICATION, frame, parameter, QuicClient } from '../support/quic-client.js';
import type { Client, Field, Request } from './case.js';
import type { Conversation, Over, Received, Watch } from './client.js';

/** Bytes of a stream in one packet. */
const PIECE = 1100;
/**
 * Milliseconds after which a handshake begins anew, the first time, and a request that nobody answers is sent again: datagrams get lost.
 */
const AGAIN = 1500;
/** Each has twice as long as the one before. */
const HANDSHAKES = 6;

const [STREAM, FIN] = [0x0e, 0x01];
const [HEADERS, DATA, SETTINGS, CONTROL] = [1, 0, 4, 0];
/** The parameter `max_idle_timeout`, in milliseconds. */
const IDLE = 0x01;
/** CONNECTION_CLOSE of an application, and H3_NO_ERROR. */
const [CLOSE, NO_ERROR] = [0x1d, 0x100];

/** Does what a client does over HTTP/3, one request after the other. */
export async function overHttp3(
  port: number,
  { requests }: Client,
  host: string,
  overOf: (from: number) => Over,
  watch?: Watch,
): Promise<Conversation> {
  const client = await connect(port);
  const from = client.socket.address().port;
  const over = overOf(from);
  const responses: Received[] = [];
  try {
    sendStream(client, 2, Buffer.concat([Buffer.from([CONTROL]), http3Frame(SETTINGS)]), false);
    for (const [i, request] of requests.entries()) {
      const id = 4 * i;
      const end = await answered(client, id, requestBytes(request, host), (late) => over(i + 1, late));
      const received = responseOf(client, id);
      if (received !== undefined) {
        responses.push(received);
      }
      if (end !== 'done') {
        return { from, responses, end };
      }
    }
    await watch?.settled(from, responses.length);
    return { from, responses, end: 'done' };
  } finally {
    await client.leave(frame(CLOSE, NO_ERROR, 0));
  }
}

/** A connection whose handshake is over. The client repeats nothing: if something of it is lost, there is another one. */
async function connect(port: number): Promise<QuicClient> {
  for (let tries = 0; tries < HANDSHAKES; tries++) {
    const client = await QuicClient.open(port, { protocol: 'h3', parameters: [parameter(IDLE, 600_000)] });
    if (await within(client, AGAIN << tries, () => client.confirmed)) {
      return client;
    }
    await client.leave(frame(CLOSE, NO_ERROR, 0));
  }
  throw new Error('no handshake of QUIC came to its end');
}

/** Waits until something is so for a time; says whether it is. */
function within(client: QuicClient, milliseconds: number, is: () => boolean): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => finish(false), milliseconds);
    const finish = (so: boolean): void => {
      clearTimeout(timer);
      client.socket.off('message', look);
      done(so);
    };
    const look = (): void => void (is() ? finish(true) : 0);
    client.socket.on('message', look);
    look();
  });
}

/** Sends a request, and waits for the end of its response. */
async function answered(
  client: QuicClient,
  id: number,
  bytes: Buffer,
  over: (late: () => void) => () => void,
): Promise<Conversation['end']> {
  let late = false;
  const settled = over(() => (late = true));
  const isOver = (): boolean => client.streams.get(id)?.end === true || (client.streams.get(id)?.reset ?? -1) !== -1;
  try {
    while (!isOver() && client.closed === undefined && !late) {
      const came = client.datagrams;
      sendStream(client, id, bytes, true);
      // What goes on to come was asked for.
      while (!(await within(client, AGAIN, () => isOver() || client.closed !== undefined)) && !late && client.datagrams > came) {}
    }
    return isOver() ? 'done' : client.closed !== undefined ? 'closed' : 'late';
  } finally {
    settled();
  }
}

function sendStream(client: QuicClient, id: number, bytes: Buffer, ends: boolean): void {
  for (let at = 0; at < bytes.length; at += PIECE) {
    const piece = bytes.subarray(at, at + PIECE);
    const last = ends && at + PIECE >= bytes.length;
    client.send(APPLICATION, frame(last ? STREAM | FIN : STREAM, id, at, piece.length, piece));
  }
}

function requestBytes({ method, target, fields, body }: Request, host: string): Buffer {
  const content = Buffer.from(body === undefined ? '' : body.text.repeat(body.times ?? 1), 'latin1');
  const lines = [
    `:method: ${method}`,
    ':scheme: https',
    `:path: ${target}`,
    `:authority: ${host}`,
    ...fields.map(([name, value]) => `${name.toLowerCase()}: ${value}`),
    ...(body?.framing === 'length' ? [`content-length: ${content.length}`] : []),
  ];
  return Buffer.concat([headers(...lines), ...(body === undefined ? [] : [http3Frame(DATA, content)])]);
}

function responseOf(client: QuicClient, id: number): Received | undefined {
  const stream = client.streams.get(id);
  const frames = framesOf(Buffer.from(stream?.text.slice(0, stream.came.front) ?? '', 'latin1'));
  const sections = frames.filter(({ type }) => type === HEADERS).map(({ fields }) => fields.map(fieldOf));
  const statusOf = (fields: readonly Field[]): number => Number(fields.find(([name]) => name === ':status')?.[1] ?? 0);
  const plain = (fields: readonly Field[]): Field[] => fields.filter(([name]) => name !== ':status');
  const final = sections.findIndex((fields) => statusOf(fields) >= 200);
  if (stream === undefined || final === -1) {
    return undefined;
  }
  return {
    status: statusOf(sections[final]!),
    version: 'HTTP/3',
    interim: sections.slice(0, final).map((fields) => ({ status: statusOf(fields), fields: plain(fields) })),
    fields: plain(sections[final]!),
    body: Buffer.concat(frames.filter(({ type }) => type === DATA).map(({ payload }) => payload)),
    trailers: sections.slice(final + 1).flatMap(plain),
    complete: stream.end,
  };
}

const fieldOf = (line: string): Field => {
  const colon = line.indexOf(': ', 1);
  return [line.slice(0, colon), line.slice(colon + 2)];
};
