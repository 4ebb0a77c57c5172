import t from 'tap';
import { CgiHeadReader } from '../../../src/worker/cgi/cgi-head.js';
import { HEAD_AGAIN, HEAD_OK } from '../../../src/worker/upstream/response/head-codes.js';
import { HeaderKinds } from '../../../src/worker/upstream/response/header-kinds.js';
import { USUAL_HEAD } from '../../../src/worker/upstream/response/http1-head.js';
import { Http1Reader } from '../../../src/worker/upstream/response/http1-reader.js';
import { UpstreamHead } from '../../../src/worker/upstream/response/upstream-head.js';

// The first bytes of what came are read as if there were no more: wherever these end, the head must come out the same.

const kinds = new HeaderKinds([], [], []);
const silent = { log() {} };
const tail = '\r\nContent-Length: 3\r\nX-Last:  end \r\n\r\n';
const body = 'b'.repeat(3000);

/** A head with a line that is so long that the border of `USUAL_HEAD` is `at` bytes behind it. */
function padded(first: string, at: number): string {
  const start = `${first}X-Padding: `;
  return start + 'p'.repeat(USUAL_HEAD - at - start.length);
}

const headers = (head: UpstreamHead): string[] => head.headers.map(({ name, value }) => `${name}=${value.replace(/^p+$/, 'p')}`);

t.test('HTTP/1', async (t) => {
  for (let at = -1; at <= tail.length + 1; at++) {
    const text = padded('HTTP/1.1 200 OK\r\n', at) + tail;
    const bytes = Buffer.from(text + body);
    const reader = new Http1Reader();
    const head = new UpstreamHead();
    t.equal(reader.parseHead(head, kinds, silent, bytes, 0, bytes.length), HEAD_OK, `border at ${at}`);
    t.equal(reader.next, text.length);
    t.strictSame(headers(head), ['X-Padding=p', 'Content-Length=3', 'X-Last=end']);
  }
});

t.test('HTTP/1, of which the end is still to come', async (t) => {
  const text = padded('HTTP/1.1 200 OK\r\n', -1000) + tail;
  const bytes = Buffer.from(text);
  const reader = new Http1Reader();
  const head = new UpstreamHead();
  t.equal(reader.parseHead(head, kinds, silent, bytes, 0, bytes.length - 1), HEAD_AGAIN);
  t.equal(reader.parseHead(head, kinds, silent, bytes, reader.next, bytes.length), HEAD_OK);
  t.strictSame(headers(head), ['X-Padding=p', 'Content-Length=3', 'X-Last=end']);
});

t.test('CGI', async (t) => {
  for (let at = -1; at <= tail.length + 1; at++) {
    const text = padded('Status: 201 Created\r\n', at) + tail;
    const bytes = Buffer.from(text + body);
    const head = new UpstreamHead();
    t.equal(new CgiHeadReader(true).read(head, kinds, silent, bytes, 0, bytes.length), text.length, `border at ${at}`);
    t.equal(head.status, 201);
    t.strictSame(headers(head), ['Status=201 Created', 'X-Padding=p', 'Content-Length=3', 'X-Last=end']);
  }
});
