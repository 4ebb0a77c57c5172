import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { startNameServer } from '../support/name-server.js';
import { type OriginAnswer, startOrigin } from '../support/origin.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, serverConf, startServer } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

const script = `
async function get(r) {
  try {
    const { url, ...init } = JSON.parse(decodeURIComponent(r.variables.args));
    const reply = await ngx.fetch(url, init);
    const headers = [];
    for (const name in reply.headers) { headers.push(name + '=' + reply.headers.get(name)); }
    r.return(200, JSON.stringify([reply.status, reply.statusText, reply.ok, headers, reply.headers.getAll('x'), await reply.text(), reply.bodyUsed]));
  } catch (e) {
    r.return(501, e.name + ': ' + e.message + ' ' + /t\\.js:\\d+/.test(e.stack));
  }
}
async function twice(r) {
  const url = r.variables.arg_url;
  const seen = [];
  for (let i = 0; i < 3; i++) { seen.push(await (await ngx.fetch(url)).text()); }
  r.return(200, seen.join());
}
function hangs(r) { ngx.fetch(r.variables.arg_url).then(() => r.return(200)); }
export default { get, twice, hangs };
`;

const ask = (url: string, init: object = {}): string => `?${encodeURIComponent(JSON.stringify({ url, ...init }))}`;

t.test('requests and responses', async (t) => {
  const origin = await startOrigin(t, async ({ target, head, body }, reply): Promise<OriginAnswer | undefined> => {
    switch (target) {
      case '/echo':
        return {
          status: 201,
          headers: { x: ['a', 'b'], 'X-Y': 'c' },
          body: `${head.replace(/^Host: .*\r\n/m, '')}${body.toString('latin1')}`,
        };
      case '/slowly':
        for (const piece of ['HTTP/1.1 200 Fine\r\nTransfer-', 'Encoding: chunked\r\n\r\n3\r', '\nabc\r\n2\r\nd', 'e\r\n0\r\n\r\n']) {
          await reply.write(piece);
        }
        return reply.end();
      case '/until':
        return reply.end('HTTP/1.0 200 OK\r\n\r\nuntil the end');
      case '/short':
        return reply.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort');
      case '/bad':
        return reply.end('HTTP/1.1 2A\r\n\r\n');
      case '/colon':
        return reply.end('HTTP/1.1 200 OK\r\n@#\r\n\r\n');
      case '/chunk':
        return reply.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx');
      case '/long':
        return { body: 'x'.repeat(200) };
      case '/both':
        return reply.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
      case '/coded':
        return reply.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n');
      case '/twice':
        return reply.end('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na');
      case '/length':
        return reply.end('HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na');
      case '/interim':
        return reply.end(
          'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast',
        );
      case '/interims':
        return reply.end('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000));
      case '/switched':
        return reply.end('HTTP/1.1 101 Switching Protocols\r\n\r\nbody');
      case '/trailers':
        return reply.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n${'a: b\r\n'.repeat(20000)}`);
      case '/extension':
        return reply.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(100000)}`);
      case '/blanks':
        return reply.end(`HTTP/1.1 200 OK\r\nX: a${' '.repeat(8000)}b${' '.repeat(8000)}\r\nContent-Length: 0\r\n\r\n`);
      default:
        return { body: '' };
    }
  });
  const s = await startServer(t, {
    conf: serverConf(
      'js_import t.js; location /get { js_content t.get; js_fetch_timeout 5s; js_fetch_max_response_buffer_size 1k; }',
      'js_fetch_verify off;',
    ),
    files: { 't.js': script },
  });
  const base = `http://127.0.0.1:${origin.port}`;
  const text = async (path: string, init?: object): Promise<string> => (await httpGet(s, `/get${ask(base + path, init)}`)).text;
  const echo = JSON.parse(await text('/echo', { method: 'post', headers: { a: 'b', 'Content-Length': '99' }, body: 'ü' })) as unknown[];
  t.strictSame(echo.slice(0, 3), [201, 'Scripted', true]);
  t.ok((echo[3] as string[]).includes('x=a, b'));
  t.strictSame(echo[4], ['a', 'b']);
  t.equal(
    echo[5],
    'POST /echo HTTP/1.1\r\nUser-Agent: nginx-js\r\na: b\r\nContent-Type: text/plain;charset=UTF-8\r\nConnection: close\r\nContent-Length: 2\r\n\r\nÃ¼',
  );
  t.equal(echo[6], true);
  t.strictSame((JSON.parse(await text('/slowly')) as unknown[]).slice(0, 6), [
    200,
    'Fine',
    true,
    ['Transfer-Encoding=chunked'],
    [],
    'abcde',
  ]);
  t.equal((JSON.parse(await text('/until')) as unknown[])[5], 'until the end');
  t.equal(await text('/short'), 'Error: prematurely closed connection true');
  t.equal(await text('/bad'), 'Error: invalid http status line true');
  t.equal(await text('/colon'), 'Error: invalid http header true');
  t.equal(await text('/chunk'), 'Error: invalid http chunked response true');
  t.equal(await text('/both'), 'Error: invalid http header true');
  await s.logged('js fetch: upstream sent "Content-Length" and "Transfer-Encoding" headers at the same time');
  t.equal(await text('/coded'), 'Error: invalid http header true');
  t.equal(await text('/twice'), 'Error: invalid http header true');
  t.equal(await text('/length'), 'Error: invalid http content length true');
  t.equal((JSON.parse(await text('/interim')) as unknown[])[5], 'last');
  t.equal(await text('/interims'), 'Error: prematurely closed connection true');
  t.equal(await text('/switched'), 'Error: invalid http header true');
  t.equal(await text('/trailers'), 'Error: very large http chunked response true');
  t.equal(await text('/extension'), 'Error: very large http chunked response true');
  t.strictSame((JSON.parse(await text('/blanks', { buffer_size: 20000 })) as unknown[])[3], [
    'Content-Length=0',
    `X=a${' '.repeat(8000)}b`,
  ]);
  t.equal(await text('/long', { max_response_body_size: 100 }), 'Error: http content length is too large true');
  t.equal(await text('/', { method: 'TRACE' }), 'TypeError: forbidden method: TRACE true');
  t.equal(await text('/', { headers: { 'a b': 'c' } }), 'TypeError: invalid header name true');
  t.equal(await text('/', { method: 'GET\u010d\u010aX: y' }), 'TypeError: invalid Request method true');
  t.equal(await text('/', { headers: { a: 'b\r\nc: d' } }), 'TypeError: invalid header value true');
  const passedOn = { host: 'x.example', Connection: 'keep-alive, a', 'Transfer-Encoding': 'chunked', TE: 'trailers', Upgrade: 'h2c' };
  const more = {
    Host: 'y.example',
    'Keep-Alive': 'a',
    Trailer: 'b',
    'Proxy-Connection': 'c',
    Expect: '100-continue',
    'Content-Length': '1',
  };
  const sent = JSON.parse(
    await text('/echo', { method: 'POST', headers: { ...passedOn, ...more, 'X-A': 'z' }, body: 'GET / HTTP/1.1' }),
  ) as unknown[];
  t.equal(
    sent[5],
    'POST /echo HTTP/1.1\r\nUser-Agent: nginx-js\r\nX-A: z\r\nContent-Type: text/plain;charset=UTF-8\r\nConnection: close\r\nContent-Length: 14\r\n\r\nGET / HTTP/1.1',
  );
  const failure = async (url: string): Promise<string> => (await httpGet(s, `/get${ask(url)}`)).text;
  for (const url of [
    'http://a.example\\@127.0.0.1/',
    'http://a.example@127.0.0.1/',
    'http://127.0.0.1\r\nX: y/',
    'http://0x7f.1/',
    'http:///x',
  ]) {
    t.match(await failure(url), /^TypeError: invalid url true$/, url);
  }
  t.equal(await failure('http://127.0.0.1:1/'), 'Error: connect failed true');
  t.equal(await failure('http://localhost/'), 'InternalError: no resolver defined true');
  t.equal(await failure('ftp://localhost/'), 'TypeError: unsupported URL schema (only http or https are supported) true');
});

const makes = `
const B = 'http://127.0.0.1:1/';
const failure = async (make) => { try { return String(await make()); } catch (e) { return e.message; } };
const says = (member, value) => Object.defineProperty(new Request(B), member, { value });
class Liar extends Request { get method() { return 'GET / HTTP/1.1\\r\\nX-Evil: 1\\r\\nX:'; } }
const ways = {
  own: () => ngx.fetch(says('method', 'GET / HTTP/1.1\\r\\nX-Evil: 1\\r\\nX:')),
  kind: () => ngx.fetch(new Liar(B)),
  copied: () => new Request(new Liar(B)),
  address: () => ngx.fetch(says('url', B + '\\r\\nX-Evil: 1')),
  heads: () => ngx.fetch(says('headers', { a: 'b\\r\\nX-Evil: 1' })),
  sizes: () => ngx.fetch(B, { buffer_size: -1 }),
  proto: () => {
    const h = new Headers([['__proto__', 'x'], ['append', 'y'], ['a', 'b']]);
    const copy = Object.assign({}, h);
    return [Object.getPrototypeOf(copy) === Object.prototype, typeof h.append, copy.a, h.get('append'), ({}).x].join();
  },
  order: () => {
    const h = new Headers([['b', '1'], ['A', '2'], ['B', '3'], ['c', '4']]);
    const seen = [h.get('b'), h.getAll('b').length];
    h.set('B', '5'); h.append('b', '6'); h.delete('C'); h.delete('none');
    return [...seen, h.get('b'), h.getAll('B').join('+'), h.has('c'), Object.keys(h).join('+')].join();
  },
  many: () => {
    const h = new Headers();
    for (let i = 0; i < 20000; i++) { h.append('a' + i, 'x'); h.append('a', 'x'); }
    for (let i = 0; i < 20000; i++) { h.set('a' + i, 'y'); h.append('b', 'x'); h.set('b', 'z'); h.getAll('a' + i); }
    for (let i = 0; i < 20000; i++) { h.delete('a' + i); h.has('a'); }
    return [Object.keys(h).length, h.getAll('a').length, h.get('b')].join();
  },
};
async function made(r) {
  const seen = {};
  for (const [name, way] of Object.entries(ways)) { seen[name] = await failure(way); }
  r.return(200, JSON.stringify(seen));
}
export default { made };
`;

t.test('what scripts make of Request and Headers', async (t) => {
  const s = await startServer(t, {
    conf: serverConf('js_import m.js; location / { js_content m.made; }'),
    files: { 'm.js': makes },
  });
  t.strictSame(JSON.parse((await httpGet(s, '/')).text), {
    own: 'invalid Request method',
    kind: 'invalid Request method',
    copied: 'invalid Request method',
    address: 'invalid url',
    heads: 'invalid header value',
    sizes: 'memory error',
    proto: 'true,function,b,y,',
    order: '1, 3,2,5, 6,5+6,false,A+b',
    // In time that grows with the square of their number, no answer comes.
    many: '2,20000,z',
  });
});

t.test('connections are kept, and names looked up', async (t) => {
  const origin = await startOrigin(t, ({ connection, nth }) => ({ body: `${connection}.${nth}` }));
  const names = await startNameServer(t, { 'a.example': [{ type: 'A', value: '127.0.0.1' }] });
  const s = await startServer(t, {
    conf: serverConf(
      `resolver 127.0.0.1:${names.port}; js_fetch_keepalive 2; js_import t.js;
      location /kept { js_content t.twice; }
      location /two { js_fetch_keepalive_requests 2; js_content t.twice; }
      location /off { js_fetch_keepalive 0; js_content t.twice; }
      location /get { js_content t.get; }`,
    ),
    files: { 't.js': script },
  });
  const url = `?url=http://a.example:${origin.port}/`;
  t.equal((await httpGet(s, `/kept${url}`)).text, '1.1,1.2,1.3');
  t.equal((await httpGet(s, `/kept${url}`)).text, '1.4,1.5,1.6', 'another request goes on with the connection');
  t.equal((await httpGet(s, `/two${url}`)).text, '2.1,2.2,3.1');
  t.equal((await httpGet(s, `/off${url}`)).text, '4.1,5.1,6.1');
  t.match((await httpGet(s, `/get${ask('http://b.example/')}`)).text, '"b.example" could not be resolved (3: Host not found)');
});

t.test('TLS, and a proxy', async (t) => {
  const { ca, rsa } = certs();
  const proxy = await startOrigin(t, ({ target, header }) => ({ body: `${target} ${header('proxy-authorization')}` }));
  const s = await startServer(t, {
    conf: httpConf(`
      js_import t.js; js_fetch_trusted_certificate ${ca.cert};
      server { listen 127.0.0.1:%%PORT_0%%;
        location /get { js_content t.get; }
        location /untrusted { js_fetch_trusted_certificate ${rsa.cert}; js_fetch_verify_depth 0; js_content t.get; }
        location /ciphers { js_fetch_protocols TLSv1.2; js_fetch_ciphers NULL-SHA256; js_content t.get; }
        location /proxy { js_fetch_proxy http://user:p%40ss@127.0.0.1:${proxy.port}; js_content t.get; }
        location /none { set $none ""; js_fetch_proxy $none; js_content t.get; } }
      server { listen 127.0.0.1:%%PORT_1%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; return 200 "secret $ssl_protocol"; }
      server { listen 127.0.0.1:%%PORT_2%%; return 200 direct; }`),
    files: { 't.js': script },
  });
  const text = async (path: string, port: number, scheme = 'https', init = {}): Promise<string> =>
    (await httpGet(s, `${path}${ask(`${scheme}://127.0.0.1:${s.port(port)}/x`, init)}`)).text;
  t.match(await text('/get', 1), 'secret TLSv1.3');
  t.equal(await text('/untrusted', 1), 'Error: connect failed true');
  t.match(await text('/untrusted', 1, 'https', { verify: false }), 'secret TLSv1.3');
  t.equal(await text('/ciphers', 1), 'Error: connect failed true');
  t.match(await text('/proxy', 2, 'http'), `http://127.0.0.1:${s.port(2)}/x Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  t.match(await text('/none', 2, 'http'), 'direct');
  await s.stop();
  t.match(s.read('error.log'), /js http SSL certificate verify error: \(\d+:/);
  t.match(s.read('error.log'), /js fetch SSL_do_handshake\(\) failed \(SSL: error:0A0000B5:SSL routines::no ciphers available/);
});

t.test('what a proxy may answer to CONNECT', async (t) => {
  const answers: Readonly<Record<string, string>> = {
    refused: 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno',
    garbage: 'garbage\r\n\r\n',
    head: 'HTTP/1.1 200 OK\r\nbad\x01: x\r\n\r\n',
    half: 'HTTP/1.1 200 OK\r\n',
    nothing: '',
  };
  const proxy = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => socket.end(answers[/^CONNECT (\w+)/.exec(bytes.toString())?.[1] ?? ''] ?? ''));
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  t.teardown(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const s = await startServer(t, {
    conf: serverConf(`location / { js_fetch_proxy http://127.0.0.1:${port}; js_content t.get; }`, 'js_import t.js;'),
    files: { 't.js': script },
  });
  const told = async (host: string): Promise<string> => (await httpGet(s, `/${ask(`https://${host}/`)}`)).text;
  t.match(await told('refused'), 'Error: proxy CONNECT failed with status 407');
  t.match(await told('garbage'), 'Error: proxy CONNECT: invalid status line');
  t.match(await told('head'), 'Error: proxy CONNECT: invalid headers');
  t.match(await told('half'), 'Error: prematurely closed connection');
  t.match(await told('nothing'), 'Error: prematurely closed connection');
  t.match(await told(`${'a.'.repeat(127)}bc`), 'TypeError: Host name too long');
});

t.test('what is refused', async (t) => {
  const message = (text: string): Promise<string | undefined> => configMessage(t, serverConf(text));
  t.match(String(await message('js_fetch_proxy https://a;')), 'invalid proxy URL: https://a in');
  t.match(String(await message('js_fetch_trusted_certificate /nowhere.pem;')), '/nowhere.pem');
  t.match(String(await message('js_engine v8;')), 'invalid value "v8" in');
});

t.test('a response that breaks off is no beginning of that of the next address', async (t) => {
  const begun = 'HTTP/1.1 200 OK\r\nContent-Length: 120\r\nX-Of: first\r\n\r\nof the first server';
  const origin = await startOrigin(t, async (_request, reply): Promise<OriginAnswer | undefined> => {
    if (origin.connections() > 1) {
      return { headers: { 'X-Of': 'second' }, body: 'whole' };
    }
    await reply.write(begun);
    await seen;
    return reply.reset();
  });
  const dns = await startNameServer(t, {
    'two.test': [
      { type: 'A', value: '127.0.0.1' },
      { type: 'A', value: '127.0.0.1' },
    ],
  });
  const s = await startServer(t, {
    conf: serverConf(
      `location /get { js_content main.get; }`,
      `js_path %%DIR%%; js_import main from t.js; resolver 127.0.0.1:${dns.port} ipv6=off;`,
    ),
    files: { 't.js': script },
  });
  // What is written is read before the connection breaks: the worker has answered something else in the meantime.
  const seen = origin.received(1).then(() => httpGet(s, '/nothing'));
  const { text } = await httpGet(s, `/get${ask(`http://two.test:${origin.port}/`)}`);
  t.strictSame(JSON.parse(text).slice(3), [['Connection=close', 'Content-Length=5', 'X-Of=second'], [], 'whole', true]);
});
