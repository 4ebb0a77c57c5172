import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import t from 'tap';
import { certs, pem } from './certs.js';
import { startFastcgi } from './fastcgi-responder.js';
import { startOrigin } from './origin.js';
import { http, pipeline, RawClient, requestText } from './raw-client.js';
import { parseResponse } from './response.js';

// A harness that reads answers wrongly hides broken answers, so the parts that judge are tested themselves.

t.test('a response is read by its framing', async (t) => {
  const parse = (text: string, method = 'GET', ended = false) => parseResponse(Buffer.from(text, 'latin1'), method, ended);
  const sized = parse('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1');
  t.equal(sized?.text, 'abc');
  t.equal(sized?.length, 41);
  t.equal(parse('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab'), undefined);
  t.equal(parse('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab', 'GET', true)?.complete, false);
  t.equal(parse('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n', 'HEAD')?.text, '');
  const chunked = parse('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nT: v\r\n\r\nrest');
  t.equal(chunked?.text, 'abc');
  t.strictSame(chunked?.trailers, [['T', 'v']]);
  t.throws(() => parse('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n'), /chunk/);
  t.throws(() => parse('HTTP/1.1 200 OK\r\nbad header: x\r\n\r\n'), /header line/);
  t.equal(parse('HTTP/1.0 200 OK\r\n\r\nabc'), undefined);
  t.equal(parse('HTTP/1.0 200 OK\r\n\r\nabc', 'GET', true)?.text, 'abc');
  t.equal(parse('only a body', 'GET', true)?.status, 0);
  t.throws(() => parse('HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\n\r\n', 'HEAD')?.header('A'), /2 headers/);
});

t.test('the origin keeps connections and records requests', async (t) => {
  const origin = await startOrigin(t, (request) => ({ body: `${request.method} ${request.body}` }));
  const answers = await pipeline(origin.port, [
    requestText('POST', '/a', {}, 'body'),
    'HEAD /b HTTP/1.1\r\nHost: h\r\n\r\n',
    'POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  ]);
  t.strictSame(
    answers.map(({ text }) => text),
    ['POST body', '', 'POST abc'],
  );
  t.equal(origin.connections(), 1);
  t.strictSame(
    origin.requests.map(({ target, nth }) => [target, nth]),
    [
      ['/a', 1],
      ['/b', 2],
      ['/c', 3],
    ],
  );
  origin.answer((_request, reply) => reply.reset());
  await t.rejects(http(origin.port, 'GET / HTTP/1.0\r\n\r\n'), /ECONNRESET/);
});

t.test('the FastCGI responder reads parameters and standard input', async (t) => {
  const responder = await startFastcgi(t, (request) => `Status: 200\r\n\r\n${request.param('NAME')} ${request.stdin}`);
  const client = await RawClient.connect(responder.port);
  const record = (type: number, content: string) =>
    `\x01${String.fromCharCode(type)}\0\x01\0${String.fromCharCode(content.length)}\0\0${content}`;
  client.send(record(1, '\0\x01\0\0\0\0\0\0') + record(4, '\x04\x05NAMEvalue') + record(4, '') + record(5, 'input') + record(5, ''));
  const answer = 'Status: 200\r\n\r\nvalue input';
  t.equal(await client.rest(), record(6, answer) + record(6, '') + record(3, '\0'.repeat(8)));
});

t.test('the certificates verify against their authority', async (t) => {
  const { ca, rsa, ecdsa } = certs();
  for (const pair of [rsa, ecdsa]) {
    const origin = await startOrigin(t, 'x', { tls: { cert: readFileSync(pair.cert), key: readFileSync(pair.key) } });
    await new Promise<void>((done, fail) => {
      const socket = connect({ port: origin.port, host: '127.0.0.1', servername: 'www.example.com', ca: pem(ca.cert) }, () => {
        t.ok(socket.authorized);
        socket.destroy();
        done();
      });
      socket.once('error', fail);
    });
  }
});
