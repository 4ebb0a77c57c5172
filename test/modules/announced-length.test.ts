import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { Http2Client, request } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { RawClient, requestText } from '../support/raw-client.js';
import { serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('nginx sends what is too much, and waits for what is too little');
}

/** Responses of JavaScript that announce five bytes. */
const web = `
const headers = { 'content-length': '5' };
const stream = (...pieces) => new ReadableStream({ start(out) { pieces.forEach((one) => out.enqueue(new TextEncoder().encode(one))); out.close(); } });
export default {
  long: () => new Response(stream('abc', 'defHTTP/1.1 200 OK\\r\\n'), { headers }),
  longer: () => new Response(stream('abcde', 'f', 'g'), { headers }),
  short: () => new Response(stream('abc'), { headers }),
  exact: () => new Response(stream('abc', 'de'), { headers }),
};
`;
const node = `
module.exports = (req, res) => {
  res.setHeader('Content-Length', 5);
  res.write('abc');
  setImmediate(() => res.end(req.url === '/node/long' ? 'defgh' : req.url === '/node/short' ? '' : 'de'));
};
`;

/** Filters that announce less than a file has, or more. */
const filter = `
const announces = (length) => (r) => { r.headersOut['Content-Length'] = length; };
export default { less: announces('5'), more: announces('31000') };
`;

t.test('JavaScript announces another length than that of the body', async (t) => {
  const pages = ['long', 'longer', 'short', 'exact'].map((name) => `location /${name} { js_content web.${name} fetch; }`);
  const s = await startServer(t, {
    conf: serverConf(
      `http2 on;
       ${pages.join(' ')}
       location /slow { limit_rate 1k; js_content web.long fetch; }
       location /paced { limit_rate 20k; alias %%DIR%%/medium; }
       location /late { limit_rate 60k; js_header_filter filter.more; alias %%DIR%%/medium; }
       location /node/ { node_handler node; }
       location /file/ { js_header_filter filter.less; alias %%DIR%%/; }`,
      'js_import web from web.js; js_import node from node.js; js_import filter from filter.js;',
    ),
    files: {
      'web.js': web,
      'node.js': node,
      'filter.js': filter,
      small: 'abcdefgh',
      medium: 'x'.repeat(30_000),
      large: `abcde${'x'.repeat(300_000)}`,
    },
  });
  const body = async (target: string): Promise<readonly [text: string, goesOn: boolean]> => {
    const client = await RawClient.connect(s);
    client.send(requestText('GET', target)).send(requestText('GET', '/exact'));
    await waitFor(() => client.ended || /abcde.*abcde/s.test(client.received), { what: () => client.received });
    const [head, ...rest] = client.received.split('\r\n\r\n');
    client.socket.destroy();
    t.match(head, /Content-Length: 5$/im, target);
    return [rest.join('\r\n\r\n'), rest.length > 1];
  };
  const http2 = await Http2Client.connect(t, s.port(0));
  let stream = 1;
  const sent = async (target: string): Promise<readonly [text: string, reset: boolean]> => {
    const id = stream;
    stream += 2;
    const response = await http2.request(id, request('GET', target)).response(id);
    return [response.body, response.reset !== undefined];
  };
  for (const target of ['/long', '/longer', '/node/long', '/slow', '/file/small', '/file/large']) {
    t.strictSame(await body(target), ['abcde', false], `${target}: what is too much does not leave, and nothing follows`);
    const [text, reset] = await sent(target);
    t.ok('abcde'.startsWith(text) && reset, `${target}: nor over HTTP/2`);
  }
  for (const target of ['/short', '/node/short']) {
    t.strictSame(await body(target), ['abc', false], `${target}: the connection ends`);
    t.strictSame(await sent(target), ['abc', true], `${target}: or the stream`);
  }
  for (const target of ['/exact', '/node/exact']) {
    t.equal((await body(target))[1], true, `${target}: the next request is answered`);
    t.strictSame(await sent(target), ['abcde', false]);
  }
  t.equal((await sent('/paced'))[0].length, 30_000, 'what waits for its pace is counted once');
  const late = await RawClient.connect(s);
  late.send(requestText('GET', '/late'));
  t.match(await late.rest(), /\r\n\r\nx{30000}$/);
  t.equal(s.log().match(/shorter than its "Content-Length".*"GET \/late /g)?.length, 1, 'what waits for its pace is told once');
  await s.logged('the response is longer than its "Content-Length"');
  await s.logged('the response is shorter than its "Content-Length"');
});

t.test('a file becomes longer, or shorter, between its slices', async (t) => {
  let size = 3000;
  const origin = await startOrigin(t, ({ header }) => {
    const [, from = '0', to = '0'] = /^bytes=(\d+)-(\d+)$/.exec(header('range') ?? '') ?? [];
    const end = Math.min(Number(to) + 1, size);
    const answer = {
      status: 206,
      headers: { 'Content-Range': `bytes ${from}-${end - 1}/${size}` },
      body: Buffer.alloc(end - Number(from), 'x'),
    };
    size = Number(from) === 0 ? next : size;
    return answer;
  });
  let next = 9000;
  const s = await startServer(t, {
    conf: serverConf(
      `location / { slice 2k; proxy_pass http://127.0.0.1:${origin.port}; proxy_set_header Range $slice_range; }
       location /next { return 200 next; }`,
    ),
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/')).send(requestText('GET', '/next'));
  const grown = await client.rest();
  t.match(grown, /^Content-Length: 3000\r$/m);
  t.equal(grown.slice(grown.indexOf('\r\n\r\n') + 4), 'x'.repeat(3000), 'what was announced, and the end of the connection');
  size = 3000;
  next = 2500;
  const other = await RawClient.connect(s);
  other.send(requestText('GET', '/')).send(requestText('GET', '/next'));
  const shrunk = await other.rest();
  t.equal(shrunk.includes('next'), false);
  t.ok(shrunk.length - shrunk.indexOf('\r\n\r\n') - 4 < 3000);
});

t.test('a slice without bytes does not lead to another one', async (t) => {
  const origin = await startOrigin(t, ({ header }) => {
    const first = header('range') === 'bytes=0-1023';
    return {
      status: 206,
      headers: { 'Content-Range': first ? 'bytes 0-1023/5000' : 'bytes 1024-1023/1024' },
      body: Buffer.alloc(first ? 1024 : 0, 'x'),
    };
  });
  const s = await startServer(t, {
    conf: serverConf(`location / { slice 1k; proxy_pass http://127.0.0.1:${origin.port}; proxy_set_header Range $slice_range; }`),
  });
  const client = await RawClient.connect(s);
  client.send(requestText('GET', '/'));
  await client.rest();
  await s.logged('invalid range in slice response');
  t.equal(origin.requests.length, 2);
});

t.test('an error page that has no body, but says how long it would be', async (t) => {
  const origin = await startOrigin(
    t,
    ({ target }) => `HTTP/1.1 ${target.slice(1)} Nothing\r\nContent-Length: 5\r\nConnection: close\r\n\r\n`,
  );
  const s = await startServer(t, {
    conf: serverConf(
      `http2 on;
       error_page 403 /204; error_page 402 /304;
       location = /forbidden { return 403; } location = /paid { return 402; }
       location = /204 { proxy_pass http://127.0.0.1:${origin.port}; } location = /304 { proxy_pass http://127.0.0.1:${origin.port}; }
       location = /next { return 200 next; }`,
    ),
  });
  for (const [target, status] of [
    ['/forbidden', 403],
    ['/paid', 402],
  ] as const) {
    const client = await RawClient.connect(s);
    client.send(requestText('GET', target)).send(requestText('GET', '/next', { Connection: 'close' }));
    const [head, next] = (await client.rest()).split('\r\n\r\n') as [string, string];
    t.ok(head.startsWith(`HTTP/1.1 ${status} `));
    t.match(head, /^Content-Length: 0$/m, 'a length of what comes');
    t.match(next, 'HTTP/1.1 200', 'the next response is no part of it');
    const { body, reset } = await (await Http2Client.connect(t, s.port(0))).request(1, request('GET', target)).response(1);
    t.strictSame([body, reset], ['', undefined]);
  }
});
