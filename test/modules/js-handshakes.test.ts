import { connect as connectHttp2 } from 'node:http2';
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { noQuicClient, quicGet } from '../support/gtlsclient.js';
import { startOrigin } from '../support/origin.js';
import { exchange, httpGet, RawClient } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { startServer } from '../support/server.js';
import { startTcpBackend } from '../support/tcp-backend.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('these are not in njs');
}

const MODULE = `
import fs from 'fs';
const pair = (name) => ({ certificate: fs.readFileSync(CERTS + '/' + name + '.crt'), key: fs.readFileSync(CERTS + '/' + name + '.key', 'utf8') });
let calls = {};
async function certificate(name, hello) {
  calls[name] = (calls[name] ?? 0) + 1;
  if (name === 'sync.example.com') throw new Error('at the certificate');
  const reply = await ngx.fetch(ASK + '?domain=' + name);
  if (reply.status !== 200) return;
  const answer = await reply.text();
  if (answer === 'wrong') return { certificate: 'x', key: 'y' };
  if (answer === 'half') return { certificate: 'x' };
  if (answer === 'other') return { ...pair('rsa'), key: pair('ecdsa').key };
  return pair(answer);
}
function atOnce(name) { return name === 'none.example.com' ? undefined : pair('second'); }
async function never(name) { if (name === 'never.example.com') await new Promise(() => {}); return pair('second'); }
async function hello(h) {
  ngx.log(ngx.WARN, 'hello ' + [h.serverName, h.protocols.join('+'), h.tls13, h.remoteAddress, h.ciphers.length > 1, h.groups.length > 0, h.signatureAlgorithms.length > 0, h.localPort > 0].join());
  if (h.serverName === 'slow.example.com') await new Promise((done) => setTimeout(done, 20));
  if (h.serverName === 'refused.example.com') return false;
  if (h.serverName === 'alert.example.com') return 112;
  if (h.serverName === 'bad.example.com') return 5000;
  if (h.serverName === 'thrown.example.com') throw new Error('at the hello');
}
export default { certificate, hello, atOnce, never, calls: (r) => r.return(200, JSON.stringify(calls)) };`;

t.test('certificates and hellos by scripts', async (t) => {
  const { dir, rsa } = certs();
  const answers: Record<string, string> = { a: 'second', b: 'ecdsa', wrong: 'wrong', half: 'half', other: 'other' };
  const origin = await startOrigin(t, ({ target }) => {
    const answer = answers[/domain=(\w+)\./.exec(target)?.[1] ?? ''];
    return answer === undefined ? { status: 404 } : { body: answer };
  });
  const s = await startServer(t, {
    conf: `worker_processes 1; events {}
http {
  js_import main.js; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key}; http2 on;
  server { listen 127.0.0.1:%%PORT_0%% ssl; ssl_early_data on; js_client_hello main.hello; js_ssl_certificate main.certificate valid=1h timeout=1m; location / { js_content main.calls; } }
  server { listen 127.0.0.1:%%PORT_1%% ssl; js_ssl_certificate main.atOnce cache=0; return 200 "$ssl_server_name"; }
  server { listen 127.0.0.1:%%PORT_2%% ssl; js_ssl_certificate main.never timeout=50ms; return 200 ok; }
  server { listen 127.0.0.1:%%PORT_3%% ssl; ssl_reject_handshake on; js_ssl_certificate main.atOnce; return 200 ok; }
  server { listen 127.0.0.1:%%PORT_5%% ssl; js_ssl_certificate main.none; return 200 ok; }
}
stream {
  js_import main.js; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
  server { listen 127.0.0.1:%%PORT_4%% ssl; js_client_hello main.hello; js_ssl_certificate main.certificate; return "$ssl_server_name"; }
}`,
    files: { 'main.js': MODULE.replaceAll('CERTS', `'${dir}'`).replace('ASK', `'http://127.0.0.1:${origin.port}/ask'`) },
    expectAlerts: /at the|alert is between|js |PEM_read|key values|certificate and its key/,
    asRoot: true,
  });
  const subject = async (port: number, name: string | undefined): Promise<string> => {
    try {
      const client = await RawClient.connect(s.port(port), { tls: name === undefined ? {} : { servername: name } });
      const found = client.tls.getPeerX509Certificate()!;
      client.destroy();
      return `${found.publicKey.asymmetricKeyType} ${/CN=(.*)/.exec(found.subject)?.[1]}`;
    } catch (error) {
      return /alert (.*?):|(ECONNRESET)/.exec(String(error))?.[0] ?? String(error);
    }
  };
  const own = await subject(5, undefined);
  const second = await subject(1, 'x.example.com');
  t.not(own, second);
  const rows: [number, string | undefined, string | RegExp][] = [
    [0, 'a.example.com', second],
    [0, 'b.example.com', /^ec /],
    [0, 'c.example.com', own],
    [0, undefined, own],
    [0, 'wrong.example.com', /alert internal error/],
    [0, 'half.example.com', /alert internal error/],
    [0, 'other.example.com', /alert internal error/],
    [0, 'sync.example.com', /alert internal error/],
    [0, 'refused.example.com', /alert access denied/],
    [0, 'alert.example.com', /alert unrecognized name|unrecognized name/],
    [0, 'bad.example.com', /alert internal error/],
    [0, 'thrown.example.com', /alert internal error/],
    [0, 'slow.example.com', own],
    [1, 'none.example.com', own],
    [2, 'never.example.com', /alert internal error/],
    [2, 'other.example.com', second],
    [3, 'none.example.com', /unrecognized name/],
    [3, 'any.example.com', second],
    [5, 'x.example.com', /alert internal error/],
    [4, 'a.example.com', second],
    [4, 'refused.example.com', /alert access denied/],
  ];
  for (const [port, name, expected] of rows) {
    t.match(await subject(port, name), typeof expected === 'string' ? new RegExp(`^${expected}$`) : expected, `${port} ${name}`);
  }
  await s.logged(/js: hello a\.example\.com,,true,127\.0\.0\.1,true,true,true,true/);
  await s.logged(/js function "main\.never" timed out while SSL handshaking/);
  await s.logged(/js function "main\.none" not found/);

  // A name is asked for once, however many come at a time.
  answers['many'] = 'second';
  t.strictSame(new Set(await Promise.all(Array.from({ length: 20 }, () => subject(0, 'many.example.com')))), new Set([second]));
  t.equal(origin.requests.filter(({ target }) => target.endsWith('=many.example.com')).length, 1);
  t.equal((await httpGet(s.port(1), '/', {}, { tls: { servername: 'y.example.com' } })).text, 'y.example.com');
  t.equal(await exchange(s.port(4), '', { tls: { servername: 'b.example.com' } }), 'b.example.com');
  const session = connectHttp2(`https://127.0.0.1:${s.port(0)}`, { rejectUnauthorized: false, servername: 'slow.example.com' });
  const calls = await new Promise<string>((done, fail) => {
    let text = '';
    session.on('error', fail);
    session
      .request({ ':path': '/' })
      .setEncoding('latin1')
      .on('data', (piece: string) => (text += piece))
      .on('end', () => done(text));
  });
  session.close();
  t.equal(JSON.parse(calls)['many.example.com'], 1);

  // Clients that leave, and bytes that come, while a decision is waited for.
  let hello = Buffer.alloc(0);
  const sink = await startTcpBackend(t, (socket) => socket.on('data', (bytes) => (hello = Buffer.concat([hello, bytes]))));
  const capturing = RawClient.connect(sink.port, { tls: { servername: 'never.example.com' } });
  capturing.catch(() => {});
  await waitFor(() => hello.length > 5 && hello.length >= 5 + hello.readUInt16BE(3));
  for (const leave of [
    (client: RawClient) => client.destroy(true),
    (client: RawClient) => client.end(),
    (client: RawClient) => client.send('x'.repeat(100_000)),
  ]) {
    const client = await RawClient.connect(s.port(2));
    leave(client.send(hello));
    await waitFor(() => client.ended || client.socket.destroyed);
    client.destroy();
  }
  t.equal(await subject(2, 'after.example.com'), second);
  await s.reload();
  t.equal(await subject(0, 'a.example.com'), second);
});

t.test('over QUIC, where nothing waits', { skip: noQuicClient }, async (t) => {
  const { dir } = certs();
  const s = await startServer(t, {
    conf: `events {} http { js_import main.js; ssl_reject_handshake on;
  server { listen 127.0.0.1:%%PORT_0%% quic; http3 on; js_client_hello main.judge; js_ssl_certificate main.late; location / { return 200 "$ssl_server_name"; } } }`,
    files: {
      'main.js': `import fs from 'fs'; const read = (name) => fs.readFileSync('${dir}/second.' + name);
export default { judge: () => true, async late() { await null; return { certificate: read('crt'), key: read('key') }; } };`,
    },
    asRoot: true,
  });
  t.strictSame((await quicGet(s.port(0), ['/a'])).heads, [], 'the function takes time');
  await s.logged(/a script takes time, for which no handshake over QUIC waits/);
  const { heads, bodies } = await quicGet(s.port(0), ['/a']);
  t.strictSame([heads[0]?.[':status'], bodies['a']], ['200', 'localhost'], 'what it gave is kept');
});

t.test('handshake functions that cannot be', async (t) => {
  const files = { 'main.js': 'export default { f() {} };' };
  const { rsa } = certs();
  const tls = `ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};`;
  for (const [text, message] of [
    ['server { js_client_hello a.b; }', /no imports defined for "js_client_hello" "a\.b"/],
    ['js_import main.js; js_client_hello main.f;', /"js_client_hello" directive is not allowed here/],
    ['js_import main.js; server { js_client_hello main.f; js_client_hello main.f; }', /"js_client_hello" directive is duplicate/],
    ['js_import main.js; server { js_ssl_certificate main.f cache=x; }', /invalid parameter "cache=x"/],
    ['js_import main.js; server { js_ssl_certificate main.f valid=0; }', /invalid parameter "valid=0"/],
    ['js_import main.js; server { js_ssl_certificate main.none; }', /\[warn\] .*js function "main\.none" not found/],
    [
      `js_import main.js; server { listen 127.0.0.1:443 quic; ${tls} js_ssl_certificate main.f; }`,
      /\[warn\] .*handshakes over QUIC do not wait for "js_client_hello" and "js_ssl_certificate"/,
    ],
  ] as const) {
    t.match((await testConfig(t, `events {} http { ${text} }`, files)).stderr, message);
  }
});
