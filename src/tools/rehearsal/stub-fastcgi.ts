import { fieldValue } from './field-values.js';
import type { StubChannel, StubReader } from './stub-channel.js';
import { cgiAnswer } from './stub-others.js';

const HEAD = 8;
const PARAMS = 4;
const STDIN = 5;
const STDOUT = 6;
const END_REQUEST = 3;
const PIECE = 65528;

/** Reads FastCGI requests, one after the other, and answers them. */
export function fastcgiStub(channel: StubChannel): StubReader {
  let held: Buffer = Buffer.alloc(0);
  let params: Buffer[] = [];
  let body: Buffer[] = [];
  return {
    written(bytes) {
      held = Buffer.concat([held, bytes]);
      while (held.length >= HEAD) {
        const length = held.readUInt16BE(4);
        const whole = HEAD + length + held[6]!;
        if (held.length < whole) {
          return;
        }
        const type = held[1];
        const id = held.readUInt16BE(2);
        const content = held.subarray(HEAD, HEAD + length);
        held = held.subarray(whole);
        if (type === PARAMS) {
          params.push(content);
        } else if (type === STDIN && length > 0) {
          body.push(content);
        } else if (type === STDIN) {
          const headers = pairs(Buffer.concat(params));
          const answer = channel.answer({
            protocol: 'fastcgi',
            method: fieldValue(headers, 'REQUEST_METHOD'),
            uri: fieldValue(headers, 'REQUEST_URI') || fieldValue(headers, 'SCRIPT_NAME'),
            headers,
            body: Buffer.concat(body),
          });
          params = [];
          body = [];
          if (answer !== undefined) {
            channel.send(Buffer.concat([...records(id, cgiAnswer(answer)), record(END_REQUEST, id, Buffer.alloc(8))]));
            channel.end();
          }
        }
      }
    },
  };
}

function records(id: number, text: Buffer): Buffer[] {
  const all: Buffer[] = [];
  for (let at = 0; at < text.length; at += PIECE) {
    all.push(record(STDOUT, id, text.subarray(at, at + PIECE)));
  }
  return [...all, record(STDOUT, id, Buffer.alloc(0))];
}

function record(type: number, id: number, content: Buffer): Buffer {
  const head = Buffer.from([1, type, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(id, 2);
  head.writeUInt16BE(content.length, 4);
  return Buffer.concat([head, content]);
}

function pairs(bytes: Buffer): [string, string][] {
  const all: [string, string][] = [];
  let at = 0;
  const size = (): number => {
    const first = bytes[at] ?? 0;
    if (first < 128) {
      at++;
      return first;
    }
    at += 4;
    return bytes.length < at ? 0 : bytes.readUInt32BE(at - 4) & 0x7fffffff;
  };
  while (at < bytes.length) {
    const name = size();
    const value = size();
    all.push([bytes.toString('latin1', at, at + name), bytes.toString('latin1', at + name, at + name + value)]);
    at += name + value;
  }
  return all;
}
