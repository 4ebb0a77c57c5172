// A lean client of HTTP/3 for load. It repeats nothing that is lost, since nothing is between two cores of one machine; a connection on
// which nothing moves is given up and counted.
import { randomBytes } from 'node:crypto';

const [INITIAL, HANDSHAKE, APPLICATION] = [0, 1, 2];
const LEVELS = { 0: INITIAL, 2: HANDSHAKE, 3: APPLICATION };
const ID = 8;
/** What the client takes: as long as a usual link carries, and as much at once as keeps a server busy. */
const PAYLOAD = 1472;
const WINDOW = 1024 * 1024;
/** Bytes of frames in one packet. */
const ROOM = 1150;
const ACK_EVERY = 2;
const STALLED_MS = 1000;
const PATIENCE_MS = 5000;

/** What the client uses of the sources, for `bundleSources`. */
export const SOURCES = `export { DatagramHandle } from './shared/net/datagram-handle.js';
export { makeRing } from './shared/net/engine/choose.js';
export { ipAddress } from './shared/net/socket-addresses.js';
export { setNumber } from './shared/net/socket-option.js';
export { qpackName } from './worker/http/http3-frames/qpack/name-code.js';
export { QpackSectionWriter } from './worker/http/http3-frames/qpack/section-writer.js';
export { HandleUdpSocket } from './worker/net/handle-udp-socket.js';
export { PacketKeys, suiteOf } from './worker/net/openssl/packet-keys.js';
export { quicCalls } from './worker/net/openssl/quic-library.js';
export { LongHeader } from './worker/net/quic/long-header.js';
export { Ranges } from './worker/net/quic/ranges.js';
export { ReceiveBuffer } from './worker/net/quic/receive-buffer.js';
export { PacketCursor, putInt } from './worker/net/quic/varint.js';
export { initialKeys, Type, VERSION_1 } from './worker/net/quic/version.js';
export { setUdpOptions } from './worker/net/udp-options.js';
export { UringUdpSocket } from './worker/net/uring/uring-udp-socket.js';
export { QuicTlsClient } from '../test/support/quic-tls-client.js';
`;

/**
 * A client on a socket. `sources`: what {@link SOURCES} names. `options`: `path`, `headers`, `streams` at a time on each connection, and
 * with `each` one request a connection. Returns what takes datagrams, and what opens connections.
 */
export function makeClient(sources, socket, options) {
  const { PacketKeys, suiteOf, QuicTlsClient, ReceiveBuffer, Ranges, PacketCursor, putInt, LongHeader } = sources;
  const { initialKeys, Type, VERSION_1, QpackSectionWriter, qpackName, ipAddress } = sources;
  const { input, output } = socket;
  const server = Buffer.alloc(28);
  ipAddress('127.0.0.1', options.port).bytes.copy(server);
  const connections = new Map();
  const dirty = [];
  const header = new LongHeader();
  const cursor = new PacketCursor();
  const request = headOf(options.path);
  const times = [];
  const found = { requests: 0, bytes: 0, refused: 0, broken: 0, connections: 0 };
  let stopped = false;

  /** A request's HEADERS frame. */
  function headOf(path) {
    const writer = new QpackSectionWriter();
    writer.begin();
    const fields = { ':method': 'GET', ':scheme': 'https', ':path': path, ':authority': 'localhost', 'user-agent': 'sluice-bench' };
    for (const [name, value] of Object.entries({ ...fields, ...options.headers })) {
      writer.field(qpackName(name), value);
    }
    return writer.end();
  }

  function level() {
    const crypto = new ReceiveBuffer();
    /** @type {any} */
    const fresh = {
      read: undefined,
      write: undefined,
      number: 0,
      largest: -1,
      came: new Ranges(),
      unacked: 0,
      sentCrypto: 0,
      crypto,
      messages: [],
    };
    return fresh;
  }

  class Connection {
    /** When it was begun. */
    startedAt = 0;
    /** Called when the handshake is over, and when the connection is. @type {((value?: any) => void) | undefined} */
    settled;
    /** @type {(() => void) | undefined} */
    ended;

    constructor() {
      this.source = randomBytes(ID);
      this.peer = randomBytes(ID);
      this.levels = [level(), level(), level()];
      this.streams = new Map();
      this.nextId = 0;
      this.most = 0;
      this.confirmed = false;
      this.begun = false;
      this.isDirty = false;
      this.done = false;
      this.used = 0;
      this.windowEnd = WINDOW;
      this.closeAfterwards = false;
      this.movedAt = performance.now();
      this.key = this.source.latin1Slice(0, ID);
      connections.set(this.key, this);
      const keys = initialKeys(VERSION_1, this.peer);
      this.levels[INITIAL].read = keys.server(false);
      this.levels[INITIAL].write = keys.client(true);
      this.tls = new QuicTlsClient(this, 'h3', 'localhost', this.parameters());
      this.tls.receive(Buffer.alloc(0));
      this.touch();
    }

    parameters() {
      const into = Buffer.alloc(256);
      let at = 0;
      const numbers = [
        // Many connections take long to open.
        [0x01, options.hold ? 600_000 : 60_000],
        [0x03, PAYLOAD],
        [0x04, WINDOW],
        [0x05, WINDOW],
        [0x06, WINDOW],
        [0x07, WINDOW],
        [0x08, 0],
        [0x09, 16],
      ];
      for (const [id, value] of numbers) {
        const start = putInt(into, at, id) + 1;
        at = putInt(into, start, value);
        into[start - 1] = at - start;
      }
      at = putInt(into, at, 0x0f);
      into[at++] = ID;
      at += this.source.copy(into, at);
      return into.subarray(0, at);
    }

    // ------------------------------------------------------- what TLS says

    secret(at, sends, suite, secret) {
      this.levels[LEVELS[at] ?? APPLICATION][sends ? 'write' : 'read'] = new PacketKeys(suiteOf(suite), secret, sends, 'quic');
    }

    message(at, bytes) {
      this.levels[LEVELS[at]].messages.push(Buffer.from(bytes));
    }

    peerParameters(bytes) {
      cursor.set(Buffer.from(bytes), 0, bytes.length);
      while (cursor.left > 0) {
        const id = cursor.int();
        const end = cursor.int() + cursor.at;
        if (id === 0x08) {
          this.most = cursor.int();
        }
        cursor.at = end;
      }
    }

    // ------------------------------------------------------- what leaves

    touch() {
      if (!this.isDirty) {
        this.isDirty = true;
        dirty.push(this);
        socket.ask();
      }
    }

    flush() {
      this.isDirty = false;
      if (this.done) {
        return;
      }
      this.flushHandshake();
      const app = this.levels[APPLICATION];
      if (app.write === undefined || !this.confirmed) {
        return;
      }
      let at = this.begin(APPLICATION, 0);
      const empty = at;
      if (app.unacked >= ACK_EVERY || (app.unacked > 0 && (this.begun ? this.wants() : true))) {
        at = this.ack(app, at);
      }
      if (!this.begun) {
        this.begun = true;
        // The control stream, with empty settings.
        at = this.stream(at, 2, Buffer.from([0, 4, 0]), false);
      }
      if (this.windowEnd - this.used < WINDOW / 2) {
        this.windowEnd = this.used + WINDOW;
        output.bytes[at++] = 0x10;
        at = putInt(output.bytes, at, this.windowEnd);
      }
      for (const [id, stream] of this.streams) {
        if (stream.windowEnd - stream.got < WINDOW / 2) {
          stream.windowEnd = stream.got + WINDOW;
          output.bytes[at++] = 0x11;
          at = putInt(output.bytes, putInt(output.bytes, at, id), stream.windowEnd);
        }
      }
      while (this.wants()) {
        if (at > ROOM - request.length) {
          this.finish(APPLICATION, 0, at);
          at = this.begin(APPLICATION, 0);
        }
        const id = this.nextId;
        this.nextId += 4;
        this.streams.set(id, { got: 0, end: -1, since: performance.now(), windowEnd: WINDOW, ok: true });
        at = this.stream(at, id, request, true);
      }
      if (this.closeAfterwards && this.streams.size === 0) {
        output.bytes[at++] = 0x1d;
        at = putInt(output.bytes, at, 0x100);
        at = putInt(output.bytes, at, 0);
        this.end();
      }
      if (at > empty || at > this.textAt) {
        this.finish(APPLICATION, 0, at);
      }
      if (this.done) {
        this.free();
      }
    }

    /** Another request can leave. */
    wants() {
      return !stopped && !this.closeAfterwards && this.streams.size < options.streams && this.nextId / 4 < this.most;
    }

    stream(at, id, bytes, fin) {
      const into = output.bytes;
      into[at++] = fin ? 0x0b : 0x0a;
      at = putInt(into, at, id);
      at = putInt(into, at, bytes.length);
      return at + bytes.copy(into, at);
    }

    flushHandshake() {
      let from = 0;
      for (const index of [INITIAL, HANDSHAKE]) {
        const space = this.levels[index];
        const pieces = Buffer.concat(space.messages.splice(0));
        if (space.write === undefined || (pieces.length === 0 && space.unacked === 0)) {
          continue;
        }
        let sent = 0;
        do {
          let at = this.begin(index, from);
          if (space.unacked > 0) {
            at = this.ack(space, at);
          }
          const part = pieces.subarray(sent, sent + 1000);
          if (part.length > 0) {
            const into = output.bytes;
            into[at++] = 6;
            at = putInt(into, putInt(into, at, space.sentCrypto), part.length);
            at += part.copy(into, at);
            space.sentCrypto += part.length;
            sent += part.length;
          }
          if (index === INITIAL) {
            output.bytes.fill(0, at, Math.max(at, from + 1200 - 16));
            at = Math.max(at, from + 1200 - 16);
          }
          this.finish(index, from, at);
        } while (sent < pieces.length);
        from = 0;
      }
    }

    /** Writes a header; returns where frames begin. */
    begin(index, from) {
      const into = output.bytes;
      let at = from;
      if (index === APPLICATION) {
        into[at++] = 0x43;
        at += this.peer.copy(into, at);
      } else {
        into[at++] = 0xc3 | (VERSION_1.bits[index === INITIAL ? Type.INITIAL : Type.HANDSHAKE] << 4);
        at = into.writeUInt32BE(VERSION_1.number, at);
        into[at++] = this.peer.length;
        at += this.peer.copy(into, at);
        into[at++] = ID;
        at += this.source.copy(into, at);
        if (index === INITIAL) {
          into[at++] = 0;
        }
        this.lengthAt = at;
        at += 2;
      }
      this.numberAt = at;
      this.textAt = into.writeUInt32BE(this.levels[index].number, at);
      return this.textAt;
    }

    finish(index, from, end) {
      const space = this.levels[index];
      const into = output.bytes;
      while (end < this.textAt + 4) {
        into[end++] = 0;
      }
      if (index !== APPLICATION) {
        const length = 4 + (end - this.textAt) + 16;
        into[this.lengthAt] = 0x40 | (length >> 8);
        into[this.lengthAt + 1] = length & 255;
      }
      space.write.seal(space.number++, output, from, this.textAt, end);
      const mask = space.write.mask(output, this.numberAt + 4);
      into[from] ^= mask[0] & (index === APPLICATION ? 0x1f : 0x0f);
      for (let i = 0; i < 4; i++) {
        into[this.numberAt + i] ^= mask[1 + i];
      }
      const length = end + 16 - from;
      socket.send(server, undefined, from, length, length);
    }

    ack(space, at) {
      const into = output.bytes;
      const { list } = space.came;
      let i = list.length - 2;
      let low = list[i];
      into[at++] = 2;
      at = putInt(into, at, list[i + 1] - 1);
      into[at++] = 0;
      const count = Math.min(i >> 1, 20);
      at = putInt(into, at, count);
      at = putInt(into, at, list[i + 1] - 1 - low);
      for (let left = count; left > 0; left--) {
        i -= 2;
        at = putInt(into, at, low - list[i + 1] - 1);
        at = putInt(into, at, list[i + 1] - 1 - list[i]);
        low = list[i];
      }
      space.unacked = 0;
      return at;
    }

    // ------------------------------------------------------- what comes

    packet(from, end, index, numberAt) {
      const space = this.levels[index];
      const { bytes } = input;
      if (space.read === undefined || end - numberAt < 20) {
        return;
      }
      const mask = space.read.mask(input, numberAt + 4);
      bytes[from] ^= mask[0] & (index === APPLICATION ? 0x1f : 0x0f);
      const length = (bytes[from] & 3) + 1;
      let number = 0;
      for (let i = 0; i < length; i++) {
        bytes[numberAt + i] ^= mask[1 + i];
        number = number * 256 + bytes[numberAt + i];
      }
      const window = 256 ** length;
      const expected = space.largest + 1;
      number += expected - (expected % window);
      number += number <= expected - window / 2 ? window : number > expected + window / 2 && number >= window ? -window : 0;
      if (!space.read.open(number, input, from, numberAt + length, end - 16)) {
        return;
      }
      space.largest = Math.max(space.largest, number);
      space.came.add(number, number + 1);
      if (space.came.count > 32) {
        space.came.removeBelow(space.came.list[1]);
      }
      this.frames(index, space, numberAt + length, end - 16);
    }

    frames(index, space, from, end) {
      const { bytes } = input;
      cursor.set(bytes, from, end);
      let asks = false;
      while (cursor.left > 0 && !this.done) {
        const type = cursor.int();
        asks ||= type !== 0 && type !== 2 && type !== 3 && type < 0x1c;
        if (type >= 8 && type <= 15) {
          const id = cursor.int();
          const offset = (type & 4) !== 0 ? cursor.int() : 0;
          const size = (type & 2) !== 0 ? cursor.int() : cursor.left;
          const at = cursor.at;
          cursor.at += size;
          if ((id & 2) === 0) {
            this.answer(id, offset, at, size, (type & 1) !== 0);
          }
          continue;
        }
        switch (type) {
          case 0:
            while (cursor.at < end && bytes[cursor.at] === 0) {
              cursor.at++;
            }
            break;
          case 2:
          case 3: {
            cursor.int();
            cursor.int();
            let count = 1 + 2 * cursor.int() + (type === 3 ? 3 : 0);
            while (count-- > 0) {
              cursor.int();
            }
            break;
          }
          case 4:
            cursor.int();
            cursor.int();
            cursor.int();
            found.refused++;
            break;
          case 6: {
            const offset = cursor.int();
            const piece = Buffer.from(cursor.take(cursor.int()));
            if (index !== APPLICATION) {
              this.crypto(space, offset, piece, cursor.at, end);
              cursor.set(bytes, cursor.at, end);
            }
            break;
          }
          case 7:
            cursor.skip(cursor.int());
            break;
          case 0x12:
            this.most = Math.max(this.most, cursor.int());
            break;
          case 5:
          case 0x11:
          case 0x15:
            cursor.int();
            cursor.int();
            break;
          case 0x10:
          case 0x13:
          case 0x14:
          case 0x16:
          case 0x17:
          case 0x19:
            cursor.int();
            break;
          case 0x18:
            cursor.int();
            cursor.int();
            cursor.skip(cursor.byte());
            cursor.skip(16);
            break;
          case 0x1c:
          case 0x1d:
            if (this.streams.size > 0) {
              found.broken++;
            }
            this.end();
            this.free();
            break;
          case 0x1e:
            this.confirmed = true;
            found.connections++;
            this.settled?.();
            break;
        }
      }
      if (asks && !this.done) {
        space.unacked++;
        this.touch();
      }
    }

    crypto(space, offset, piece, at, end) {
      space.crypto.put(offset, piece);
      for (let ready = space.crypto.ready(); ready !== undefined; ready = space.crypto.ready()) {
        this.tls.receive(Buffer.from(ready));
      }
      cursor.set(input.bytes, at, end);
      this.touch();
    }

    answer(id, offset, at, size, fin) {
      const stream = this.streams.get(id);
      if (stream === undefined) {
        return;
      }
      if (offset === 0 && size > 5) {
        // HEADERS, a length, the section's prefix and status 200 of the static table.
        const { bytes } = input;
        const head = at + ((bytes[at + 1] & 0xc0) === 0 ? 2 : 3);
        stream.ok = bytes[at] === 1 && bytes[head + 2] === (options.status ?? 0xd9);
      }
      stream.got += size;
      this.used += size;
      found.bytes += size;
      this.movedAt = performance.now();
      if (fin) {
        stream.end = offset + size;
      }
      if (stream.end >= 0 && stream.got >= stream.end) {
        this.streams.delete(id);
        found.requests++;
        if (!stream.ok) {
          found.refused++;
        }
        times.push(this.movedAt - (options.each ? this.startedAt : stream.since));
        if (options.each) {
          this.closeAfterwards = true;
        }
        this.touch();
      }
    }

    end() {
      this.done = true;
      connections.delete(this.key);
    }

    free() {
      this.tls.free();
      for (const { read, write } of this.levels) {
        read?.free();
        write?.free();
      }
      this.ended?.();
    }
  }

  function datagrams(length, segment) {
    for (let from = 0; from < length; from += segment) {
      datagram(from, Math.min(length, from + segment));
    }
  }

  function datagram(from, end) {
    const { bytes } = input;
    while (from < end) {
      if ((bytes[from] & 0x80) === 0) {
        connections.get(bytes.latin1Slice(from + 1, from + 1 + ID))?.packet(from, end, APPLICATION, from + 1 + ID);
        return;
      }
      if (!header.read(bytes, from, end)) {
        return;
      }
      const { destinationAt, numberAt, type, sourceAt, sourceLength } = header;
      const next = header.end;
      const connection = connections.get(bytes.latin1Slice(destinationAt, destinationAt + ID));
      if (connection === undefined) {
        return;
      }
      if (type === Type.INITIAL || type === Type.HANDSHAKE) {
        connection.peer = Buffer.from(bytes.subarray(sourceAt, sourceAt + sourceLength));
        connection.packet(from, next, type === Type.INITIAL ? INITIAL : HANDSHAKE, numberAt);
      }
      from = next;
    }
  }

  function batchOver() {
    for (let i = 0; i < dirty.length; i++) {
      dirty[i].flush();
    }
    dirty.length = 0;
  }

  /** Opens a connection, and another one after it for as long as there is time. */
  function begin() {
    const connection = new Connection();
    connection.startedAt = performance.now();
    connection.ended = () => {
      if (!stopped) {
        begin();
      }
    };
  }

  /** Gives up what does not move. */
  function look() {
    const now = performance.now();
    for (const connection of connections.values()) {
      if (now - connection.movedAt > STALLED_MS) {
        found.broken++;
        connection.end();
        connection.free();
      }
    }
  }

  /** Begins no more requests. */
  function stop() {
    stopped = true;
  }

  /** Takes leave of the server. */
  function leave() {
    for (const connection of connections.values()) {
      connection.closeAfterwards = true;
      connection.streams.clear();
      connection.touch();
    }
  }

  /** Opens a connection on which nothing is asked; resolves when the handshake is over. One that lost a datagram is given up. */
  async function open() {
    for (;;) {
      const connection = new Connection();
      const over = await new Promise((done) => {
        const timer = setTimeout(done, PATIENCE_MS, false);
        connection.settled = () => {
          clearTimeout(timer);
          done(true);
        };
      });
      if (over) {
        // Nothing more is said by TLS, and there are many of these.
        connection.tls.free();
        return;
      }
      connection.end();
      connection.free();
    }
  }

  /** Latencies so far, in microseconds. */
  function latency(share) {
    times.sort((a, b) => a - b);
    return Math.round((times[Math.floor(times.length * share)] ?? 0) * 1000);
  }

  return { begin, open, look, stop, leave, latency, found, datagrams, batchOver };
}
