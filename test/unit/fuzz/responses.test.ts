import t from 'tap';
import { CGI_AGAIN, CGI_INVALID, CgiHeadReader } from '../../../src/worker/cgi/cgi-head.js';
import { areQuiet } from '../../../src/worker/http/syntax/quiet-bytes.js';
import { BROKEN, CONTENT, NEED_MORE, RECORD_BEGIN, RecordReader } from '../../../src/worker/modules/fastcgi/records.js';
import { HEAD_AGAIN, HEAD_INTERIM, HEAD_INVALID, HEAD_NONE } from '../../../src/worker/upstream/response/head-codes.js';
import { HeaderKinds } from '../../../src/worker/upstream/response/header-kinds.js';
import { Http1Reader } from '../../../src/worker/upstream/response/http1-reader.js';
import { UpstreamHead } from '../../../src/worker/upstream/response/upstream-head.js';
import { readHostileCases } from '../../hostile/cases.js';
import { cut, eachByte, Mutations, trials } from './mutations.js';

const hostile = [...readHostileCases(new URL('../../hostile/', import.meta.url)).values()].flat();
const responses = hostile.flatMap(({ response }) =>
  response !== undefined && response.length > 0 && response.length < 400 ? [response.toString('latin1')] : [],
);
const kinds = new HeaderKinds([], [], []);
const silent = { log() {} };
const headText = (head: UpstreamHead): string => JSON.stringify([head.status, head.statusText, head.headers, head.contentLength]);

/** What a response is read as; whether the connection is kept depends on what came with its last byte, and is left out. */
function readResponse(pieces: readonly Buffer[]): string {
  const reader = new Http1Reader();
  let head = new UpstreamHead();
  let pending = Buffer.alloc(0);
  let events = '';
  let body: string | undefined;
  const sink = { add: (bytes: Buffer, start: number, end: number) => void (body += bytes.toString('latin1', start, end)) };
  for (const piece of pieces) {
    let bytes = piece;
    if (body === undefined) {
      const quiet = pending.length > 0 && areQuiet(reader.quiet, piece, 0, piece.length);
      pending = Buffer.concat([pending, piece]);
      if (quiet) {
        continue;
      }
      let code = HEAD_INTERIM;
      while (code === HEAD_INTERIM) {
        code = reader.parseHead(head, kinds, silent, pending, reader.next, pending.length);
        if (code === HEAD_INTERIM) {
          events += `hints ${headText(head)} `;
          head = new UpstreamHead();
        }
      }
      if (code === HEAD_AGAIN) {
        continue;
      }
      if (code === HEAD_INVALID || code === HEAD_NONE) {
        return `${events}code ${code}`;
      }
      events += headText(head);
      body = '';
      reader.expectBody(head, false, true, 100);
      bytes = pending.subarray(reader.next);
    }
    if (reader.complete) {
      break;
    }
    if (bytes.length > 0 && !reader.body(head, silent, sink, bytes, 0, bytes.length)) {
      return `${events} ${JSON.stringify(body)} broken`;
    }
  }
  return `${events} ${JSON.stringify(body)} ${reader.complete} ${head.trailers.join()}`;
}

function readCgiHead(pieces: readonly Buffer[]): string {
  const reader = new CgiHeadReader(true);
  const head = new UpstreamHead();
  let pending = Buffer.alloc(0);
  for (const piece of pieces) {
    const quiet = pending.length > 0 && areQuiet(reader.quiet, piece, 0, piece.length);
    pending = Buffer.concat([pending, piece]);
    if (quiet) {
      continue;
    }
    const code = reader.read(head, kinds, silent, pending, reader.next, pending.length);
    if (code !== CGI_AGAIN) {
      return code === CGI_INVALID ? 'invalid' : `${headText(head)} ${code}`;
    }
  }
  return 'more';
}

function readRecords(pieces: readonly Buffer[]): string {
  const reader = new RecordReader();
  let events = '';
  for (const bytes of pieces) {
    for (let at = 0; ; at = reader.next) {
      const code = reader.read(bytes, at, bytes.length);
      if (code === NEED_MORE) {
        break;
      }
      if (code === BROKEN) {
        return `${events}!${reader.reason}`;
      }
      if (code === RECORD_BEGIN) {
        events += `<${reader.type}:${reader.length}:`;
      } else if (code === CONTENT) {
        events += bytes.toString('latin1', reader.start, reader.end);
      } else {
        events += '>';
      }
    }
  }
  return events;
}

const mutations = new Mutations(12, [
  ...[
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    ' ',
    '\0',
    '\x01',
    '\x06',
    ':',
    'HTTP/1.1 103 x\r\n\r\n',
    'HTTP/1.1 200 OK\r\n',
    '5\r\nhello\r\n',
    '0\r\n\r\n',
  ],
  ...[
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Status: 200\r\n',
    'X: y\r\n',
    '\x01\x06\0\x01\0\x05\0\0hello',
    '\x01\x03\0\x01\0\x08\0\0',
  ],
]);

function checkMutations(what: string, texts: readonly string[], read: (pieces: readonly Buffer[]) => string): void {
  t.test(what, async (t) => {
    const check = (text: string, everywhere: boolean): void => {
      const bytes = Buffer.from(text, 'latin1');
      const whole = read([bytes]);
      const same = (pieces: readonly Buffer[], how: string): void => {
        const found = read(pieces);
        if (found !== whole) {
          t.equal(found, whole, `${JSON.stringify(text)} ${how}`);
        }
      };
      same(eachByte(bytes), 'byte by byte');
      for (const at of everywhere ? bytes.keys() : [mutations.below(bytes.length)]) {
        same(cut(bytes, at), `cut at ${at}`);
      }
    };
    for (const text of texts) {
      check(text, true);
    }
    for (let i = trials(3000); i > 0; i--) {
      check(mutations.mutated(texts), false);
    }
    t.pass();
  });
}

checkMutations('responses of HTTP backends', responses, readResponse);
checkMutations('heads of CGI responses', ['Status: 404 no\r\nX: y\r\n\r\nbody', ...responses], readCgiHead);
checkMutations(
  'FastCGI records',
  ['\x01\x06\0\x01\0\x05\x03\0hello\0\0\0\x01\x07\0\x01\0\x04\0\0oops\x01\x06\0\x01\0\0\0\0\x01\x03\0\x01\0\x08\0\x0012345678'],
  readRecords,
);
