import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { block, END_HEADERS, END_STREAM, type FieldText, frame, Http2Client, number32, settings, T } from '../support/http2-client.js';
import type { Client, Field, Request } from './case.js';
import type { Conversation, Outcome, Over, Received } from './client.js';
import { depart } from './depart.js';

const WINDOW = 0x7fff0000;

/** Does what a client does over HTTP/2, one request after the other. */
export async function overHttp2(
  socket: Socket,
  { requests, leave, cancel }: Client,
  host: string,
  tls: boolean,
  over: Over,
): Promise<Outcome> {
  const client = new Http2Client(socket);
  client.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', frame(T.SETTINGS, 0, 0, settings([4, WINDOW])), frame(T.WINDOW, 0, 0, number32(WINDOW)));
  if (leave?.of === 'received') {
    let count = 0;
    socket.on('data', (piece: Buffer) => {
      count += piece.length;
      if (count >= leave.after) {
        depart(socket, leave.how === 'half' ? 'close' : leave.how);
        client.ended = true;
      }
    });
  }
  const responses: Received[] = [];
  for (const [i, request] of requests.entries()) {
    const id = 2 * i + 1;
    const bytes = http2RequestBytes(request, id, host, tls);
    if (leave?.of === 'sent') {
      socket.write(bytes.subarray(0, leave.after), () => depart(socket, leave.how === 'half' ? 'close' : leave.how));
      await new Promise((left) => socket.once('close', left));
      return { responses, end: 'left' };
    }
    if (cancel !== undefined && i === requests.length - 1 && request.body !== undefined) {
      await cancelled(client, bytes, id, cancel.after);
      const received = http2Response(client, id);
      return { responses: received === undefined ? responses : [...responses, received], end: 'left' };
    }
    client.send(bytes);
    const end = await streamEnd(socket, client, id, (late) => over(i + 1, late));
    const received = http2Response(client, id);
    if (received !== undefined) {
      responses.push(received);
    }
    if (end !== 'done') {
      return { responses, end };
    }
  }
  return { responses, end: 'done' };
}

const CANCEL = 8;

/** Sends the head of a request and so many bytes of its body, and gives it up once the server has seen all that. */
async function cancelled(client: Http2Client, bytes: Buffer, id: number, after: number): Promise<void> {
  const head = 9 + bytes.readUIntBE(0, 3);
  const length = Math.min(after, bytes.readUIntBE(head, 3));
  const cut = frame(T.DATA, 0, id, bytes.subarray(head + 9, head + 9 + length));
  const acknowledged = (count: number) => client.frames.filter(({ type, flags }) => type === T.PING && (flags & 1) !== 0).length >= count;
  for (const [i, frames] of [[bytes.subarray(0, head), cut], [frame(T.RST, 0, id, number32(CANCEL))]].entries()) {
    client.send(...frames, frame(T.PING, 0, 0, Buffer.alloc(8, i)));
    await new Promise<void>((done) => {
      const look = (): void => {
        if (client.ended || acknowledged(i + 1)) {
          client.socket.off('data', look).off('close', look).off('end', look);
          done();
        }
      };
      client.socket.on('data', look).on('close', look).on('end', look);
      look();
    });
  }
}

/** The frames of a request. */
function http2RequestBytes({ method, target, fields, body }: Request, id: number, host: string, tls: boolean): Buffer {
  const own: FieldText[] = [
    [':method', method],
    [':scheme', tls ? 'https' : 'http'],
    [':path', target],
    [':authority', host],
    ...fields.map(([name, value]) => [name.toLowerCase(), value] as const),
  ];
  const content = Buffer.from(body === undefined ? '' : body.text.repeat(body.times ?? 1), 'latin1');
  const head = body?.framing === 'length' ? [...own, ['content-length', String(content.length)] as const] : own;
  const frames = [frame(T.HEADERS, END_HEADERS | (body === undefined ? END_STREAM : 0), id, block(head))];
  for (let at = 0; body !== undefined && (at < content.length || at === 0); at += 16_384) {
    frames.push(frame(T.DATA, at + 16_384 >= content.length ? END_STREAM : 0, id, content.subarray(at, at + 16_384)));
  }
  return Buffer.concat(frames);
}

function streamEnd(socket: Socket, client: Http2Client, id: number, over: (late: () => void) => () => void): Promise<Conversation['end']> {
  return new Promise((done) => {
    const settled = over(() => finish('late'));
    const finish = (end: Conversation['end']): void => {
      settled();
      socket.off('data', look).off('close', look).off('end', look);
      done(end);
    };
    const look = (): void => {
      const ended = client.frames.some(
        (f) => f.id === id && (f.type === T.RST || ((f.type === T.DATA || f.type === T.HEADERS) && (f.flags & END_STREAM) !== 0)),
      );
      if (ended || client.ended) {
        finish(ended ? 'done' : 'closed');
      }
    };
    socket.on('data', look).on('close', look).on('end', look);
    look();
  });
}

function http2Response(client: Http2Client, id: number): Received | undefined {
  const own = client.frames.filter((f) => f.id === id);
  const sections = own.flatMap(({ fields }) => (fields === undefined ? [] : [fields]));
  const statusOf = (fields: readonly FieldText[]): number => Number(fields.find(([name]) => name === ':status')?.[1] ?? 0);
  const plain = (fields: readonly FieldText[]): Field[] => fields.filter(([name]) => name !== ':status');
  const final = sections.findIndex((fields) => statusOf(fields) >= 200);
  if (final === -1) {
    return undefined;
  }
  return {
    status: statusOf(sections[final]!),
    version: 'HTTP/2',
    interim: sections.slice(0, final).map((fields) => ({ status: statusOf(fields), fields: plain(fields) })),
    fields: plain(sections[final]!),
    body: Buffer.concat(own.filter(({ type }) => type === T.DATA).map(({ payload }) => payload)),
    trailers: sections.slice(final + 1).flatMap(plain),
    complete: own.some((f) => f.type !== T.RST && (f.flags & END_STREAM) !== 0),
  };
}
