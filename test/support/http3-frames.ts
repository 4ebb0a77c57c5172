import type { Field } from '../../src/worker/http/fields/field.js';
import { CAME, Http3FrameReader } from '../../src/worker/http/http3-frames/frame-reader.js';
import { FRAME } from '../../src/worker/http/http3-frames/protocol.js';
import { qpackName } from '../../src/worker/http/http3-frames/qpack/name-code.js';
import { SECTION, SectionDecoder } from '../../src/worker/http/http3-frames/qpack/section-decoder.js';
import { QpackSectionWriter } from '../../src/worker/http/http3-frames/qpack/section-writer.js';
import { QpackTable } from '../../src/worker/http/http3-frames/qpack/table.js';
import { putVarint, varintLength } from '../../src/worker/http/http3-frames/varint.js';

/** A frame that the server has sent. */
export interface SeenFrame {
  readonly type: number;
  /** Of HEADERS. */
  readonly fields: readonly string[];
  readonly payload: Buffer;
}

/** A frame. */
export function frame(type: number, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload as string, 'latin1');
  const head = Buffer.alloc(varintLength(type) + varintLength(bytes.length));
  putVarint(head, putVarint(head, 0, type), bytes.length);
  return Buffer.concat([head, bytes]);
}

/** A HEADERS frame of `name: value` lines. */
export function headers(...lines: readonly string[]): Buffer {
  const writer = new QpackSectionWriter();
  writer.begin();
  for (const line of lines) {
    const colon = line.indexOf(': ', 1);
    writer.field(rawName(line.slice(0, colon)), line.slice(colon + 2));
  }
  return writer.end();
}

/** A name as it is, capitals too. */
const rawName = (text: string) => ({ ...qpackName(text), text, exact: undefined, line: null, value: undefined, secret: true });

/** The frames of what the server has written; the last one is left out where its fields have not come to their end. */
export function framesOf(bytes: Buffer): SeenFrame[] {
  const reader = new Http3FrameReader();
  const frames: { type: number; fields: string[]; payload: Buffer }[] = [];
  for (let at = 0; at < bytes.length; at = reader.next) {
    const came = reader.read(bytes, at, bytes.length);
    if (came === CAME.HEAD) {
      frames.push({ type: reader.type, fields: [], payload: Buffer.alloc(0) });
    } else if (came === CAME.PAYLOAD) {
      frames.at(-1)!.payload = bytes.subarray(reader.start, reader.end);
    }
  }
  const cut = frames.at(-1)?.type === FRAME.HEADERS && frames.at(-1)!.payload.length < reader.length;
  const whole = cut ? frames.slice(0, -1) : frames;
  for (const one of whole) {
    if (one.type === FRAME.HEADERS) {
      one.fields = fieldsOf(one.payload);
    }
  }
  return whole;
}

function fieldsOf(section: Buffer): string[] {
  const decoder = new SectionDecoder();
  const fields: string[] = [];
  const begun = decoder.begin(new QpackTable(0), section, 0, section.length);
  const code =
    begun === SECTION.DECODED
      ? decoder.decode(
          section.length,
          { field: 1e9, total: 1e9 },
          { field: ({ name, value }: Field) => void fields.push(`${name.text}: ${value}`) },
        )
      : begun;
  if (code !== SECTION.DECODED) {
    throw new Error(`a section of the server cannot be decoded: ${decoder.problem}`);
  }
  return fields;
}
