import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { Http2Client, request } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';

const { rsa } = certs();

/** Fields that HTTP/1 has for what HTTP/2 says with frames: they may differ. */
const FRAMING = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection']);

/** Heads of a backend, by their names; the body is `body`, in a chunk where nothing else is said. */
const HEADS: Readonly<Record<string, string>> = {
  plain: '200 OK\r\nContent-Type: text/plain',
  location201: '201 Created\r\nLocation: /made/1',
  location202: '202 Accepted\r\nLocation: later?x=1',
  relative: '302 Found\r\nLocation: next',
  path: '302 Found\r\nLocation: /next',
  absolute: '302 Found\r\nLocation: http://other.test/x',
  own: '302 Found\r\nLocation: http://backend.test/x',
  empty: '302 Found\r\nLocation:',
  lower: '302 Found\r\nlocation: /next',
  moved: '301 Moved\r\nLocation: //double',
  query: '303 See Other\r\nLocation: ?q=1',
  fragment: '307 T\r\nLocation: #f',
  oddcase: '308 P\r\nLOCATION: ../up',
  locations: '302 Found\r\nLocation: /one\r\nLocation: /two',
  contentlocation: '200 OK\r\nContent-Location: /x',
  cookies: '200 OK\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2',
  server: '200 OK\r\nServer: theirs\r\nDate: Thu, 01 Jan 1970 00:00:10 GMT',
  modified: '200 OK\r\nLast-Modified: Thu, 01 Jan 1970 00:00:10 GMT\r\nETag: "e"',
  oddmodified: '200 OK\r\nLast-Modified: yesterday\r\nETag: nonsense',
  modified404: '404 Not Found\r\nLast-Modified: Thu, 01 Jan 1970 00:00:10 GMT\r\nETag: W/"e"',
  nocontent: '204 No Content\r\nContent-Type: text/x\r\nX-A: b',
  nocontentmodified: '204 No Content\r\nLast-Modified: Thu, 01 Jan 1970 00:00:10 GMT\r\nLocation: /made',
  nocontentlength: '204 No Content\r\nContent-Length: 4',
  notmodified: '304 Not Modified\r\nETag: "e"\r\nContent-Type: text/x',
  reset205: '205 Reset\r\nX-A: b',
  refresh: '200 OK\r\nRefresh: 1; url=http://backend.test/x',
  challenge: '401 Unauthorized\r\nWWW-Authenticate: Basic realm=a\r\nWWW-Authenticate: Bearer',
  proxychallenge: '407 P\r\nProxy-Authenticate: Basic realm=a',
  connection: '200 OK\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=1\r\nProxy-Connection: close\r\nUpgrade: h2c',
  te: '200 OK\r\nTE: trailers\r\nTrailer: x-t',
  encoding: '200 OK\r\nContent-Encoding: zip\r\nVary: Accept',
  emptyencoding: '200 OK\r\nContent-Encoding:\r\nX-A: b',
  types: '200 OK\r\nContent-Type: text/html; a=b; charset="utf-8"\r\nContent-Language: de',
  emptytype: '200 OK\r\nContent-Type:\r\nX-Empty:',
  odd: '299 Odd reason\r\nX_Under: 1\r\nx.dot: 2\r\nX-Case: MiXed',
  ranges: '200 OK\r\nAccept-Ranges: bytes\r\nContent-Range: bytes 0-3/4\r\nExpires: 0\r\nCache-Control: no-store, max-age=1',
  partial: '206 Partial\r\nContent-Range: bytes 0-3/9\r\nLast-Modified: Thu, 01 Jan 1970 00:00:10 GMT',
  gone: '410 Gone\r\nX-A: b',
  broken: '503 Busy\r\nRetry-After: 5',
  bytes: '200 OK\r\nX-Bytes: \xe4\xf6 \t end',
  link: '200 OK\r\nLink: </a.css>; rel=preload\r\nX-Accel-Expires: 0\r\nX-Accel-Buffering: no\r\nX-Accel-Charset: koi8-r\r\nStatus: 404',
  accel: '200 OK\r\nX-Accel-Redirect: /file\r\nSet-Cookie: a=1\r\nContent-Type: text/accel\r\nLocation: /lost',
};

const BACKEND = `proxy_pass http://127.0.0.1:%%PORT_4%%/`;

const LOCATIONS = `
  location = /ok { return 200 text; }
  location = /nothing { return 204; }
  location = /void { return 200; }
  location = /moved { return 301 /there; }
  location = /found { return 302 http://other.test/; }
  location = /none { return 302 ""; }
  location = /relative { absolute_redirect off; return 307 /there; }
  location = /named { server_name_in_redirect on; port_in_redirect off; return 308 /there; }
  location = /rewrite { rewrite ^ /there? redirect; }
  location = /created { return 201 /there; }
  location = /teapot { return 418 x; }
  location = /closed { return 400; }
  location = /page { error_page 404 =200 /file; return 404; }
  location = /pages { error_page 404 /missing-too; return 404; }
  location = /elsewhere { error_page 404 https://other.test/x; return 404; }
  location = /elsewhere307 { error_page 404 =307 /x?y; return 404; }
  location = /added { add_header Location /added; add_header X-A b; add_header ETag mine; add_header Server mine; add_header Date mine;
    add_header Last-Modified "Thu, 01 Jan 1970 00:00:10 GMT"; add_header Vary Cookie; add_header Content-Length-X 1; return 200 x; }
  location = /addedmoved { add_header Location /added; add_header Vary a always; return 301 /there; }
  location = /addedalways { add_header X-A b always; add_header X-T $sent_http_content_type always; return 404; }
  location = /expires { expires 1h; add_header Cache-Control public; alias %%DIR%%/html/file; }
  location = /trailer { add_trailer X-T tail; return 200 x; }
  location = /trailers { add_trailer X-T $upstream_status; add_trailer X-U u always; proxy_pass http://127.0.0.1:%%PORT_4%%/plain; }
  location = /cookie { userid on; userid_name u; userid_path /; add_header X-Set $uid_set; return 204; }
  location = /gzip { gzip on; gzip_vary on; gzip_min_length 1; gzip_types text/plain; alias %%DIR%%/html/file; }
  location = /gzipoff { gzip on; gzip_vary on; gzip_min_length 1; gzip_types text/plain; gzip_http_version 1.1; gzip_proxied off; alias %%DIR%%/html/file; }
  location = /static { gzip_static on; gzip_vary on; alias %%DIR%%/html/file; }
  location = /charset { charset koi8-r; source_charset koi8-r; alias %%DIR%%/html/file; }
  location = /noetag { etag off; alias %%DIR%%/html/file; }
  location = /noranges { max_ranges 0; alias %%DIR%%/html/file; }
  location = /norange { max_ranges 0; add_header X-T $sent_http_content_type always; alias %%DIR%%/html/file; }
  location = /ssi { ssi on; ssi_types text/plain; alias %%DIR%%/html/file; }
  location = /sub { sub_filter a b; sub_filter_types text/plain; sub_filter_last_modified on; alias %%DIR%%/html/file; }
  location = /gif { empty_gif; }
  location = /list/ { autoindex on; alias %%DIR%%/html/list/; }
  location = /private { auth_basic r; return 200; alias %%DIR%%/html/file; }
  location = /secret { auth_basic r; auth_basic_user_file %%DIR%%/none; alias %%DIR%%/html/file; }
  location = /limited { limit_except GET { deny all; } alias %%DIR%%/html/file; }
  location = /denied { deny all; }
  location = /tokens { server_tokens off; return 404; }
  location = /down { proxy_pass http://127.0.0.1:1/; }
  location = /downpage { error_page 502 = /moved; proxy_pass http://127.0.0.1:1/; }
  location = /js { return 200 "$sent_http_x_a|$status"; add_header X-A 1; }
  location = /mapped { add_header X-Map "$sent_http_location|$sent_http_content_type|$sent_http_content_length" always; return 301 /there; }
  location /p/ { ${BACKEND}; }
  location /off/ { ${BACKEND}; proxy_redirect off; }
  location /re/ { ${BACKEND}; proxy_redirect http://backend.test/ /mine/; proxy_redirect /next /rewritten; proxy_cookie_path / /c; }
  location /pass/ { ${BACKEND}; proxy_pass_header Server; proxy_pass_header Date; proxy_hide_header X-A; }
  location /buf/ { ${BACKEND}; proxy_buffering off; }
  location /cache/ { ${BACKEND}; proxy_cache z; proxy_cache_valid any 1h; proxy_ignore_headers Cache-Control Expires Set-Cookie X-Accel-Expires;
    add_header X-Cache $upstream_cache_status always; }
  location /add/ { ${BACKEND}; add_header Location /a always; add_header Content-Type b; add_header X-L $sent_http_location always; expires 1h; }
  location /icept/ { ${BACKEND}; proxy_intercept_errors on; error_page 302 404 410 503 401 =203 /file; }
  location /force/ { ${BACKEND}; proxy_force_ranges on; gunzip on; gzip_vary on; gzip on; gzip_proxied any; gzip_min_length 1; }
  location /char/ { ${BACKEND}; charset utf-8; charset_types *; override_charset on; }`;

const CONF = `
  proxy_cache_path %%DIR%%/cache keys_zone=z:1m;
  log_format sent escape=none '$http_x_nth|$sent_http_location';
  types { text/plain txt; } default_type text/plain;
  ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
  server {
    listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; http2 on; server_name localhost; port_in_redirect off;
    root %%DIR%%/html; access_log %%DIR%%/sent.log sent;
    proxy_http_version 1.1; proxy_set_header Connection "";
    ${LOCATIONS}
  }`;

/** Requests: a method, a path and headers. */
type Asked = readonly [method: string, path: string, headers: Readonly<Record<string, string>>];

function requests(): Asked[] {
  const own = [...LOCATIONS.matchAll(/location = (\S+)/g)].map(([, path]) => path!);
  const proxied = [...LOCATIONS.matchAll(/location (\/\S+\/) \{/g)].flatMap(([, path]) => Object.keys(HEADS).map((name) => path! + name));
  const get = [...own, '/missing', '/list', ...proxied].map((path): Asked => ['GET', path, {}]);
  const head = get.filter(([, path]) => !/^\/(off|re|buf|icept|char)\//.test(path)).map(([, path]): Asked => ['HEAD', path, {}]);
  const conditional = ['/file', '/gzip', '/static', '/expires', '/p/modified', '/cache/modified', '/force/modified'].flatMap((path) =>
    [
      { Range: 'bytes=0-1' },
      { Range: 'bytes=99999-' },
      { Range: 'bytes=0-0,2-2' },
      { 'If-Modified-Since': 'Sun, 01 Jan 2034 00:00:00 GMT' },
      { 'If-None-Match': '*' },
      { 'If-Match': '"other"' },
      { 'Accept-Encoding': 'gzip' },
    ].map((headers): Asked => ['GET', path, headers]),
  );
  const others: Asked[] = [
    ['POST', '/file', {}],
    ['DELETE', '/limited', {}],
    ['OPTIONS', '/ok', {}],
    ['GET', '/norange', { Range: 'bytes=99-' }],
    ['GET', '/noranges', { Range: 'bytes=0-1' }],
    ['GET', '/ok', { Expect: 'something' }],
  ];
  return [...get, ...head, ...conditional, ...others];
}

/** What a client saw: the status, the fields in their order but for those of {@link FRAMING}, body and trailers. */
function seen(
  status: number,
  fields: readonly (readonly [string, string])[],
  body: string,
  trailers: readonly (readonly [string, string])[],
): string {
  const line = ([name, value]: readonly [string, string]): string =>
    `${name.toLowerCase()}: ${value
      .replace(/boundary=\d+/, 'boundary=N')
      .replace(/^u=\S+/, 'u=X')
      .replace(/^\w{3}, \d\d \w{3} 20\d\d [\d:]{8} GMT$/, 'a date')}`;
  const kept = fields.filter(([name]) => !FRAMING.has(name.toLowerCase())).map(line);
  return [status, ...kept, '', body.replace(/^--\d+/gm, '--N'), ...trailers.map(line)].join('\n');
}

/** Responses by the number of their request. */
type Found = string[];

async function overHttp1(s: Server, asked: readonly Asked[], by: string, tls: boolean): Promise<Found> {
  const found: Found = [];
  let next = 0;
  const ask = async (): Promise<void> => {
    let client: RawClient | undefined;
    for (let i = next++; i < asked.length; i = next++) {
      const [method, path, headers] = asked[i]!;
      client ??= await RawClient.connect(s.port(tls ? 1 : 0), tls ? { tls: { servername: 'localhost' } } : {});
      const response = await client.send(requestText(method, path, { 'X-Nth': `${by}${i}`, ...headers })).response();
      found[i] = seen(response.status, response.headers, response.text, response.trailers);
      if (response.header('connection') === 'close') {
        client.destroy();
        client = undefined;
      }
    }
    client?.destroy();
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  return found;
}

async function overHttp2(t: Test, s: Server, asked: readonly Asked[], by: string, tls: boolean): Promise<Found> {
  const client = await Http2Client.connect(t, s.port(tls ? 1 : 0), { tls });
  const found: Found = [];
  let next = 0;
  const ask = async (): Promise<void> => {
    for (let i = next++; i < asked.length; i = next++) {
      const [method, path, headers] = asked[i]!;
      const fields = Object.entries({ 'x-nth': `${by}${i}`, ...headers }).map(([name, value]) => [name.toLowerCase(), value] as const);
      const id = 2 * i + 1;
      const { status, list, body, trailers } = await client.request(id, request(method, path, ...fields)).response(id);
      found[i] = seen(
        Number(status),
        list.filter(([name]) => name !== ':status'),
        body,
        trailers,
      );
    }
  };
  await Promise.all(Array.from({ length: 8 }, ask));
  client.socket.destroy();
  return found;
}

/** All clients get the same response, whatever they speak; what was sent is what the log says. */
t.test('the same response over HTTP/1.1 and HTTP/2, in plain text and over TLS', async (t) => {
  const origin = await startOrigin(t, ({ target, method }) => {
    const head = HEADS[target.slice(1)] ?? '404 Not Found';
    const bare = method === 'HEAD' || /^(204|304)/.test(head);
    if (/\r\nContent-Length/.test(head)) {
      return `HTTP/1.1 ${head}\r\n\r\n`;
    }
    return bare
      ? `HTTP/1.1 ${head}\r\nTransfer-Encoding: chunked\r\n\r\n`
      : `HTTP/1.1 ${head}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n`;
  });
  const s = await startServer(t, {
    conf: httpConf(CONF.replaceAll('%%PORT_4%%', String(origin.port))),
    files: { 'html/file': 'a file\n', 'html/file.gz': 'zipped', 'html/list/a': '', 'html/missing-too.x': '' },
  });
  const asked = requests();
  // What is cached is so for all four.
  const cached = asked.filter(([, path]) => path.startsWith('/cache/'));
  await overHttp1(s, cached, 'cached', false);
  const found: Record<string, Found> = {
    http1: await overHttp1(s, asked, 'http1-', false),
    http2: await overHttp2(t, s, asked, 'http2-', false),
    tls: await overHttp1(s, asked, 'tls-', true),
    http2tls: await overHttp2(t, s, asked, 'http2tls-', true),
  };
  const plain = found.http1!;
  for (const way of ['http2', 'tls', 'http2tls']) {
    const different = asked.flatMap(([method, path, headers], i) => {
      // A body in chunks has no length: what trailers follow has none over HTTP/1.
      const expected = (way.endsWith('tls') ? plain[i]!.replaceAll('http://localhost', 'https://localhost') : plain[i]!).replace(
        /(?=\n\n.+\nx-t: tail)/,
        way === 'tls' ? '' : '\ncontent-length: 1',
      );
      return found[way]![i] === expected
        ? []
        : [{ what: `${method} ${path} ${JSON.stringify(headers)}`, plain: expected, other: found[way]![i] }];
    });
    t.strictSame(different, [], way);
  }
  const typed = asked.findIndex(([, path]) => path === '/p/nocontent');
  t.match(plain[typed], /^204\n(.*\n)*content-type: text\/x\n/, 'a backend may say of what type its 204 is');
  await s.stop();
  const logged = new Map(
    s
      .read('sent.log')
      .trim()
      .split('\n')
      .map((line) => line.split('|') as [string, string]),
  );
  for (const [way, responses] of Object.entries(found)) {
    const wrong = responses.flatMap((response, i) => {
      const sent = [...response.matchAll(/^location: (.*)$/gm)].map(([, value]) => value!);
      const log = logged.get(`${way}-${i}`);
      // A variable keeps the value that it had when a header was made of it.
      if (/^\/(mapped|add\/)/.test(asked[i]![1])) {
        return [];
      }
      // Of several, the log has the one that the server itself sets, or all.
      return log === (sent[0] ?? '') || log === sent.join(', ') ? [] : [[asked[i], sent, log]];
    });
    t.strictSame(wrong, [], `$sent_http_location over ${way}`);
  }
});
