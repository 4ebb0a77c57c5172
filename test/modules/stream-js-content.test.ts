import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs, pem } from '../support/certs.js';
import { DatagramPeer } from '../support/datagrams.js';
import { exchange, RawClient } from '../support/raw-client.js';
import { testConfig } from '../support/run-cli.js';
import { startServer, streamConf } from '../support/server.js';
import { waitFor } from '../support/wait.js';

if (againstNginx) {
  t.bailout('js_content is not in njs of stream');
}

const MODULE = `
async function lines(s) {
  await s.write('hello ' + s.remoteAddress + ' ' + s.variables.name + '\\n');
  for (let line = await s.readLine(20); line !== null; line = await s.readLine(20)) {
    if (line === 'quit') return;
    await s.write('<' + line + '>');
  }
  await s.end('bye');
}
async function framed(s) {
  for (let head = await s.read(2); head !== null && head.length === 2; head = await s.read(2)) {
    const body = await s.read(head.readUInt16BE(0));
    await s.write(Buffer.concat([head, Buffer.from(body).reverse()]));
  }
}
async function echo(s) { for await (const bytes of s) await s.write(bytes); }
async function flood(s) {
  const piece = Buffer.alloc(65536, 120); let n = 0;
  for (; n < 1024; n++) { const written = s.write(piece); ngx.shared.counts.incr('pieces', 1, 0); if (n < 1000 && await Promise.race([written, new Promise((done) => setTimeout(done, 50, 'late'))]) === 'late') s.warn('waits'); await written; }
}
async function reckless(s) { const piece = Buffer.alloc(1048576); const all = []; for (let i = 0; i < 64; i++) all.push(s.write(piece)); const ends = await Promise.allSettled(all); s.warn('refused ' + ends.filter(({ reason }) => reason instanceof RangeError).length); }
async function thrown(s) { await s.read(); throw new Error('on purpose'); }
async function idle(s) { try { await s.read(); } catch (e) { await s.write(e.name + ' ' + e.code); } }
async function cleanup(s) { try { await s.read(); await s.read(); } finally { s.warn('cleaned'); } }
async function halves(s) { await s.end('first'); const rest = []; for await (const b of s) rest.push(b); s.warn('after the end: ' + Buffer.concat(rest)); try { await s.write('x'); } catch (e) { s.warn('refused ' + e.name); } }
async function wrong(s) { const say = []; for (const f of [() => s.read(-1), () => s.read(1e9), () => s.readLine(0), async () => { const a = s.read(); try { await s.read(); } finally { a.catch(() => {}); } }]) { try { await f(); say.push('done'); } catch (e) { say.push(e.name); } } await s.write(say.join()); }
function plain(s) { s.write('at once'); }
async function datagrams(s) { for (let i = 0; i < 3; i++) { const d = await s.read(); await s.write(i + ':' + d); } }
function upper(s) { s.on('upload', (data, flags) => s.send(data.toUpperCase(), flags)); s.on('download', (data, flags) => s.send('[' + data + ']', flags)); }
const pieces = () => ngx.shared.counts.get('pieces');
export default { pieces, lines, framed, echo, flood, reckless, thrown, idle, cleanup, halves, wrong, plain, datagrams, upper };`;

t.test('js_content in stream', async (t) => {
  const { rsa } = certs();
  const servers = ['lines', 'framed', 'echo', 'flood', 'reckless', 'thrown', 'idle', 'cleanup', 'halves', 'wrong', 'plain', 'none'];
  const extra: Record<string, string> = { idle: 'js_timeout 30ms;', flood: 'js_timeout 0;' };
  const s = await startServer(t, {
    conf: streamConf(
      `js_import main.js; js_var $name world; js_shared_dict_zone zone=counts:64k type=number;
${servers.map((name, i) => `server { listen 127.0.0.1:%%PORT_${i}%%; js_content main.${name}; ${extra[name] ?? ''} }`).join('\n')}
server { listen 127.0.0.1:%%PORT_12%% ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem; js_content main.echo; }
server { listen 127.0.0.1:%%PORT_13%% udp; js_content main.datagrams; }
server { listen 127.0.0.1:%%PORT_14%%; js_content main.echo; js_filter main.upper; }
server { listen 127.0.0.1:%%PORT_16%%; js_set $pieces main.pieces; return $pieces; }
server { listen 127.0.0.1:%%PORT_15%%; js_content main.plain; preread_timeout 5s; ssl_preread on; }`,
      ' $bytes_received $bytes_sent',
    ).replace('events {}', 'worker_processes 2; events {}'),
    files: { 'main.js': MODULE, 'cert.pem': pem(rsa.cert), 'key.pem': pem(rsa.key) },
    expectAlerts: /on purpose|a line is longer/,
  });
  const port = (name: string): number => s.port(servers.indexOf(name));
  const connect = (name: string): Promise<RawClient> => RawClient.connect(port(name));

  const lines = await connect('lines');
  await lines.sendSlowly([...'one\r\ntwo\n\nlast'], 0);
  lines.end();
  t.equal(await lines.rest(), 'hello 127.0.0.1 world\n<one><two><><last>bye');
  await s.accessLogged(/^200 14 43$/m);
  t.equal(await exchange(port('lines'), 'quit\n'), 'hello 127.0.0.1 world\n');
  t.equal(await exchange(port('lines'), 'x'.repeat(30)), 'hello 127.0.0.1 world\n');
  await s.logged(/RangeError: a line is longer than 20 bytes/);

  const framed = await connect('framed');
  const frame = (text: string): Buffer => Buffer.concat([Buffer.from([text.length >> 8, text.length]), Buffer.from(text)]);
  framed.send(Buffer.concat([frame('abc'), frame('x'.repeat(60_000)), frame('')])).end();
  const answer = await framed.rest();
  t.equal(answer.length, 5 + 60_002 + 2);
  t.match(answer, /^\0\x03cba/);

  for (const [name, options] of [
    ['plain', {}],
    ['TLS', { tls: {} }],
  ] as const) {
    const client = await RawClient.connect(name === 'TLS' ? s.port(12) : port('echo'), options);
    const bytes = Buffer.alloc(3_000_000, 'abcdefghi');
    client.send(bytes).end();
    t.equal((await client.rest()) === bytes.toString('latin1'), true, `three megabytes there and back, ${name}`);
  }

  // A client that does not read: the function waits.
  const flood = (await connect('flood')).pause();
  await s.logged(/js: waits/);
  const pieces = Number(await exchange(s.port(16), ''));
  t.ok(pieces > 0 && pieces < 1024, `${pieces} pieces`);
  flood.resume();
  t.equal((await flood.rest()).length, 1024 * 65_536);
  const reckless = (await connect('reckless')).pause();
  // Its function ends once the client has taken what was accepted.
  reckless.resume();
  await reckless.rest();
  const refused = /js: refused (\d+)/.exec(await s.logged(/js: refused \d+/))!;
  t.ok(Number(refused[1]) > 0, 'what waits for a client is bounded');

  t.equal(await exchange(port('thrown'), 'x'), '');
  await s.logged(/on purpose/);
  t.equal(await exchange(port('idle'), ''), 'TimeoutError ETIMEDOUT');
  const cleanup = await connect('cleanup');
  cleanup.send('x');
  cleanup.destroy(true);
  await s.logged(/js: cleaned/);
  const halves = await connect('halves');
  await waitFor(() => halves.ended);
  t.equal(halves.received, 'first');
  halves.send('more').end();
  await s.logged(/js: after the end: more/);
  await s.logged(/js: refused TypeError/);
  t.equal(await exchange(port('wrong'), ''), 'RangeError,RangeError,RangeError,TypeError');
  t.equal(await exchange(port('plain'), ''), 'at once');
  t.equal(await exchange(port('none'), ''), '');
  await s.logged(/js function "main\.none" not found/);
  const peer = await DatagramPeer.connect(t, s.port(13));
  for (const [i, text] of ['a', 'b', 'c', 'd'].entries()) {
    t.equal(await peer.ask(text), `${i % 3}:${text}`, 'a datagram each, and a session anew after the end');
  }
  const filtered = await RawClient.connect(s.port(14));
  filtered.send('shout').end();
  t.equal(await filtered.rest(), '[SHOUT]');
  t.equal(await exchange(s.port(15), 'not TLS at all'), 'at once', 'bytes that a phase has looked at are there');
});

t.test('js_content in stream that cannot be', async (t) => {
  for (const [text, message] of [
    ['server { listen 127.0.0.1:1; js_content a.b; }', /no imports defined for "js_content" "a\.b"/],
    ['js_import main.js; js_content main.f;', /"js_content" directive is not allowed here/],
    ['js_import main.js; server { listen 127.0.0.1:1; js_content main.none; }', /\[warn\] .*js function "main\.none" not found/],
  ] as const) {
    t.match((await testConfig(t, `events {} stream { ${text} }`, { 'main.js': 'export default { f() {} };' })).stderr, message);
  }
});
