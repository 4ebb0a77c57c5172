import { HpackDecoder } from '../../worker/http/http2-frames/hpack/decoder.js';
import { DEFAULT_FRAME, FLAG, FRAME, FRAME_HEAD, PREFACE } from '../../worker/http/http2-frames/protocol.js';
import { fieldValue } from './field-values.js';
import type { StubChannel, StubReader } from './stub-channel.js';

interface Stream {
  readonly headers: [string, string][];
  readonly body: Buffer[];
}

const LIMITS = { field: 1 << 20, total: 1 << 22 };

/** Speaks as much HTTP/2 as a backend must: reads requests, of gRPC too, and answers each once it is complete. */
export function http2Stub(channel: StubChannel): StubReader {
  let held: Buffer = Buffer.alloc(0);
  let greeted = false;
  const decoder = new HpackDecoder();
  const streams = new Map<number, Stream>();
  let section: Buffer[] = [];
  const frame = (type: number, flags: number, id: number, flagsLength: number, bytes: Buffer): void => {
    if (type === FRAME.SETTINGS && (flags & FLAG.ACK) === 0) {
      channel.send(frameOf(FRAME.SETTINGS, FLAG.ACK, 0, Buffer.alloc(0)));
    } else if (type === FRAME.PING && (flags & FLAG.ACK) === 0) {
      channel.send(frameOf(FRAME.PING, FLAG.ACK, 0, bytes));
    } else if (type === FRAME.HEADERS || type === FRAME.CONTINUATION) {
      section.push(bytes.subarray(flagsLength));
      if (!streams.has(id)) {
        streams.set(id, { headers: [], body: [] });
      }
      if ((flags & FLAG.END_HEADERS) !== 0) {
        const block = Buffer.concat(section);
        section = [];
        const { headers } = streams.get(id)!;
        decoder.decode(block, 0, block.length, LIMITS, { field: ({ name, value }) => void headers.push([`${name.text}`, `${value}`]) });
      }
    } else if (type === FRAME.DATA) {
      streams.get(id)?.body.push(bytes);
      if (bytes.length > 0) {
        const room = Buffer.alloc(4);
        room.writeUInt32BE(bytes.length);
        channel.send(Buffer.concat([frameOf(FRAME.WINDOW_UPDATE, 0, 0, room), frameOf(FRAME.WINDOW_UPDATE, 0, id, room)]));
      }
    }
    const ends = (type === FRAME.HEADERS || type === FRAME.DATA) && (flags & FLAG.END_STREAM) !== 0;
    const stream = streams.get(id);
    if (ends && stream !== undefined) {
      streams.delete(id);
      answer(channel, id, stream);
    }
  };
  return {
    written(bytes) {
      held = Buffer.concat([held, bytes]);
      if (!greeted) {
        if (held.length < PREFACE.length) {
          return;
        }
        greeted = true;
        held = held.subarray(PREFACE.length);
        channel.send(frameOf(FRAME.SETTINGS, 0, 0, Buffer.alloc(0)));
      }
      while (held.length >= FRAME_HEAD) {
        const end = FRAME_HEAD + held.readUIntBE(0, 3);
        if (held.length < end) {
          return;
        }
        const [type, flags, id] = [held[3]!, held[4]!, held.readUInt32BE(5) & 0x7fffffff];
        const priority = type === FRAME.HEADERS && (flags & FLAG.PRIORITY) !== 0 ? 5 : 0;
        const content = held.subarray(FRAME_HEAD, end);
        held = held.subarray(end);
        frame(type, flags, id, priority, content);
      }
    },
  };
}

function answer(channel: StubChannel, id: number, { headers, body }: Stream): void {
  const given = channel.answer({
    protocol: 'http2',
    method: fieldValue(headers, ':method'),
    uri: fieldValue(headers, ':path'),
    headers: headers.filter(([name]) => !name.startsWith(':')),
    body: Buffer.concat(body),
  });
  if (given === undefined) {
    return;
  }
  const grpc = fieldValue(headers, 'content-type').startsWith('application/grpc');
  const fields: (readonly [string, string])[] = [[':status', `${given.status}`], ...given.headers];
  const trailers = grpc && given.headers.every(([name]) => name.toLowerCase() !== 'grpc-status') ? [['grpc-status', '0'] as const] : [];
  const empty = given.body.length === 0 && trailers.length === 0;
  const frames = [frameOf(FRAME.HEADERS, FLAG.END_HEADERS | (empty ? FLAG.END_STREAM : 0), id, block(fields))];
  for (let at = 0; at < given.body.length; at += DEFAULT_FRAME) {
    const last = at + DEFAULT_FRAME >= given.body.length && trailers.length === 0;
    frames.push(frameOf(FRAME.DATA, last ? FLAG.END_STREAM : 0, id, given.body.subarray(at, at + DEFAULT_FRAME)));
  }
  if (trailers.length > 0) {
    frames.push(frameOf(FRAME.HEADERS, FLAG.END_HEADERS | FLAG.END_STREAM, id, block(trailers)));
  }
  channel.send(Buffer.concat(frames));
}

function frameOf(type: number, flags: number, id: number, content: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(content.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, content]);
}

/** Header fields as literals that go into no table. */
function block(fields: readonly (readonly [string, string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name.toLowerCase()), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(n: number): Buffer {
  if (n < 127) {
    return Buffer.from([n]);
  }
  const bytes = [127];
  let rest = n - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) + 128);
  }
  return Buffer.from([...bytes, rest]);
}
