// Over 400 lines: a client of QUIC, with its packets, frames and handshake, is one object for its tests.
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Region } from '../../src/shared/net/uring/memory.js';
import { PacketKeys, suiteOf } from '../../src/worker/net/openssl/packet-keys.js';
import { quicMemory } from '../../src/worker/net/openssl/quic-library.js';
import { LongHeader } from '../../src/worker/net/quic/long-header.js';
import { Ranges } from '../../src/worker/net/quic/ranges.js';
import { ReceiveBuffer } from '../../src/worker/net/quic/receive-buffer.js';
import { PacketCursor, putInt } from '../../src/worker/net/quic/varint.js';
import { initialKeys, type QuicVersion, Type, VERSION_1 } from '../../src/worker/net/quic/version.js';
import { QuicTlsClient } from './quic-tls-client.js';

/** An integer of variable length. */
export function int(value: number): Buffer {
  const into = Buffer.alloc(8);
  return into.subarray(0, putInt(into, 0, value));
}

/** A frame: numbers are integers of variable length. */
export const frame = (...parts: readonly (number | Buffer | string)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? int(part) : Buffer.from(part as string, 'latin1'))));

/** A transport parameter. */
export const parameter = (id: number, value: number | Buffer): Buffer => {
  const bytes = typeof value === 'number' ? int(value) : value;
  return Buffer.concat([int(id), int(bytes.length), bytes]);
};

export const [INITIAL, HANDSHAKE, APPLICATION] = [0, 1, 2] as const;
/** The level of early data in OpenSSL. */
const EARLY = 1;
const LEVELS: Readonly<Record<number, number>> = { 0: INITIAL, 2: HANDSHAKE, 3: APPLICATION };
const TYPES = [Type.INITIAL, Type.HANDSHAKE] as const;

/** How a {@link QuicClient} begins. */
export interface QuicClientOptions {
  readonly version?: QuicVersion;
  /** Empty for none. */
  readonly protocol?: string;
  readonly serverName?: string;
  /** Transport parameters beside the client's source, and in place of the usual ones where they have the same number; null: none at all. */
  readonly parameters?: readonly Buffer[] | null;
  /** The source's parameter is left out. */
  readonly withoutSource?: boolean;
  /** Changes the client's messages of TLS at a level. */
  readonly messages?: (level: number, bytes: Buffer) => Buffer;
  readonly source?: Buffer;
  readonly token?: Buffer;
  /** Tickets are taken; a session of another connection to the same server, with which early data may be sent, or 0. */
  readonly session?: number;
}

interface Level {
  read: PacketKeys | undefined;
  write: PacketKeys | undefined;
  number: number;
  largest: number;
  /** The last packet that the server says it has. */
  acknowledged: number;
  came: number[];
  eliciting: boolean;
  sentCrypto: number;
  readonly crypto: ReceiveBuffer;
}

interface ClientStream {
  text: string;
  /** All of it has come. */
  end: boolean;
  /** The code of RESET_STREAM. */
  reset: number;
  size: number;
  readonly came: Ranges;
}

/** What a CONNECTION_CLOSE says. */
export interface Closed {
  readonly application: boolean;
  readonly code: number;
  readonly reason: string;
}

let region: Region | undefined;

/** A client of QUIC for tests: shakes hands by itself, and otherwise sends what it is told to, right or wrong. It repeats nothing. */
export class QuicClient {
  readonly version: QuicVersion;
  readonly socket: Socket;
  readonly port: number;
  readonly destination = randomBytes(8);
  readonly source: Buffer;
  /** What the server is sent to. */
  peer: Buffer;
  readonly levels: readonly Level[];
  readonly #options: QuicClientOptions;
  readonly #tls: QuicTlsClient;
  #keyPhase = 0;
  /** The keys of early data. */
  #early: PacketKeys | undefined;
  #hello: Buffer | undefined;
  #nextRead: PacketKeys | undefined;
  readonly #waiting: (() => void)[] = [];
  readonly #messages: Buffer[][] = [[], [], []];

  // What came.
  closed: Closed | undefined;
  retried: Buffer | undefined;
  versions: number[] | undefined;
  readonly frames: { readonly level: number; readonly type: number }[] = [];
  readonly streams = new Map<number, ClientStream>();
  readonly challenges: Buffer[] = [];
  readonly responses: Buffer[] = [];
  readonly newIds: { readonly sequence: number; readonly id: Buffer; readonly token: Buffer }[] = [];
  readonly retired: number[] = [];
  token: Buffer | undefined;
  parameters: Buffer | undefined;
  datagrams = 0;
  bytes = 0;
  marks = 0;
  /** Takes datagrams that nobody understands. */
  readonly unknown: Buffer[] = [];
  confirmed = false;
  acknowledges = true;
  /** Challenges are answered. */
  answers = true;
  /** Acknowledgements tell that all packets came with ECT(0), but for so many of the application that came with CE. */
  tellsMarks = false;
  congested = 0;

  private constructor(socket: Socket, port: number, options: QuicClientOptions) {
    region ??= quicMemory(128 * 1024);
    this.socket = socket;
    this.port = port;
    this.#options = options;
    this.version = options.version ?? VERSION_1;
    this.source = options.source ?? randomBytes(8);
    this.peer = this.destination;
    this.levels = [0, 1, 2].map(() => ({
      read: undefined,
      write: undefined,
      number: 0,
      largest: -1,
      acknowledged: -1,
      came: [],
      eliciting: false,
      sentCrypto: 0,
      crypto: new ReceiveBuffer(),
    }));
    this.#initial();
    this.#tls = new QuicTlsClient(
      {
        secret: (level, sends, suite, secret) => {
          const target = this.levels[LEVELS[level] ?? APPLICATION]!;
          const keys = new PacketKeys(suiteOf(suite)!, secret, sends, this.version.prefix);
          target[sends ? 'write' : 'read'] = keys;
          this.#early = level === EARLY ? keys : this.#early;
        },
        message: (level, bytes) => {
          const message = options.messages?.(level, bytes) ?? bytes;
          this.#hello ??= message;
          this.#messages[LEVELS[level]!]!.push(message);
        },
        peerParameters: (bytes) => {
          this.parameters = bytes;
        },
      },
      options.protocol ?? 'hq-interop',
      options.serverName ?? 'localhost',
      options.parameters === null ? undefined : this.#ownParameters(),
      options.session,
    );
    socket.on('message', (bytes) => this.#datagram(bytes));
  }

  #initial(): void {
    const keys = initialKeys(this.version, this.peer);
    this.levels[INITIAL]!.read = keys.server(false);
    this.levels[INITIAL]!.write = keys.client(true);
  }

  #ownParameters(): Buffer {
    const given = this.#options.parameters ?? [];
    const usual = [
      [0x01, 30000],
      [0x04, 1 << 24],
      [0x05, 1 << 22],
      [0x06, 1 << 22],
      [0x07, 1 << 22],
      [0x08, 100],
      [0x09, 100],
    ] as const;
    const kept = usual.filter(([id]) => !given.some((each) => each[0] === id)).map(([id, value]) => parameter(id, value));
    return Buffer.concat([...(this.#options.withoutSource ? [] : [parameter(0x0f, this.source)]), ...kept, ...given]);
  }

  /** Opens a socket and sends the hello. */
  static async open(port: number, options: QuicClientOptions = {}): Promise<QuicClient> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const client = new QuicClient(socket, port, options);
    client.#tls.receive(Buffer.alloc(0));
    client.#flush();
    return client;
  }

  /** Opens a connection whose handshake is over. */
  static async connect(port: number, options: QuicClientOptions = {}): Promise<QuicClient> {
    const client = await QuicClient.open(port, options);
    await client.until(() => client.confirmed || client.closed !== undefined);
    return client;
  }

  /** A session for another connection; 0 while there is none that lets it send early data. */
  get session(): number {
    return this.#tls.session;
  }

  /** Whether the server took early data. */
  get early(): boolean {
    return this.#tls.early;
  }

  /** Waits for something that a datagram brings. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  // ---------------------------------------------------------------- sending

  /** Sends what the handshake has to say, and acknowledgements. */
  #flush(): void {
    const packets: Buffer[] = [];
    for (const index of [INITIAL, HANDSHAKE, APPLICATION]) {
      const level = this.levels[index]!;
      if (level.write === undefined) {
        continue;
      }
      const frames: Buffer[] = [];
      if (level.eliciting && this.acknowledges) {
        frames.push(this.#ack(level));
        level.eliciting = false;
      }
      const pieces = this.#messages[index]!.splice(0);
      for (const piece of pieces.length === 0 ? [] : [Buffer.concat(pieces)]) {
        for (let at = 0; at < piece.length; at += 1000) {
          const part = piece.subarray(at, at + 1000);
          frames.push(frame(6, level.sentCrypto, part.length, part));
          level.sentCrypto += part.length;
          if (at + 1000 < piece.length) {
            this.sendPackets([this.packet(index, Buffer.concat(frames.splice(0)))]);
          }
        }
      }
      if (frames.length > 0) {
        packets.push(this.packet(index, Buffer.concat(frames)));
      }
    }
    if (packets.length > 0) {
      this.sendPackets(packets);
    }
  }

  #ack(level: Level): Buffer {
    const all = [...new Set(level.came)].sort((a, b) => b - a);
    const ranges: [number, number][] = [];
    for (const number of all) {
      const last = ranges.at(-1);
      if (last !== undefined && last[0] === number + 1) {
        last[0] = number;
      } else {
        ranges.push([number, number]);
      }
    }
    const [first, ...rest] = ranges.slice(0, 20);
    let low = first![0];
    const parts = rest.map(([from, to]) => {
      const part = frame(low - to - 2, to - from);
      low = from;
      return part;
    });
    const ecn = this.tellsMarks;
    const congested = level === this.levels[APPLICATION] ? this.congested : 0;
    const marks = ecn ? frame(level.came.length - congested, 0, congested) : Buffer.alloc(0);
    return Buffer.concat([frame(ecn ? 3 : 2, first![1], 0, rest.length, first![1] - first![0]), ...parts, marks]);
  }

  /** A packet of a level with these frames. `reserved`: bits of the first byte that must not be set. `exact`: nothing pads it. */
  packet(
    index: number,
    frames: Buffer,
    options: { reserved?: number; type?: number; number?: number; keys?: PacketKeys; exact?: boolean } = {},
  ): Buffer {
    const level = this.levels[index]!;
    const number = options.number ?? level.number++;
    const keys = options.keys ?? level.write!;
    const { bytes } = region!;
    let at = 0;
    const reserved = options.reserved ?? 0;
    const padded = frames.length < 4 && options.exact !== true ? Buffer.concat([frames, Buffer.alloc(4 - frames.length)]) : frames;
    const early = index === APPLICATION && keys === this.#early;
    if (index === APPLICATION && options.type === undefined && !early) {
      bytes[at++] = 0x43 | (this.#keyPhase << 2) | reserved;
      at += this.peer.copy(bytes, at);
    } else {
      const type = options.type ?? (early ? Type.EARLY : TYPES[index as 0 | 1]!);
      bytes[at++] = 0xc3 | (this.version.bits[type]! << 4) | reserved;
      at = bytes.writeUInt32BE(this.version.number, at);
      bytes[at++] = this.peer.length;
      at += this.peer.copy(bytes, at);
      bytes[at++] = this.source.length;
      at += this.source.copy(bytes, at);
      if (type === Type.INITIAL) {
        const token = this.retried ?? this.#options.token ?? Buffer.alloc(0);
        at = putInt(bytes, at, token.length);
        at += token.copy(bytes, at);
      }
      const length = 4 + padded.length + 16;
      bytes[at++] = 0x40 | (length >> 8);
      bytes[at++] = length & 255;
    }
    const numberAt = at;
    at = bytes.writeUInt32BE(number, at);
    const textAt = at;
    at += padded.copy(bytes, at);
    keys.seal(number, region!, 0, textAt, at);
    const mask = keys.mask(region!, numberAt + 4);
    bytes[0]! ^= mask[0]! & ((bytes[0]! & 0x80) !== 0 ? 0x0f : 0x1f);
    for (let i = 0; i < 4; i++) {
      bytes[numberAt + i]! ^= mask[1 + i]!;
    }
    return Buffer.from(bytes.subarray(0, at + 16));
  }

  /** Sends packets in one datagram; one with an Initial packet is padded behind it. */
  sendPackets(packets: readonly Buffer[]): void {
    const all = Buffer.concat(packets);
    const initial = packets.some((each) => (each[0]! & 0x80) !== 0 && this.version.types[(each[0]! >> 4) & 3] === Type.INITIAL);
    this.sendRaw(initial && all.length < 1200 ? Buffer.concat([all, Buffer.alloc(1200 - all.length)]) : all);
  }

  sendRaw(bytes: Buffer, socket = this.socket): void {
    socket.send(bytes, this.port, '127.0.0.1');
  }

  /** Sends a packet of a level with these frames. */
  send(index: number, ...frames: readonly Buffer[]): void {
    this.sendPackets([this.packet(index, Buffer.concat(frames))]);
  }

  /** Sends a request of HTTP/0.9 on a stream. */
  get(stream: number, path: string): void {
    const text = `GET ${path}\r\n`;
    this.send(APPLICATION, frame(0x0b, stream, text.length, text));
  }

  /** Changes keys. */
  updateKeys(): void {
    const level = this.levels[APPLICATION]!;
    level.write = level.write!.next();
    level.read = this.#nextRead ?? level.read;
    this.#nextRead = level.read!.next();
    this.#keyPhase ^= 1;
  }

  /** Marks what is sent from now on as of the other keys, and keeps the keys. */
  flipPhase(): void {
    this.#keyPhase ^= 1;
  }

  // ---------------------------------------------------------------- receiving

  #datagram(bytes: Buffer): void {
    this.datagrams++;
    this.bytes += bytes.length;
    let from = 0;
    while (from < bytes.length) {
      from = this.#packet(bytes, from);
    }
    this.#flush();
    for (const resolve of this.#waiting.splice(0)) {
      resolve();
    }
  }

  #packet(bytes: Buffer, from: number): number {
    const header = new LongHeader();
    let index: number = APPLICATION;
    let numberAt = from + 1 + this.source.length;
    let end = bytes.length;
    if ((bytes[from]! & 0x80) !== 0) {
      header.read(bytes, from, bytes.length);
      if (header.versionNumber === 0) {
        const at = header.sourceAt + header.sourceLength;
        this.versions = Array.from({ length: Math.floor((bytes.length - at) / 4) }, (_, i) => bytes.readUInt32BE(at + i * 4));
        return bytes.length;
      }
      if (header.type === Type.RETRY) {
        const at = header.sourceAt + header.sourceLength;
        this.retried = Buffer.from(bytes.subarray(at, bytes.length - 16));
        this.peer = Buffer.from(bytes.subarray(header.sourceAt, at));
        this.#initial();
        const level = this.levels[INITIAL]!;
        level.sentCrypto = 0;
        this.#messages[INITIAL]!.push(this.#hello!);
        return bytes.length;
      }
      index = header.type === Type.INITIAL ? INITIAL : HANDSHAKE;
      ({ numberAt, end } = header);
      this.peer = Buffer.from(bytes.subarray(header.sourceAt, header.sourceAt + header.sourceLength));
    }
    const level = this.levels[index]!;
    const read = level.read;
    if (read === undefined || end - numberAt < 20) {
      this.unknown.push(Buffer.from(bytes.subarray(from)));
      return end;
    }
    const memory = region!.bytes;
    bytes.copy(memory, 0, from, end);
    const at = numberAt - from;
    const mask = read.mask(region!, at + 4);
    memory[0]! ^= mask[0]! & (index === APPLICATION ? 0x1f : 0x0f);
    const length = (memory[0]! & 3) + 1;
    let number = 0;
    for (let i = 0; i < length; i++) {
      memory[at + i]! ^= mask[1 + i]!;
      number = number * 256 + memory[at + i]!;
    }
    const window = 256 ** length;
    const expected = level.largest + 1;
    number += expected - (expected % window);
    number += number <= expected - window / 2 ? window : number > expected + window / 2 && number >= window ? -window : 0;
    const phase = index === APPLICATION ? (memory[0]! >> 2) & 1 : 0;
    const keys = index === APPLICATION && phase === this.#keyPhase && this.#nextRead !== undefined ? this.#nextRead : read;
    const textEnd = end - from - 16;
    if (!keys.open(number, region!, 0, at + length, textEnd)) {
      this.unknown.push(Buffer.from(bytes.subarray(from)));
      return end;
    }
    level.largest = Math.max(level.largest, number);
    level.came.push(number);
    this.#frames(index, Buffer.from(memory.subarray(at + length, textEnd)));
    return end;
  }

  #stream(id: number): ClientStream {
    let stream = this.streams.get(id);
    if (stream === undefined) {
      stream = { text: '', end: false, reset: -1, size: -1, came: new Ranges() };
      this.streams.set(id, stream);
    }
    return stream;
  }

  #frames(index: number, bytes: Buffer): void {
    const level = this.levels[index]!;
    const cursor = new PacketCursor();
    cursor.set(bytes, 0, bytes.length);
    while (cursor.left > 0) {
      const type = cursor.int();
      if (type === 0) {
        continue;
      }
      this.frames.push({ level: index, type });
      level.eliciting ||= type !== 2 && type !== 3 && type !== 0x1c && type !== 0x1d;
      if (type >= 8 && type <= 15) {
        const id = cursor.int();
        const offset = (type & 4) !== 0 ? cursor.int() : 0;
        const data = cursor.take((type & 2) !== 0 ? cursor.int() : cursor.left);
        const stream = this.#stream(id);
        stream.text = stream.text.slice(0, offset).padEnd(offset, '\0') + data.toString('latin1') + stream.text.slice(offset + data.length);
        stream.came.add(offset, offset + data.length);
        if ((type & 1) !== 0) {
          stream.size = offset + data.length;
        }
        stream.end = stream.size >= 0 && stream.came.front >= stream.size;
        continue;
      }
      switch (type) {
        case 2:
        case 3: {
          level.acknowledged = Math.max(level.acknowledged, cursor.int());
          cursor.int();
          const count = cursor.int();
          for (let i = 0; i < 1 + 2 * count; i++) {
            cursor.int();
          }
          if (type === 3) {
            this.marks = cursor.int() + cursor.int() + cursor.int();
          }
          break;
        }
        case 4: {
          const id = cursor.int();
          this.#stream(id).reset = cursor.int();
          cursor.int();
          break;
        }
        case 5:
        case 0x11:
          cursor.int();
          cursor.int();
          break;
        case 6: {
          const offset = cursor.int();
          level.crypto.put(offset, Buffer.from(cursor.take(cursor.int())));
          for (let ready = level.crypto.ready(); ready !== undefined; ready = level.crypto.ready()) {
            if (index !== APPLICATION || this.#options.session !== undefined) {
              this.#tls.receive(ready);
            }
          }
          break;
        }
        case 7:
          this.token = Buffer.from(cursor.take(cursor.int()));
          break;
        case 0x10:
        case 0x12:
        case 0x13:
        case 0x14:
        case 0x16:
        case 0x17:
          cursor.int();
          break;
        case 0x18: {
          const sequence = cursor.int();
          cursor.int();
          const id = Buffer.from(cursor.take(cursor.byte()));
          this.newIds.push({ sequence, id, token: Buffer.from(cursor.take(16)) });
          break;
        }
        case 0x19:
          this.retired.push(cursor.int());
          break;
        case 0x1a:
          this.challenges.push(Buffer.from(cursor.take(8)));
          if (this.answers) {
            this.send(APPLICATION, frame(0x1b, this.challenges.at(-1)!));
          }
          break;
        case 0x1b:
          this.responses.push(Buffer.from(cursor.take(8)));
          break;
        case 0x1c:
        case 0x1d: {
          const code = cursor.int();
          if (type === 0x1c) {
            cursor.int();
          }
          this.closed ??= { application: type === 0x1d, code, reason: cursor.take(cursor.int()).toString('latin1') };
          break;
        }
        case 0x1e:
          this.confirmed = true;
          break;
      }
    }
  }

  close(): void {
    this.#tls.free();
    this.socket.close();
  }

  /**
   * Says goodbye with a frame, which a socket that is closed at once would not send, and gives back the memory of its keys, too. For who
   * has very many clients.
   */
  async leave(farewell: Buffer): Promise<void> {
    if (this.levels[APPLICATION]!.write !== undefined) {
      const packet = this.packet(APPLICATION, farewell);
      await new Promise<void>((done) => this.socket.send(packet, this.port, '127.0.0.1', () => done()));
    }
    this.close();
    for (const level of this.levels) {
      level.read?.free();
      level.write?.free();
      level.read = level.write = undefined;
    }
  }
}
