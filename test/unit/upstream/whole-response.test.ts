import t from 'tap';
import { WholeResponse } from '../../../src/worker/upstream/response/whole-response.js';

const LIMITS = { head: 200, body: 50, chunked: 60, headOnly: false };

/** What comes of the bytes in pieces of a size. */
function read(text: string, size: number, limits = LIMITS): string {
  const response = new WholeResponse(limits);
  for (let at = 0; at < text.length; at += size) {
    const fault = response.take(Buffer.from(text.slice(at, at + size), 'latin1'));
    if (fault !== undefined) {
      return fault;
    }
  }
  const { complete, keepalive } = response;
  const fault = response.end();
  const { status, statusText, headers } = response.head;
  const fields = headers.map(({ name, value }) => `${name}=${value}`).join();
  return (
    fault ?? `${complete ? 'complete' : 'until close'} ${keepalive} ${status} ${statusText} ${fields} ${response.body().toString('latin1')}`
  );
}

const head = 'HTTP/1.1 200 OK\r\n';
const responses: readonly (readonly [text: string, result: string, limits?: typeof LIMITS])[] = [
  [`${head}Content-Length: 4\r\nX:  a b \r\n\r\nbody`, 'complete true 200 OK Content-Length=4,X=a b body'],
  [`${head}Content-Length: 4\r\nConnection: close\r\n\r\nbody`, 'complete false 200 OK Content-Length=4,Connection=close body'],
  [`${head}Content-Length: 4\r\n\r\nbodymore`, 'complete false 200 OK Content-Length=4 body'],
  ['HTTP/1.0 404 No\r\n\r\nbody', 'until close false 404 No  body'],
  [
    `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2;x=y\r\ndy\r\n0\r\na: b\r\n\r\n`,
    'complete true 200 OK Transfer-Encoding=chunked body',
  ],
  [`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n`, 'bad chunks'],
  [`${head}Transfer-Encoding: chunked\r\n\r\nx`, 'bad chunks'],
  [`${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(70)}0\r\n\r\n`, 'long chunked body'],
  [
    `${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(60)}0\r\n\r\n`,
    `complete true 200 OK Transfer-Encoding=chunked ${'x'.repeat(60)}`,
  ],
  [`${head}Transfer-Encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(20_000)}`, 'long chunked body'],
  [`${head}Content-Length: 4\r\n\r\nbod`, 'short'],
  [`${head}Content-Length: 51\r\n\r\n`, 'long body announced'],
  [`${head}Content-Length: 51\r\n\r\n`, 'complete true 200 OK Content-Length=51 ', { ...LIMITS, headOnly: true }],
  [`${head}\r\n${'x'.repeat(51)}`, 'long body'],
  [`${head}X: ${'x'.repeat(200)}\r\n\r\n`, 'long head'],
  [`${head}${'X: x\r\n'.repeat(50)}\r\n`, 'long head'],
  [
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nLink: a\r\n\r\n${head}Content-Length: 1\r\n\r\na`,
    'complete true 200 OK Content-Length=1 a',
  ],
  ['HTTP/1.1 102 P\r\n\r\n'.repeat(20), 'long head'],
  ['HTTP/1.1 101 S\r\n\r\n', 'bad head'],
  ['HTTP/1.1 204 N\r\nContent-Length: 7\r\n\r\n', 'complete true 204 N Content-Length=7 '],
  [`${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, 'bad head'],
  ['SSH-2.0-x\r\n\r\n', 'no head'],
  [head, 'short'],
];

t.test('a response is the same however its bytes are cut', async (t) => {
  for (const [text, result, limits] of responses) {
    for (const size of [1, 2, 3, 7, 64, text.length]) {
      t.equal(read(text, size, limits), result, `${JSON.stringify(text.slice(0, 60))} in pieces of ${size}`);
    }
  }
});

t.test('what is kept of a body holds on to nothing else', async (t) => {
  const response = new WholeResponse({ head: 100, body: 1000, chunked: 1000, headOnly: false });
  t.equal(response.take(Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`)), undefined);
  const read = Buffer.alloc(64 * 1024, 'x');
  read.write('1\r\na\r\n1;', 0);
  t.equal(response.take(read), undefined);
  const body = response.body();
  t.equal(body.toString(), 'a');
  t.not(body.buffer, read.buffer);
});
