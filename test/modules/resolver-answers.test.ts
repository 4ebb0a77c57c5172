import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import t, { type Test } from 'tap';
import { reservePort } from '../support/ports.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const u16 = (n: number): string => String.fromCharCode(n >> 8, n & 255);
const wire = (name: string): string =>
  `${name
    .split('.')
    .map((label) => String.fromCharCode(label.length) + label)
    .join('')}\0`;
/** A record of an owner, both as bytes; the length may be a lie. */
const record = (owner: string, type: number, data: string, length = data.length): string =>
  `${owner}${u16(type)}${u16(1)}\0\0${u16(60)}${u16(length)}${data}`;
/** The question's name, and a pointer that leads nowhere. */
const SAME = '\xc0\x0c';
const NOWHERE = '\xff\xff';
const CNAME = 5;
const TXT = 16;
const a = (owner: string): string => record(owner, 1, '\x7f\0\0\x01');
const alias = (data: string, length?: number): string => record(SAME, CNAME, data, length);

const label = (letter: string): string => letter.repeat(63);
const LONG = ['a', 'b', 'c', 'd'].map(label).join('.');
const labels = (count: number): string => Array(count).fill('x').join('.');
/** Where the first record's data begins in answers to `?.t`. */
const FIRST = 12 + 5 + 4 + 12;

type Records = (question: string) => readonly string[];
/** The alias for the first question, an address for the next. */
const via =
  (data: string, length?: number): Records =>
  (question) =>
    question.length === 5 ? [alias(data, length)] : [a(SAME)];

const answered: readonly (readonly [what: string, name: string, asked: string, records: Records])[] = [
  ['a name of 253 characters', LONG.slice(2), LONG.slice(2), () => [a(SAME)]],
  ['a name of 255 characters, four labels of 63', LONG, LONG, () => [a(SAME)]],
  ['its owner in full, not as it was asked', `${LONG}.e`, `${LONG}.e`, () => [a(wire(LONG.toUpperCase()))]],
  ['a name longer than DNS allows', `${LONG}.${LONG}.${LONG}.${LONG}`, `${LONG}.${LONG}.${LONG}.${LONG}`, () => [a(SAME)]],
  ['127 labels', labels(127), labels(127), () => [a(SAME)]],
  ['capitals and a dot at the end', 'A.T.', 'a.t', () => [a(SAME)]],
  ['an alias of 255 characters', 'b.t', `b.t ${label('f')}.${LONG.slice(64)}`, via(wire(`${label('F')}.${LONG.slice(64)}`))],
  ['an alias of 127 labels', 'c.t', `c.t ${labels(126)}.y`, via(wire(`${labels(126)}.y`))],
  ['an alias past the end of its record', 'd.t', 'd.t abcd', via('\x04abcd\0', 2)],
  ['an owner that leads nowhere', 'e.t', 'e.t', () => [a(NOWHERE)]],
  ['an owner that points at itself', 'f.t', 'f.t', () => [a(u16(0xc000 + FIRST - 12))]],
  ['an owner of 200 labels', 'g.t', 'g.t', () => [a(wire(labels(200)))]],
  ['an alias beside an address is not read', 'h.t', 'h.t', () => [alias(NOWHERE), a(SAME)]],
  ['a record that is cut, behind the address', 'i.t', 'i.t', () => [a(SAME), record(SAME, CNAME, 'x', 500)]],
];

const refused: readonly (readonly [what: string, name: string, message: string, records: Records])[] = [
  ['a label of 256', `${'x'.repeat(256)}.t`, `${'x'.repeat(256)}.t could not be resolved (3: Host not found)`, () => []],
  ['an empty label', 'X..T.', 'x..t could not be resolved (3: Host not found)', () => []],
  ['128 labels', labels(128), 'compression pointers loop in DNS response', () => [a(SAME)]],
  ['an alias of 128 labels', 'k.t', 'compression pointers loop in DNS response', () => [alias(wire(labels(128)))]],
  ['an alias that points at itself', 'l.t', 'compression pointers loop in DNS response', () => [alias(u16(0xc000 + FIRST))]],
  ['an alias that leads nowhere', 'm.t', 'name is out of DNS response', () => [alias(NOWHERE)]],
  ['an alias that fills the answer', 'n.t', 'name is out of DNS response', () => [alias('\x03abc')]],
  ['half a pointer', 'o.t', 'name is out of DNS response', () => [alias('\xc0')]],
  ['an unknown kind of label', 'p.t', 'invalid label type in DNS response', () => [alias('\x80\x0c')]],
  ['an empty owner', 'q.t', 'invalid name in DNS response', () => [a('\0')]],
  ['a record without data at the end', 'r.t', 'short DNS response', () => [a(SAME), record(SAME, TXT, '')]],
  ['a record of another type', 's.t', 'unexpected RR type 16 in DNS response', () => [record(SAME, TXT, 'x')]],
];

/**
 * Starts a server that looks names up at a port of 127.0.0.1, where a test's `records` are, and passes on to the address that it finds.
 * Without records the answers say that they do not fit into a datagram.
 */
async function start(t: Test): Promise<{ s: Server; port: number; asked: string[]; answerWith(records: Records | undefined): void }> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  let records: Records | undefined;
  socket.on('message', (query, from) => {
    const question = query.toString('latin1', 12, query.length - 4);
    asked.push(question);
    const list = records?.(question) ?? [];
    const head = `${query.toString('latin1', 0, 2)}${records === undefined ? '\x83' : '\x81'}\x80${u16(1)}${u16(list.length)}\0\0\0\0`;
    socket.send(Buffer.from(`${head}${query.toString('latin1', 12)}${list.join('')}`, 'latin1'), from.port, from.address);
  });
  // The socket takes over from the reservation, which is one at the same port: TCP is free there, too.
  const { port, release } = await reservePort();
  release();
  await new Promise<void>((done) => socket.bind(port, '127.0.0.1', done));
  t.teardown(() => new Promise<void>((done) => socket.close(() => done())));
  const s = await startServer(t, {
    conf: httpConf(`resolver 127.0.0.1:${port} ipv6=off;
      large_client_header_buffers 4 16k;
      server { listen 127.0.0.1:%%PORT_1%%; location / { return 200 found; } }
      server {
        listen 127.0.0.1:%%PORT_0%%;
        proxy_set_header Host x;
        location / { proxy_pass http://$arg_name:%%PORT_1%%; }
        location /refused { resolver_timeout 100ms; proxy_pass http://$arg_name:%%PORT_1%%; }
      }`),
  });
  return { s, port, asked, answerWith: (next) => (records = next) };
}

t.test('names and records that are taken', async (t) => {
  const { s, asked, answerWith } = await start(t);
  for (const [what, name, questions, records] of answered) {
    asked.length = 0;
    answerWith(records);
    t.equal((await httpGet(s, `/?name=${name}`)).text, 'found', what);
    t.strictSame(asked, questions.split(' ').map(wire), `${what}: what was asked`);
  }
});

t.test('names and records that are refused', async (t) => {
  const { s, answerWith } = await start(t);
  for (const [what, name, message, records] of refused) {
    answerWith(records);
    const before = s.log().length;
    t.equal((await httpGet(s, `/refused?name=${name}`)).status, 502, what);
    await waitFor(() => s.log().slice(before).includes(message), { what: () => `${what}: ${message}\n${s.log().slice(before)}` });
  }
});

t.test('an answer that does not fit is asked for over TCP, and may come byte by byte', async (t) => {
  const { s, port, answerWith } = await start(t);
  answerWith(undefined);
  const tcp = createServer((socket) => {
    socket.setNoDelay(true);
    socket.once('data', async (query) => {
      const question = query.toString('latin1', 14);
      const answer = `${query.toString('latin1', 2, 4)}\x81\x80${u16(1)}${u16(200)}\0\0\0\0${question}${a(SAME).repeat(200)}`;
      for (const byte of Buffer.from(`${u16(answer.length)}${answer}`, 'latin1')) {
        if (socket.destroyed) {
          return;
        }
        await new Promise<void>((done) => socket.write(Buffer.from([byte]), () => done()));
      }
    });
  });
  await new Promise<void>((done) => tcp.listen(port, '127.0.0.1', done));
  t.teardown(() => new Promise<void>((done) => tcp.close(() => done())));
  t.equal((await httpGet(s, '/?name=a.t')).text, 'found');
});
