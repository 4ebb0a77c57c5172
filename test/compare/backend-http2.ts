import type { Socket } from 'node:net';
import { block, END_HEADERS, END_STREAM, type FieldText, type Frame, frame, Http2Client, number32, T } from '../support/http2-client.js';
import type { BackendRequest } from './backend-request.js';
import { type Answer, bytesOf } from './case.js';
import { departFrom } from './depart.js';

/** Bytes of the longest frame that everybody takes. */
const LONGEST = 16_384;
const WINDOW = 65_535;
const INTERNAL_ERROR = 2;
/** Fields of HTTP/1 that HTTP/2 does not have. */
const HOP = /^(connection|upgrade|transfer-encoding|keep-alive)$/i;

/** A stream whose request is being read. */
interface Stream {
  readonly fields: readonly FieldText[];
  readonly data: Buffer[];
}

/** What of a response is still to be sent, and how it ends. */
interface Rest {
  readonly id: number;
  body: Buffer;
  window: number;
  readonly end: 'data' | 'reset' | readonly FieldText[];
}

/** The backend's end of an HTTP/2 connection. It heeds windows. */
export class Http2Backend {
  readonly #connection: Http2Client;
  readonly #asked: (request: BackendRequest) => Answer;
  readonly #streams = new Map<number, Stream>();
  readonly #rest: Rest[] = [];
  #window = WINDOW;
  #initial = WINDOW;
  /** The first stream of the connection. */
  #first = 0;

  /** `asked` is told of each request, and says what to answer. */
  constructor(socket: Socket, asked: (request: BackendRequest) => Answer) {
    this.#asked = asked;
    this.#connection = new Http2Client(socket, (seen) => this.#take(seen));
    this.#connection.send(frame(T.SETTINGS, 0, 0));
  }

  #take({ type, flags, id: told, payload, fields }: Frame): void {
    // nginx 1.31 asks once more on a new connection when a kept one was stale, and leaves the old stream's number in the head; in the body
    // and for the answer the number is 1.
    if (type === T.HEADERS && this.#first === 0) {
      this.#first = told;
    }
    const id = told !== 0 && told === this.#first ? 1 : told;
    if (type === T.SETTINGS && (flags & 1) === 0) {
      for (let at = 0; at < payload.length; at += 6) {
        if (payload.readUInt16BE(at) === 4) {
          this.#initial = payload.readUInt32BE(at + 2);
        }
      }
      this.#connection.send(frame(T.SETTINGS, 1, 0));
    } else if (type === T.WINDOW) {
      this.#opened(id, payload.readUInt32BE(0));
    } else if (type === T.PING && (flags & 1) === 0) {
      this.#connection.send(frame(T.PING, 1, 0, payload));
    } else if (type === T.RST) {
      this.#forget(id);
    } else if (fields !== undefined) {
      this.#streams.set(id, this.#streams.get(id) ?? { fields, data: [] });
    } else if (type === T.DATA) {
      this.#streams.get(id)?.data.push(payload);
      if (payload.length > 0) {
        this.#connection.send(frame(T.WINDOW, 0, 0, number32(payload.length)), frame(T.WINDOW, 0, id, number32(payload.length)));
      }
    }
    if ((type === T.DATA || type === T.HEADERS) && (flags & END_STREAM) !== 0) {
      this.#reply(id);
    }
  }

  #reply(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) {
      // nginx was seen to send the end of a body on another stream than its request.
      this.#connection.socket.destroy();
      return;
    }
    const { fields, data } = stream;
    this.#streams.delete(id);
    const value = (wanted: string): string => fields.find(([name]) => name === wanted)?.[1] ?? '';
    const pseudo = fields.filter(([name]) => name.startsWith(':')).sort();
    const lines = [...pseudo, ...fields.filter(([name]) => !name.startsWith(':'))].map(([name, text]) => `${name}: ${text}\n`);
    const text = `${lines.join('')}\n${Buffer.concat(data).toString('latin1')}`;
    const [method, target] = [value(':method'), value(':path')];
    const answer = this.#asked({ protocol: 'http2', method, target, text, length: 0 });
    this.#answer(id, answer, method === 'HEAD', value('content-type').startsWith('application/grpc'));
  }

  #answer(id: number, { status, fields, body, framing, interim = [], raw, leave }: Answer, head: boolean, grpc: boolean): void {
    const { socket } = this.#connection;
    if (raw !== undefined) {
      socket.end(Buffer.from(raw, 'latin1'));
      return;
    }
    for (const text of interim) {
      const [line = '', ...others] = text.trim().split('\r\n');
      const more = others.map((field): FieldText => [field.slice(0, field.indexOf(':')).toLowerCase(), field.replace(/^[^:]*: /, '')]);
      this.#connection.send(frame(T.HEADERS, END_HEADERS, id, block([[':status', line.split(' ')[1]!], ...more])));
    }
    const content = bytesOf(body);
    const length = { length: content.length, short: content.length + 10, long: Math.max(content.length - 1, 0) }[framing as 'length'];
    const bare = head || status === 204 || status === 304;
    const own: FieldText[] = [
      [':status', String(status)],
      ...fields.filter(([name]) => !HOP.test(name)).map(([name, value]): FieldText => [name.toLowerCase(), value]),
      ...(length === undefined || status === 204 ? [] : [['content-length', String(length)] as const]),
    ];
    if (leave !== undefined) {
      const bytes = Buffer.concat([
        frame(T.HEADERS, END_HEADERS, id, block(own)),
        frame(T.DATA, END_STREAM, id, content.subarray(0, LONGEST)),
      ]);
      socket.write(bytes.subarray(0, leave.after), () => departFrom(socket, leave.how));
      return;
    }
    this.#connection.send(frame(T.HEADERS, END_HEADERS | (bare ? END_STREAM : 0), id, block(own)));
    if (!bare) {
      const trailers: FieldText[] = [['x-trailer', 'of the backend'], ...(grpc ? [['grpc-status', '0'] as const] : [])];
      const end = framing === 'bad-chunk' ? 'reset' : framing === 'trailers' ? trailers : 'data';
      this.#rest.push({ id, body: content, window: this.#initial, end });
      this.#send();
    }
  }

  #opened(id: number, by: number): void {
    const rest = this.#rest.find((each) => each.id === id);
    if (id === 0) {
      this.#window += by;
    } else if (rest !== undefined) {
      rest.window += by;
    }
    this.#send();
  }

  #forget(id: number): void {
    const at = this.#rest.findIndex((each) => each.id === id);
    if (at !== -1) {
      this.#rest.splice(at, 1);
    }
  }

  /** Sends as much as there is room for. */
  #send(): void {
    for (const rest of [...this.#rest]) {
      for (;;) {
        const size = Math.min(rest.body.length, LONGEST, rest.window, this.#window);
        if (rest.body.length > 0 && size <= 0) {
          break;
        }
        const piece = rest.body.subarray(0, size);
        rest.body = rest.body.subarray(size);
        rest.window -= size;
        this.#window -= size;
        const last = rest.body.length === 0;
        this.#connection.send(frame(T.DATA, last && rest.end === 'data' ? END_STREAM : 0, rest.id, piece));
        if (last) {
          this.#finish(rest);
          break;
        }
      }
    }
  }

  #finish({ id, end }: Rest): void {
    this.#forget(id);
    if (end === 'reset') {
      this.#connection.send(frame(T.RST, 0, id, number32(INTERNAL_ERROR)));
    } else if (end !== 'data') {
      this.#connection.send(frame(T.HEADERS, END_HEADERS | END_STREAM, id, block(end)));
    }
  }
}
