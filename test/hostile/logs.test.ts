import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { startOrigin } from '../support/origin.js';
import { RawClient } from '../support/raw-client.js';
import { startServer } from '../support/server.js';

const jsonLog = againstNginx ? '' : 'error_log %%DIR%%/error.json info json;';

const conf = (origin: number): string => `${jsonLog}
events {}
http {
  log_format all '$remote_user|$request|$uri|$args|$http_x|$cookie_c|$host|$http_referer|$upstream_http_x|$sent_http_x';
  log_format json escape=json '{"user":"$remote_user","request":"$request","uri":"$uri","x":"$http_x","c":"$cookie_c","up":"$upstream_http_x"}';
  access_log %%DIR%%/all.log all;
  access_log %%DIR%%/json.log json;
  client_body_temp_path %%DIR%%/client_body_temp;
  underscores_in_headers on;
  ignore_invalid_headers off;
  rewrite_log on;
  server {
    listen 127.0.0.1:%%PORT_0%%;
    root %%DIR%%/html;
    location / { auth_basic x; auth_basic_user_file %%DIR%%/users; }
    location /rewritten { rewrite ^(.*)$ /files$1 last; }
    location /files { }
    location /back { proxy_pass http://127.0.0.1:${origin}; proxy_read_timeout 2s; }
  }
}
`;

// Each request may be refused; it is its lines in the logs that count.
t.test('whatever byte a client or a backend sends, each line of a log is one line of printable text', async (t) => {
  const origin = await startOrigin(t, (request) => {
    const byte = Number(request.header('x-byte'));
    const value = `a${String.fromCharCode(byte)}b`;
    const place = request.target.endsWith('1') ? `HTTP/1.1 200 OK\r\nX: ${value}\r\n` : `HTTP/1.1 200 OK\r\n${value}: x\r\n`;
    return `${place}Content-Length: 0\r\nConnection: close\r\n\r\n`;
  });
  const server = await startServer(t, { conf: conf(origin.port), files: { users: 'u:{PLAIN}p\n', 'html/a': '' }, logLevel: 'info' });
  const send = async (text: string): Promise<void> => {
    const client = await RawClient.connect(server);
    client.send(text).end();
    await client.closed();
  };
  const each: string[] = [];
  for (let byte = 0; byte < 256; byte++) {
    const c = String.fromCharCode(byte);
    const encoded = `%${byte.toString(16).padStart(2, '0')}`;
    const user = Buffer.from(`u${c}[emerg] forged:p`, 'latin1').toString('base64');
    const head = 'Host: localhost\r\nConnection: close\r\n';
    each.push(
      `GET /files/a${c}b?c${c}d HTTP/1.1\r\n${head}\r\n`,
      `GET /files/a${encoded}b HTTP/1.1\r\n${head}\r\n`,
      `GET /rewritten/a${encoded}b HTTP/1.1\r\n${head}\r\n`,
      `GET / HTTP/1.1\r\n${head}Authorization: Basic ${user}\r\nX: a${c}b\r\nReferer: a${c}b\r\nCookie: c=a${c}b\r\n\r\n`,
      `GET /files HTTP/1.1\r\n${head}a${c}b: x\r\n\r\n`,
      `GET /files HTTP/1.1\r\nHost: a${c}b\r\nConnection: close\r\n\r\n`,
      `G${c}T /files HTTP/1.1\r\n${head}\r\n`,
      `GET /back1 HTTP/1.1\r\n${head}X-Byte: ${byte}\r\n\r\n`,
      `GET /back2 HTTP/1.1\r\n${head}X-Byte: ${byte}\r\n\r\n`,
      `POST /back1 HTTP/1.1\r\n${head}Content-Length: 1${c}\r\n\r\n1`,
    );
  }
  for (let i = 0; i < each.length; i += 16) {
    await Promise.all(each.slice(i, i + 16).map(send));
  }
  await server.stop('QUIT');

  const all = server.read('all.log');
  t.equal(all.split('\n').length - 1, each.length, 'a line for each request');
  t.notMatch(all, /[^\n -~]/, 'printable ASCII');
  t.notMatch(all, /(?<!\\)\\(?!x[0-9A-F]{2})/, 'no backslash that escapes nothing');
  const json = server.read('json.log').trimEnd().split('\n');
  t.equal(json.length, each.length);
  if (!againstNginx) {
    for (const line of json) {
      t.type(JSON.parse(Buffer.from(line, 'latin1').toString('utf8')), 'object');
    }
    // nginx writes much of the error log as it came.
    t.notMatch(server.log(), /[^\n -~\x80-\xff]/, 'the error log has no control characters');
    const errors = server.log().trimEnd().split('\n');
    const broken = errors.find((line) => !/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d \[\w+\] \d+#\d+: /.test(line));
    t.equal(broken, undefined, 'each line of the error log begins as one');
    for (const line of server.read('error.json').trimEnd().split('\n')) {
      t.type(JSON.parse(Buffer.from(line, 'latin1').toString('utf8')), 'object');
    }
  }
});
