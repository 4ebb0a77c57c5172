import { fieldValue } from './field-values.js';
import type { CompleteAnswer, StubChannel, StubReader } from './stub-channel.js';

/** An answer in the form of CGI. `first`: the line that tells the status. */
export function cgiAnswer({ status, headers, body }: CompleteAnswer, first = `Status: ${status}`): Buffer {
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${first}\r\n${fields}\r\n`, 'latin1'), body]);
}

/** Gathers what is written until `read` has found a whole request. */
function gather(read: (bytes: Buffer) => boolean): StubReader {
  let held: Buffer = Buffer.alloc(0);
  let done = false;
  return {
    written(bytes) {
      held = Buffer.concat([held, bytes]);
      if (!done) {
        done = read(held);
      }
    },
  };
}

function respond(channel: StubChannel, protocol: 'scgi' | 'uwsgi', headers: readonly (readonly [string, string])[], body: Buffer): void {
  const answer = channel.answer({
    protocol,
    method: fieldValue(headers, 'REQUEST_METHOD'),
    uri: fieldValue(headers, 'REQUEST_URI') || fieldValue(headers, 'SCRIPT_NAME'),
    headers,
    body,
  });
  if (answer !== undefined) {
    channel.send(protocol === 'scgi' ? cgiAnswer(answer) : cgiAnswer(answer, `HTTP/1.1 ${answer.status} Stub`));
    channel.end();
  }
}

const lengthOf = (headers: readonly (readonly [string, string])[]): number =>
  Number(headers.find(([name]) => name === 'CONTENT_LENGTH')?.[1] ?? 0) || 0;

/** Reads a request of SCGI, and answers it. */
export const scgiStub = (channel: StubChannel): StubReader =>
  gather((bytes) => {
    const colon = bytes.indexOf(':');
    const start = colon + 1;
    const end = start + Number(bytes.toString('latin1', 0, colon));
    if (colon === -1 || bytes.length < end + 1) {
      return false;
    }
    const words = bytes.toString('latin1', start, end).split('\0');
    const headers: [string, string][] = [];
    for (let i = 0; i + 1 < words.length; i += 2) {
      headers.push([words[i]!, words[i + 1]!]);
    }
    const bodyEnd = end + 1 + lengthOf(headers);
    if (bytes.length < bodyEnd) {
      return false;
    }
    respond(channel, 'scgi', headers, bytes.subarray(end + 1, bodyEnd));
    return true;
  });

/** Reads a request of uwsgi, and answers it. */
export const uwsgiStub = (channel: StubChannel): StubReader =>
  gather((bytes) => {
    if (bytes.length < 4 || bytes.length < 4 + bytes.readUInt16LE(1)) {
      return false;
    }
    const end = 4 + bytes.readUInt16LE(1);
    const headers: [string, string][] = [];
    let at = 4;
    const word = (): string => {
      const length = at + 2 <= end ? bytes.readUInt16LE(at) : 0;
      at += 2 + length;
      return bytes.toString('latin1', at - length, Math.min(at, end));
    };
    while (at < end) {
      headers.push([word(), word()]);
    }
    const bodyEnd = end + lengthOf(headers);
    if (bytes.length < bodyEnd) {
      return false;
    }
    respond(channel, 'uwsgi', headers, bytes.subarray(end, bodyEnd));
    return true;
  });

/** Reads questions of memcached's text protocol: 200 stands for a value that is there. */
export const memcachedStub = (channel: StubChannel): StubReader => {
  let held = '';
  return {
    written(bytes) {
      held += bytes.toString('latin1');
      for (let end = held.indexOf('\r\n'); end !== -1; end = held.indexOf('\r\n')) {
        const [method = '', key = ''] = held.slice(0, end).split(' ');
        held = held.slice(end + 2);
        const answer = channel.answer({ protocol: 'memcached', method, uri: key, headers: [], body: Buffer.alloc(0) });
        if (answer !== undefined) {
          const found = answer.status === 200;
          channel.send(
            found
              ? Buffer.concat([Buffer.from(`VALUE ${key} 0 ${answer.body.length}\r\n`), answer.body, Buffer.from('\r\nEND\r\n')])
              : 'END\r\n',
          );
        }
      }
    },
  };
};
