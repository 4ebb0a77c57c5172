import t from 'tap';
import { HEAD_DONE, HEAD_INCOMPLETE, type HeadOwner, HeadParser } from '../../../src/worker/http/syntax/head-parser.js';
import { HeaderSlot } from '../../../src/worker/http/syntax/header-names.js';
import { CONNECTION_KEEP_ALIVE } from '../../../src/worker/http/syntax/request-head.js';
import { eventLog, limits } from '../../protocol/event-log.js';

// What heads mean is in test/protocol; here is how the parser is used.

const silent: HeadOwner = { selectServer: () => 0, ignoredHeader: () => {} };
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

const browser = [
  'GET /style.css?v=1 HTTP/1.1',
  'Host: www.example.com:8080',
  'Connection: keep-alive',
  'User-Agent: Mozilla/5.0',
  'accept: */*',
  'X-Own: 1',
  'Cookie: a=b',
  'Cookie: c=d',
  'If-None-Match: "x"',
  '',
  '',
].join('\r\n');

t.test('a head within a larger buffer', async (t) => {
  const parser = new HeadParser(limits, silent);
  const buffer = bytes(`before${browser}after`);
  t.equal(parser.parse(buffer, 6, buffer.length), HEAD_DONE);
  const { head } = parser;
  t.equal(buffer.toString('latin1', head.end), 'after');
  t.equal(head.length, browser.length);
  t.equal(head.unparsedUri, '/style.css?v=1');
  t.ok(head.validUnparsedUri);
  t.equal(head.protocol, 'HTTP/1.1');
  t.equal(head.exten, 'css');
  t.equal(head.host, 'www.example.com');
  t.equal(head.port, 8080);
  t.equal(head.hostHeader, 'www.example.com:8080');
  t.equal(head.connection, CONNECTION_KEEP_ALIVE);
  t.equal(head.known(HeaderSlot.cookie), 'a=b', 'the first of several');
  t.equal(head.known(HeaderSlot.ifNoneMatch), '"x"');
  t.equal(head.known(HeaderSlot.range), undefined);
  t.equal(head.header('x-own'), '1');
  t.equal(head.header('x-other'), undefined);
  t.equal(head.joined('cookie', '; '), 'a=b; c=d');
  t.equal(head.joined('accept', ', '), '*/*');
  t.equal(head.joined('x-other', ', '), undefined);
  t.strictSame(head.names, ['host', 'connection', 'user-agent', 'accept', 'x-own', 'cookie', 'cookie', 'if-none-match']);
});

t.test('what is known of a head before it is complete', async (t) => {
  const seen: string[][] = [];
  const look: HeadOwner = {
    selectServer: (head) => {
      seen.push([...head.headers]);
      return 0;
    },
    ignoredHeader: (head) => seen.push([...head.headers]),
  };
  const parser = new HeadParser(limits, look);
  const text = 'GET / HTTP/1.1\r\nX: y\r\nHost: a\r\nbad_name: z\r\nLast: 1\r\nUnfinished';
  t.equal(parser.parse(bytes(text), 0, text.length), HEAD_INCOMPLETE);
  t.strictSame(seen, [
    ['X', 'y', 'Host', 'a'],
    ['X', 'y', 'Host', 'a'],
  ]);
  t.strictSame(parser.head.headers, ['X', 'y', 'Host', 'a', 'Last', '1'], 'for the log, should nothing more come');
  t.strictSame(parser.head.names, ['x', 'host', 'last']);
  t.equal(parser.parse(bytes(': 2\r\n\r\n'), 0, 7), HEAD_DONE);
  t.strictSame(parser.head.headers, ['X', 'y', 'Host', 'a', 'Last', '1', 'Unfinished', '2']);
});

t.test('the next request of a connection', async (t) => {
  const parser = new HeadParser(limits, silent);
  const buffer = bytes('GET /1 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
  parser.parse(buffer, 0, buffer.length);
  const first = parser.head;
  parser.reset(limits);
  t.equal(parser.parse(buffer, first.end, buffer.length), HEAD_DONE);
  t.equal(parser.head.uri, '/2');
  t.equal(parser.head.host, 'a', 'the same host again');
  t.equal(parser.head.end, buffer.length);
  t.equal(parser.head.header('x'), undefined);
  t.equal(first.uri, '/1', 'the head of the request before is left alone');
});

t.test('a head in pieces', async (t) => {
  const parser = new HeadParser(limits, silent);
  const piece = Buffer.alloc(64);
  const write = (text: string) => parser.parse(piece, 3, 3 + piece.write(text, 3, 'latin1'));
  t.equal(write('GET / HT'), HEAD_INCOMPLETE);
  t.notOk(parser.inHeaders);
  t.equal(write('TP/1.1\r\nHost: a\r\nA: '), HEAD_INCOMPLETE);
  t.ok(parser.inHeaders);
  t.equal(write('b\r\n\r\nbody'), HEAD_DONE);
  t.equal(parser.head.header('a'), 'b', 'memory that is used again does no harm');
  t.equal(piece.toString('latin1', parser.head.end, parser.head.end + 4), 'body');
});

t.test('an abandoned request line', async (t) => {
  const parser = new HeadParser(limits, silent);
  parser.abandon();
  t.equal(parser.head.line, '', 'nothing has arrived');
  parser.parse(bytes('\r\nGET /x'), 0, 8);
  parser.abandon();
  t.equal(parser.head.line, 'GET /x');
  t.equal(parser.head.method, '');
});

t.test('the line of a refused request', async (t) => {
  const line = (text: string) => {
    const parser = new HeadParser({ ...limits, headerBufferSize: 16, largeBufferSize: 20 }, silent);
    parser.parse(bytes(text), 0, text.length);
    return parser.head.line;
  };
  t.equal(line('GET x y\r\nHost: a\r\n\r\n'), 'GET x y');
  t.equal(line(`GET /${'a'.repeat(100)} HTTP/1.0\r\n\r\n`), `GET /${'a'.repeat(15)}`, 'as much as fits');
});

t.test('the owner refuses the host', async (t) => {
  const parser = new HeadParser(limits, { selectServer: (head) => (head.host === 'bad' ? 421 : 0), ignoredHeader: () => {} });
  const parse = (text: string) => {
    parser.reset(limits);
    return parser.parse(bytes(text), 0, text.length);
  };
  t.equal(parse('GET / HTTP/1.1\r\nHost: bad\r\n\r\n'), 421);
  t.equal(parser.head.error, '', 'the owner has logged why');
  t.equal(parse('GET http://bad/ HTTP/1.1\r\nHost: good\r\n\r\n'), 421);
  t.equal(parse('GET / HTTP/1.1\r\nHost: good\r\n\r\n'), HEAD_DONE);
});

t.test('too much makes the connection linger', async (t) => {
  const parse = (text: string) => {
    const parser = new HeadParser({ ...limits, maxHeaders: 1 }, silent);
    parser.parse(bytes(text), 0, text.length);
    return parser.head.lingeringClose;
  };
  t.ok(parse('GET / HTTP/1.0\r\nA: b\r\nC: d\r\n\r\n'));
  t.ok(parse(`GET / HTTP/1.0\r\nA: ${'b'.repeat(9000)}\r\n`));
  t.notOk(parse(`GET /${'b'.repeat(9000)}`), 'a long request line does not');
  t.notOk(parse('GET / HTTP/1.1\r\n\r\n'));
});

t.test('mutations: any text, however cut, has one meaning', async (t) => {
  let state = 20_261_120;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const seeds = [
    browser,
    'POST http://a:1/b/../c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    'PUT /%41+/?x#y HTTP/1.0\r\nHost: [::1]:80\r\nContent-Length: 3\r\nA_B: c\r\n\r\nabc',
    'GET /\r\nGET / HTTP/1.1\nHost:a\n\n',
  ];
  const alphabet = '\r\n\t \0:/?#%.+_-@[]aZ09H\x7f\xff';
  const small = { headerBufferSize: 32, largeBufferCount: 2, largeBufferSize: 96, maxHeaders: 6 };
  let refused = 0;
  for (let n = 0; n < 1500; n++) {
    let text = seeds[random(seeds.length)]!;
    for (let i = random(4); i >= 0; i--) {
      const at = random(text.length);
      text = text.slice(0, at) + (random(3) === 0 ? '' : alphabet[random(alphabet.length)]) + text.slice(at + random(3));
    }
    const meta = n % 2 === 0 ? {} : small;
    const whole = eventLog(bytes(text), meta, text.length);
    if (whole.at(-1)!.startsWith('error')) {
      refused++;
    }
    for (const size of [1, 2 + random(20)]) {
      const cut = eventLog(bytes(text), meta, size);
      if (cut.join('\n') !== whole.join('\n')) {
        t.strictSame(cut, whole, JSON.stringify(text));
      }
    }
  }
  t.ok(refused > 300 && refused < 1400, `${refused} of 1500 were refused`);
});
