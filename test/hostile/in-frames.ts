import { block, END_HEADERS, END_STREAM, type FieldText, frame, T } from '../support/http2-client.js';
import type { HostileCase } from './cases.js';
import type { CaseFrame, Http2Case } from './http2/cases.js';

/** Fields that are about a connection of HTTP/1, or about how a body ends there. */
const OF_HTTP1 = /^(connection|keep-alive|proxy-connection|transfer-encoding|upgrade|te|trailer|expect|host)$/;

/** A case of HTTP/1 in the frames of HTTP/2 and HTTP/3; undefined for one that only HTTP/1 can write. */
export function inFrames({ title, request, response, log, nginx }: HostileCase): Http2Case | undefined {
  const text = request.toString('latin1');
  const headEnd = text.indexOf('\r\n\r\n') + 4;
  const [line, ...lines] = text.slice(0, headEnd - 4).split('\r\n');
  const [, method, target] = /^([^ ]+) ([^ ]+) HTTP\/1\.1$/.exec(line!) ?? [];
  const fields = lines.map((each): FieldText | undefined => {
    const [, name, value] = /^([^:\s][^:]*): *(.*?) *$/s.exec(each) ?? [];
    return name === undefined ? undefined : [name.toLowerCase(), value!];
  });
  const whole = fields.filter((field) => field !== undefined);
  const [host, ...more] = whole.filter(([name]) => name === 'host');
  const own = whole.filter(([name]) => name !== 'host');
  const length = own.filter(([name]) => name === 'content-length');
  const body = request.subarray(headEnd);
  if (
    headEnd === 3 ||
    method === undefined ||
    target === undefined ||
    whole.length < fields.length ||
    host === undefined ||
    more.length > 0 ||
    own.some(([name]) => OF_HTTP1.test(name)) ||
    length.length > 1 ||
    Number(length[0]?.[1] ?? 0) !== body.length
  ) {
    return undefined;
  }
  const head: FieldText[] = [[':method', method], [':scheme', 'http'], [':path', target], [':authority', host[1]], ...own];
  const end = body.length === 0;
  const parts: CaseFrame[] = [{ type: 'HEADERS', stream: 1, flags: end ? ['END_STREAM'] : [], fields: head, data: Buffer.alloc(0) }];
  const frames = [frame(T.HEADERS, END_HEADERS | (end ? END_STREAM : 0), 1, block(head))];
  if (!end) {
    parts.push({ type: 'DATA', stream: 1, flags: ['END_STREAM'], fields: [], data: body });
    frames.push(frame(T.DATA, END_STREAM, 1, body));
  }
  return { title, parts, frames: Buffer.concat(frames), streams: [1], response, log: log.map(lowered), nginx };
}

/** A line of a case with the names of its fields as HTTP/2 writes them, and the one stream's number. */
function lowered(line: string): string {
  if (/^[>!] /.test(line)) {
    return line.replace(/(?<=\\r\\n)[^:\\]+(?=: )/g, (name) => name.toLowerCase());
  }
  return `1: ${line.replace(/(?<= ")[^":]+(?=: )/g, (name) => name.toLowerCase())}`;
}
