// An unfinished line is not read again for quiet bytes: so none of them may end it or spoil it, and a long line must have them.
import t from 'tap';
import { CGI_AGAIN, CgiHeadReader } from '../../../src/worker/cgi/cgi-head.js';
import { HeaderLine, LINE_AGAIN } from '../../../src/worker/http/syntax/header-line.js';
import type { QuietBytes } from '../../../src/worker/http/syntax/quiet-bytes.js';
import { REQUEST_LINE_AGAIN, RequestLine } from '../../../src/worker/http/syntax/request-line.js';
import { HEAD_AGAIN } from '../../../src/worker/upstream/response/head-codes.js';
import { HeaderKinds } from '../../../src/worker/upstream/response/header-kinds.js';
import { Http1Reader } from '../../../src/worker/upstream/response/http1-reader.js';
import { UpstreamHead } from '../../../src/worker/upstream/response/upstream-head.js';

const kinds = new HeaderKinds([], [], []);
const silent = { log() {} };

/** The quiet bytes behind a text; undefined where the line is complete or broken. */
type Reader = (text: string) => QuietBytes | undefined;

const headerLine =
  (upstream: boolean): Reader =>
  (text) => {
    const line = new HeaderLine(false, upstream);
    line.begin(text, 0);
    return line.scan(Buffer.from(text, 'latin1'), 0, text.length) === LINE_AGAIN ? line.quiet : undefined;
  };
const requestLine: Reader = (text) => {
  const line = new RequestLine();
  return line.scan(Buffer.from(text, 'latin1'), 0, text.length) === REQUEST_LINE_AGAIN ? line.quiet : undefined;
};
const responseHead: Reader = (text) => {
  const reader = new Http1Reader();
  const code = reader.parseHead(new UpstreamHead(), kinds, silent, Buffer.from(text, 'latin1'), 0, text.length);
  return code === HEAD_AGAIN ? reader.quiet : undefined;
};
const cgiHead: Reader = (text) => {
  const reader = new CgiHeadReader(true);
  const code = reader.read(new UpstreamHead(), kinds, silent, Buffer.from(text, 'latin1'), 0, text.length);
  return code === CGI_AGAIN ? reader.quiet : undefined;
};

const long = 'a'.repeat(40);
const headerLines = [
  `${long}: b`,
  `A_:   ${long}   \r\r\r\r\r\r\r\r\n`,
  `A${long}\r\n`,
  `HTTP/1.1 ${long}\n`,
  `HTTP: ${long}`,
  '\r\n',
  'Na/me: /',
];
const statusLines = [
  `HTTP/1.1 200 ${long}\r\n`,
  `HTTP/1.0 ${' '.repeat(40)}2  0 0 ${' '.repeat(40)}x`,
  'HTTP/1.1 200.5 OK\r\nX: ',
  `HTTP/12.1 200\n${long}`,
];
const readers: Record<string, [reader: Reader, lines: string[]]> = {
  'a header of a request': [headerLine(false), headerLines],
  'a header of a response': [headerLine(true), headerLines],
  'a request line': [
    requestLine,
    [
      `${'A'.repeat(40)} /`,
      `GET${' '.repeat(40)}/${long}/./%20?${long}#${' '.repeat(40)}HTTP/1.1${' '.repeat(40)}\r\n`,
      `GET ${long}://${long}:${'1'.repeat(40)}/${long} HTTP/1.1\r\n`,
      `GET http://[${'1'.repeat(40)}]:1/a HTTP/1.10\n`,
      `CONNECT ${long}:443 HTTP/1.1\r\n`,
      `\r\n\nGET http://a?${long}\n`,
    ],
  ],
  'the head of a response': [responseHead, statusLines],
  'the head of a CGI program': [cgiHead, [...statusLines, ...headerLines]],
};

for (const [name, [reader, lines]] of Object.entries(readers)) {
  t.test(name, async (t) => {
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48271) % 2147483647;
      return seed % below;
    };
    for (const line of lines) {
      let noisy = 0;
      const wrong: string[] = [];
      for (let length = 0; length < line.length; length++) {
        const text = line.slice(0, length);
        const quiet = reader(text);
        if (quiet === undefined) {
          break;
        }
        noisy += quiet[line.charCodeAt(length)] === 0 ? 1 : 0;
        const all = [...quiet.keys()].filter((byte) => quiet[byte] !== 0);
        const tails = all.map((byte) => String.fromCharCode(byte));
        for (let i = 0; i < 20 && all.length > 0; i++) {
          tails.push(Array.from({ length: 2 + random(8) }, () => String.fromCharCode(all[random(all.length)]!)).join(''));
        }
        wrong.push(...tails.filter((tail) => reader(text + tail) === undefined).map((tail) => text + tail));
      }
      t.strictSame(wrong.slice(0, 3), [], 'quiet bytes neither end a line nor spoil it');
      t.ok(noisy < 30, `${JSON.stringify(line)} is read ${noisy} times`);
    }
  });
}
