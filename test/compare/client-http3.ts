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
/** The parameter of how much of a stream that the client began it takes at first, and the frame that takes more. */
const [TAKES, TAKES_MORE] = [0x05, 0x11];
/** RESET_STREAM, STOP_SENDING, and H3_REQUEST_CANCELLED. */
const [RESET, STOP, CANCELLED] = [0x04, 0x05, 0x10c];
/** Bytes that a client takes at first which does not read, and milliseconds until it does. */
const [LITTLE, PAUSE] = [100, 30];
/** CONNECTION_CLOSE of an application, and H3_NO_ERROR. */
const [CLOSE, NO_ERROR] = [0x1d, 0x100];

/** Does what a client does over HTTP/3, one request after the other. */
export async function overHttp3(
  port: number,
  { requests, leave, cancel, slow }: Client,
  host: string,
  overOf: (from: number) => Over,
  early: boolean,
  watch?: Watch,
): Promise<Conversation> {
  const client = early ? await openEarly(port, slow) : await connect(port, slow);
  const from = client.socket.address().port;
  const over = overOf(from);
  const responses: Received[] = [];
  const pauses: ReturnType<typeof setTimeout>[] = [];
  try {
    sendStream(client, 2, Buffer.concat([Buffer.from([CONTROL]), http3Frame(SETTINGS)]), false);
    if (early && leave === undefined && cancel === undefined) {
      sendStream(client, 0, requestBytes(requests[0]!, host), true);
      if (!(await within(client, AGAIN << HANDSHAKES, () => client.confirmed))) {
        throw new Error('no handshake with early data came to its end');
      }
      if (!client.early) {
        sendStream(client, 2, Buffer.concat([Buffer.from([CONTROL]), http3Frame(SETTINGS)]), false);
      }
    }
    for (const [i, request] of requests.entries()) {
      const id = 4 * i;
      const bytes = requestBytes(request, host);
      const last = i === requests.length - 1;
      if (slow) {
        pauses.push(setTimeout(() => client.send(APPLICATION, frame(TAKES_MORE, id, 1 << 22)), PAUSE));
      }
      if (leave?.of === 'sent') {
        await left(client, id, bytes.subarray(0, leave.after), leave.how, (done) => over(i + 1, done));
        return { from, responses: responsesOf(client, id), end: 'left' };
      }
      if (cancel !== undefined && last && request.body !== undefined) {
        const head = bytes.length - contentOf(request).length;
        await left(client, id, bytes.subarray(0, head + cancel.after), 'reset', (done) => over(i + 1, done));
        return { from, responses: [...responses, ...responsesOf(client, id)], end: 'left' };
      }
      const sent = i === 0 && client.early;
      const end = await answered(client, id, bytes, sent, (late) => over(i + 1, late), leave);
      responses.push(...responsesOf(client, id));
      if (end !== 'done') {
        return { from, responses, end };
      }
    }
    await watch?.settled(from, responses.length);
    return { from, responses, end: 'done', ...(early ? { early: client.early } : {}) };
  } finally {
    pauses.forEach(clearTimeout);
    await client.leave(frame(CLOSE, NO_ERROR, 0));
  }
}

const optionsOf = (slow: boolean) => ({
  protocol: 'h3',
  parameters: [parameter(IDLE, 600_000), ...(slow ? [parameter(TAKES, LITTLE)] : [])],
});

/** A connection whose handshake is over. The client repeats nothing: if something of it is lost, there is another one. */
async function connect(port: number, slow = false): Promise<QuicClient> {
  for (let tries = 0; tries < HANDSHAKES; tries++) {
    const client = await QuicClient.open(port, optionsOf(slow));
    if (await within(client, AGAIN << tries, () => client.confirmed)) {
      return client;
    }
    await client.leave(frame(CLOSE, NO_ERROR, 0));
  }
  throw new Error('no handshake of QUIC came to its end');
}

/** Sessions of servers, by port: each of them lets many connections send early data. */
const sessions = new Map<number, Promise<number>>();

/** Forgets sessions: a new configuration of a server does not know them. */
export const forgetHttp3Sessions = (): void => sessions.clear();

async function openEarly(port: number, slow = false): Promise<QuicClient> {
  const known = sessions.get(port) ?? sessionOf(port);
  sessions.set(port, known);
  return QuicClient.open(port, { ...optionsOf(slow), session: await known });
}

async function sessionOf(port: number): Promise<number> {
  const client = await QuicClient.open(port, { ...optionsOf(false), session: 0 });
  await client.until(() => client.session !== 0);
  const { session } = client;
  await client.leave(frame(CLOSE, NO_ERROR, 0));
  return session;
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

/** Sends a request, unless it was `sent` before, and waits for the end of its response. */
async function answered(
  client: QuicClient,
  id: number,
  bytes: Buffer,
  sent: boolean,
  over: (late: () => void) => () => void,
  leave: Client['leave'],
): Promise<Conversation['end']> {
  let late = false;
  const leaves = (): boolean => leave !== undefined && (client.streams.get(id)?.came.front ?? 0) >= leave.after;
  const settled = over(() => (late = true));
  const isOver = (): boolean => client.streams.get(id)?.end === true || (client.streams.get(id)?.reset ?? -1) !== -1 || leaves();
  try {
    for (let again = !sent; !isOver() && client.closed === undefined && !late; again = true) {
      const came = client.datagrams;
      if (again) {
        sendStream(client, id, bytes, true);
      }
      // What goes on to come was asked for.
      while (!(await within(client, AGAIN, () => isOver() || client.closed !== undefined)) && !late && client.datagrams > came) {}
    }
    return leaves() ? 'left' : isOver() ? 'done' : client.closed !== undefined ? 'closed' : 'late';
  } finally {
    settled();
  }
}

/** Sends the first bytes of a request, leaves, and waits until the server is done with it. A reset waits until the server has the bytes. */
async function left(
  client: QuicClient,
  id: number,
  bytes: Buffer,
  how: 'half' | 'close' | 'reset',
  over: (done: () => void) => () => void,
): Promise<void> {
  sendStream(client, id, bytes, how === 'half');
  if (how === 'close') {
    return;
  }
  if (how === 'reset') {
    const { number } = client.levels[APPLICATION]!;
    await within(client, AGAIN, () => client.levels[APPLICATION]!.acknowledged >= number - 1);
    client.send(APPLICATION, frame(RESET, id, CANCELLED, bytes.length), frame(STOP, id, CANCELLED));
  }
  await new Promise<void>((done) => over(done));
}

function sendStream(client: QuicClient, id: number, bytes: Buffer, ends: boolean): void {
  for (let at = 0; at < bytes.length; at += PIECE) {
    const piece = bytes.subarray(at, at + PIECE);
    const last = ends && at + PIECE >= bytes.length;
    client.send(APPLICATION, frame(last ? STREAM | FIN : STREAM, id, at, piece.length, piece));
  }
}

const contentOf = ({ body }: Request): Buffer => Buffer.from(body === undefined ? '' : body.text.repeat(body.times ?? 1), 'latin1');

function requestBytes(request: Request, host: string): Buffer {
  const { method, target, fields, body } = request;
  const content = contentOf(request);
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

const responsesOf = (client: QuicClient, id: number): Received[] => {
  const received = responseOf(client, id);
  return received === undefined ? [] : [received];
};

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
