import { Buffer } from 'node:buffer';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Test } from 'tap';
import { DECODED, HpackDecoder } from '../../src/worker/http/http2-frames/hpack/decoder.js';
import { watchForPoison } from './poison.js';
import { waitFor } from './wait.js';

/** A frame as it came. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
  /** Of a header section that ends in this frame: names and values. */
  readonly fields?: readonly (readonly [string, string])[];
}

/** Name and value of a field. */
export type FieldText = readonly [string, string];

export const T = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST: 3,
  SETTINGS: 4,
  PUSH: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW: 8,
  CONTINUATION: 9,
  PRIORITY_UPDATE: 16,
};
export const END_STREAM = 1;
export const END_HEADERS = 4;

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** The bytes of a frame; `length` where it shall say something else than the truth. */
export function frame(type: number, flags: number, id: number, payload: Uint8Array | string = '', length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload]);
}

/** A payload of one number of 32 bits. */
export const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

/** Parameters of SETTINGS. */
export const settings = (...pairs: readonly (readonly [number, number])[]): Buffer =>
  Buffer.concat(pairs.map(([id, value]) => Buffer.concat([Buffer.from([id >> 8, id]), number32(value)])));

const length7 = (length: number): Buffer => {
  if (length < 127) {
    return Buffer.from([length]);
  }
  const bytes = [127];
  let rest = length - 127;
  for (; rest >= 128; rest >>= 7) {
    bytes.push(0x80 | (rest & 0x7f));
  }
  return Buffer.from([...bytes, rest]);
};

/** A header block in which every field is written out. */
export const block = (fields: readonly FieldText[]): Buffer =>
  Buffer.concat(
    fields.flatMap(([name, value]) => [
      Buffer.from([0]),
      length7(name.length),
      Buffer.from(name, 'latin1'),
      length7(value.length),
      Buffer.from(value, 'latin1'),
    ]),
  );

/** The fields of a request, with others behind them. */
export const request = (method: string, path: string, ...others: readonly FieldText[]): FieldText[] => [
  [':method', method],
  [':scheme', 'http'],
  [':path', path],
  [':authority', 'localhost'],
  ...others,
];

/** One end of an HTTP/2 connection that sends exactly the frames it is told to and sees every frame of the other end. */
export class Http2Client {
  readonly socket: Socket;
  readonly frames: Frame[] = [];
  readonly #decoder = new HpackDecoder();
  #bytes = Buffer.alloc(0);
  #section: Buffer[] = [];
  ended = false;
  /** Bytes of a preface that are still to come. */
  #preface: number;
  readonly #onFrame: ((frame: Frame) => void) | undefined;

  /** `server`: it is the server's end, and told of each frame. */
  constructor(socket: Socket, server?: (frame: Frame) => void) {
    this.#preface = server === undefined ? 0 : PREFACE.length;
    this.#onFrame = server;
    this.socket = socket;
    socket.setNoDelay(true);
    watchForPoison(socket, 'what an end of HTTP/2 received');
    socket.on('data', (piece) => this.#read(piece));
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => (this.ended = true));
    }
  }

  /** Connects and says the preface with empty SETTINGS, unless `pure`. */
  static async connect(t: Test, port: number, options: { pure?: boolean; tls?: boolean; servername?: string } = {}): Promise<Http2Client> {
    const socket = options.tls
      ? connectTls({
          port,
          host: '127.0.0.1',
          rejectUnauthorized: false,
          ALPNProtocols: ['h2'],
          servername: options.servername ?? 'localhost',
        })
      : connectTcp(port, '127.0.0.1');
    const client = new Http2Client(socket);
    t.teardown(() => socket.destroy());
    await new Promise((done, fail) => socket.once(options.tls ? 'secureConnect' : 'connect', done).once('error', fail));
    if (!options.pure) {
      client.send(PREFACE, frame(T.SETTINGS, 0, 0));
    }
    return client;
  }

  send(...bytes: readonly (string | Uint8Array)[]): this {
    this.socket.write(Buffer.concat(bytes.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece))));
    return this;
  }

  /** Opens a stream; without `body` it ends with its head. */
  request(id: number, fields: readonly FieldText[], body?: string): this {
    const head = frame(T.HEADERS, END_HEADERS | (body === undefined ? END_STREAM : 0), id, block(fields));
    return body === undefined ? this.send(head) : this.send(head, frame(T.DATA, END_STREAM, id, body));
  }

  #read(piece: Buffer): void {
    const skipped = Math.min(this.#preface, piece.length);
    this.#preface -= skipped;
    this.#bytes = Buffer.concat([this.#bytes, piece.subarray(skipped)]);
    while (this.#bytes.length >= 9) {
      const size = 9 + this.#bytes.readUIntBE(0, 3);
      if (this.#bytes.length < size) {
        return;
      }
      const payload = this.#bytes.subarray(9, size);
      const [type, flags, id] = [this.#bytes[3]!, this.#bytes[4]!, this.#bytes.readUInt32BE(5)];
      this.#bytes = this.#bytes.subarray(size);
      if (type === T.HEADERS || type === T.CONTINUATION) {
        this.#section.push(payload);
      }
      const ends = (type === T.HEADERS || type === T.CONTINUATION) && (flags & END_HEADERS) !== 0;
      const seen = { type, flags, id, payload, ...(ends ? { fields: this.#decode() } : {}) };
      this.frames.push(seen);
      this.#onFrame?.(seen);
    }
  }

  #decode(): FieldText[] {
    const whole = Buffer.concat(this.#section);
    this.#section = [];
    const fields: FieldText[] = [];
    const limits = { field: 1e6, total: 1e7 };
    const code = this.#decoder.decode(whole, 0, whole.length, limits, { field: ({ name, value }) => fields.push([name.text, value]) });
    if (code !== DECODED) {
      throw new Error(this.#decoder.problem);
    }
    return fields;
  }

  /** The first frame that is as wanted, now or later. */
  async frame(wanted: (frame: Frame) => boolean, what: string): Promise<Frame> {
    return waitFor(() => this.frames.find(wanted), { what: () => `${what}; there were ${this.text()}` });
  }

  /** Everything of a stream until its end or its reset. */
  async response(id: number): Promise<{
    status: string;
    fields: Map<string, string>;
    list: readonly FieldText[];
    body: string;
    reset: number | undefined;
    trailers: FieldText[];
  }> {
    const over = (f: Frame): boolean => f.id === id && (f.type === T.RST || ((f.flags & END_STREAM) !== 0 && f.type <= T.HEADERS));
    await this.frame(over, `the end of stream ${id}`);
    const own = this.frames.filter((f) => f.id === id);
    const heads = own.filter(({ fields }) => fields !== undefined).map(({ fields }) => fields!);
    const last = heads.find((fields) => fields[0]?.[0] === ':status' && !fields[0][1].startsWith('1'));
    const body = Buffer.concat(own.filter(({ type }) => type === T.DATA).map(({ payload }) => payload)).toString('latin1');
    const reset = own.find(({ type }) => type === T.RST)?.payload.readUInt32BE(0);
    const trailers = heads.filter((fields) => fields[0]?.[0] !== ':status').flat() as FieldText[];
    return { status: last?.[0]?.[1] ?? '', fields: new Map(last ?? []), list: last ?? [], body, reset, trailers };
  }

  /** The code of the RST_STREAM of a stream. */
  async reset(id: number): Promise<number> {
    return (await this.frame((f) => f.type === T.RST && f.id === id, `RST_STREAM of ${id}`)).payload.readUInt32BE(0);
  }

  /** The last stream and the code of GOAWAY. */
  async goaway(): Promise<readonly [last: number, code: number]> {
    const { payload } = await this.frame(({ type }) => type === T.GOAWAY, 'GOAWAY');
    return [payload.readUInt32BE(0), payload.readUInt32BE(4)];
  }

  /** Sends a PING and waits for its answer: what was sent before has been dealt with then. */
  async ping(): Promise<void> {
    const mark = `ping${String(Math.floor(performance.now() * 1000) % 10_000).padStart(4, '0')}`;
    this.send(frame(T.PING, 0, 0, mark));
    await this.frame((f) => f.type === T.PING && f.payload.toString('latin1') === mark, 'PING');
  }

  async closed(): Promise<void> {
    await waitFor(() => this.ended, { what: () => `the end; there were ${this.text()}` });
  }

  text(): string {
    return this.frames.map(({ type, flags, id, payload }) => `${type}/${flags}/${id}/${payload.length}`).join(' ');
  }
}
