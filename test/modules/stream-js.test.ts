import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { startOrigin } from '../support/origin.js';
import { RawClient } from '../support/raw-client.js';
import { startServer, streamConf } from '../support/server.js';

if (againstNginx) {
  t.bailout('njs is a module of its own');
}

const script = `
function access(s) { if (s.variables.port_name === 'closed') { s.deny(); } else { s.allow(); } }
async function late(s) { await new Promise((done) => setTimeout(done, 1)); s.variables.message = 'late'; s.allow(); }
function preread(s) {
  s.on('upload', (data) => {
    if (data.endsWith('!')) { s.variables.message = 'got ' + data; s.done(); }
    if (data.startsWith('x')) { s.deny(); }
    if (data.startsWith('t')) { throw new Error('on purpose'); }
  });
}
function never(s) {}
async function fetches(s) {
  const reply = await ngx.fetch(s.variables.origin);
  s.variables.message = await reply.text();
  s.done();
}
function filter(s) {
  s.on('upload', (data, flags) => s.send(data.toUpperCase(), flags));
  s.on('downstream', () => {});
}
function both(s) {
  s.on('upload', (data, flags) => s.send(data.toUpperCase(), flags));
  s.on('download', (data, flags) => { s.send('<' + data + '>', flags); s.off('download'); });
}
function injects(s) {
  s.on('upstream', async (data, flags) => {
    s.off('upstream');
    s.sendDownstream('wait ');
    await new Promise((done) => setTimeout(done, 1));
    s.send(data, flags);
  });
}
function who(s) { return s.remoteAddress + ' ' + s.status + ' ' + shared.name + ' ' + s.rawVariables.binary_remote_addr.length; }
function tick() { ngx.shared.counts.incr('n', 1); ngx.log(ngx.WARN, 'tick'); }
function exits(s) { njs.on('exit', () => s.warn('bytes ' + s.variables.bytes_received + ' ' + s.status)); s.decline(); }
export default { access, late, preread, never, fetches, filter, both, injects, who, tick, exits };
`;

t.test('phases', async (t) => {
  const origin = await startOrigin(t, { body: 'fetched' });
  const s = await startServer(t, {
    conf: streamConf(`
      js_import t.js; js_preload_object shared from shared.json; js_var $message; js_var $port_name open; js_set $who t.who;
      map $remote_addr $origin { default http://127.0.0.1:${origin.port}/; }
      server { listen 127.0.0.1:%%PORT_0%%; js_access t.access; return "in $who"; }
      server { listen 127.0.0.1:%%PORT_1%%; set $port_name x; js_access t.late; return $message; }
      server { listen 127.0.0.1:%%PORT_2%%; js_preread t.preread; return $message; }
      server { listen 127.0.0.1:%%PORT_3%%; js_preread t.never; return x; }
      server { listen 127.0.0.1:%%PORT_4%%; js_preread t.fetches; return $message; }
      server { listen 127.0.0.1:%%PORT_5%%; js_access t.exits; deny all; return x; }
      server { listen 127.0.0.1:%%PORT_6%%; js_access t.access; deny all; return "let in"; }`),
    files: { 't.js': script, 'shared.json': '{"name":"preloaded"}' },
  });
  const rest = async (n: number, ...pieces: string[]): Promise<string> => {
    const client = await RawClient.connect(s.port(n));
    for (const piece of pieces) {
      client.send(piece);
    }
    return client.rest();
  };
  t.equal(await rest(0), 'in 127.0.0.1 0 preloaded 4');
  t.equal(await rest(1), 'late');
  t.equal(await rest(2, ...'hello!'), 'got hello!', 'however the bytes come');
  t.equal(await rest(2, 'x'), '');
  t.equal(await rest(2, 'throw'), '');
  t.equal(await rest(3), '', 'a function that decides nothing ends the session');
  t.equal(await rest(4), 'fetched');
  t.equal(await rest(5), '', 'js_access runs first, and others after it');
  t.equal(await rest(6), 'let in', 'allow() leaves the others out');
  await s.accessLogged(/^403$/m);
  await s.logged(/\[error\] .*js exception: Error: on purpose.* while prereading client data/);
  await s.logged(/\[warn\] .*js: bytes 0 403/);
});

t.test('filters', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(`
      js_import t.js;
      server { listen 127.0.0.1:%%PORT_0%%; js_filter t.both; proxy_pass 127.0.0.1:%%PORT_3%%; }
      server { listen 127.0.0.1:%%PORT_1%%; js_filter t.injects; proxy_pass 127.0.0.1:%%PORT_3%%; }
      server { listen 127.0.0.1:%%PORT_2%%; js_filter t.both; return returned; }
      server { listen 127.0.0.1:%%PORT_3%%; js_preread t.preread; js_var $message; return "$message $bytes_received"; }
      server { listen 127.0.0.1:%%PORT_4%%; js_filter t.filter; proxy_pass 127.0.0.1:%%PORT_3%%; }`),
    files: { 't.js': script },
  });
  const rest = async (n: number, text: string): Promise<string> => (await RawClient.connect(s.port(n))).send(text).rest();
  t.match(await rest(0, 'abc!'), /^<got ABC! \d>$/);
  t.match(await rest(1, 'abc!'), /^wait got abc! \d$/);
  t.equal(await rest(2, ''), '<returned>');
  t.equal(await rest(4, 'abc!'), '');
  await s.logged(/TypeError: mixing string and buffer events is not allowed/);
});

t.test('what filters are shown behind js_preread, and how sessions end whose filters fail', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(`
      js_import w.js; log_format status '$server_port=$status'; access_log %%DIR%%/status.log status;
      server { listen 127.0.0.1:%%PORT_0%%; js_preread w.peeks; js_filter w.tells; proxy_pass 127.0.0.1:%%PORT_4%%; }
      server { listen 127.0.0.1:%%PORT_1%%; js_filter w.tells; proxy_pass 127.0.0.1:%%PORT_4%%; }
      server { listen 127.0.0.1:%%PORT_2%%; js_filter w.fails; proxy_pass 127.0.0.1:%%PORT_4%%; }
      server { listen 127.0.0.1:%%PORT_3%%; js_filter w.fails; return x; }
      server { listen 127.0.0.1:%%PORT_4%%; js_preread w.peeks; return ok; }`),
    files: {
      'w.js': `
function peeks(s) { s.on('upload', (data) => { if (data.endsWith('!')) { s.done(); } }); }
function tells(s) { s.on('upload', (data, flags) => { s.warn('[' + data + ']'); s.send(data, flags); }); }
function fails() { throw new Error('on purpose'); }
export default { peeks, tells, fails };`,
    },
  });
  const rest = async (n: number, text: string): Promise<string> => (await RawClient.connect(s.port(n))).send(text).rest();
  t.equal(await rest(0, 'a!'), 'ok');
  t.equal(await rest(1, 'b!'), 'ok');
  t.equal(await rest(2, 'c!'), '');
  t.equal(await rest(3, ''), '');
  await s.stop('QUIT');
  const seen = [...s.log().matchAll(/js: (\[[^\]]*\])/g)].map(([, data]) => data);
  t.same(seen, ['[]', '[a!]', '[b!]'], 'nothing first, where the preread phase has only looked');
  const statuses = s.read('status.log');
  t.match(statuses, `${s.port(2)}=200\n`);
  t.match(statuses, `${s.port(3)}=500\n`);
});

t.test('a filter that fails on what came before the backend was there', async (t) => {
  const { cert, key } = certs().ecdsa;
  const s = await startServer(t, {
    conf: streamConf(`
      js_import f.js; log_format status '$server_port=$status'; access_log %%DIR%%/status.log status;
      server {
        listen 127.0.0.1:%%PORT_0%% ssl; ssl_certificate ${cert}; ssl_certificate_key ${key};
        js_filter f.fails; proxy_pass 127.0.0.1:%%PORT_3%%;
      }
      server { listen 127.0.0.1:%%PORT_1%%; js_preread f.peeks; js_filter f.fails; proxy_pass 127.0.0.1:%%PORT_3%%; }
      server { listen 127.0.0.1:%%PORT_2%%; js_preread f.peeks; js_filter f.denies; proxy_pass 127.0.0.1:%%PORT_3%%; }
      server { listen 127.0.0.1:%%PORT_3%%; js_preread f.peeks; return ok; }`),
    files: {
      'f.js': `
function peeks(s) { s.on('upload', (data) => { if (data.endsWith('!')) { s.done(); } }); }
function fails(s) { s.on('upload', (data) => { if (data !== '') { throw new Error('on purpose'); } }); }
function denies(s) { s.on('upload', (data) => { if (data !== '') { s.deny(); } }); }
export default { peeks, fails, denies };`,
    },
  });
  for (const [port, options] of [
    [0, { tls: {} }],
    [1, {}],
    [2, {}],
  ] as const) {
    t.equal(await (await RawClient.connect(s.port(port), options)).send('a!').rest(), '', String(port));
  }
  await s.stop('QUIT');
  const statuses = s.read('status.log');
  for (const port of [0, 1, 2]) {
    t.match(statuses, `${s.port(port)}=200\n`);
  }
});

t.test('periodic calls', async (t) => {
  const s = await startServer(t, {
    // Workers write in the folder of the state.
    conf: `${process.getuid?.() === 0 ? 'user root;' : ''}\nworker_processes 2;\n${streamConf(`
      js_import t.js; js_shared_dict_zone zone=counts:32k type=number state=counts.json;
      server { listen 127.0.0.1:%%PORT_0%%; js_periodic t.tick interval=10ms worker_affinity=01; return ""; }`)}`,
    files: { 't.js': script, 'counts.json': '{"n":{"value":100}}' },
  });
  await s.logged(/\[warn\] .*js: tick/);
  await s.stop('QUIT');
  const saved = JSON.parse(s.read('counts.json')) as { n: { value: number } };
  t.ok(saved.n.value > 100, 'the state of the dictionary is kept');
});

t.test('functions that come to no end', async (t) => {
  const s = await startServer(t, {
    conf: streamConf(`
      js_import w.js; js_timeout 100ms;
      server { listen 127.0.0.1:%%PORT_0%%; js_access w.never; return x; }
      server { listen 127.0.0.1:%%PORT_1%%; js_preread w.never; return x; }
      server { listen 127.0.0.1:%%PORT_2%%; js_preread w.listens; return x; }
      server { listen 127.0.0.1:%%PORT_3%%; js_access w.long; js_timeout 0; return x; }
      server { listen 127.0.0.1:%%PORT_4%%; js_access w.long; js_preread w.never; js_timeout 2s; return x; }`),
    files: {
      'w.js': `
async function never() { await new Promise(() => {}); }
function listens(s) { s.on('upload', () => {}); }
async function long(s) { await new Promise((done) => setTimeout(done, 150)); s.allow(); }
export default { never, listens, long };`,
    },
  });
  for (const port of [0, 1, 2, 4]) {
    t.equal(await (await RawClient.connect(s.port(port))).rest(), '', `${port}`);
  }
  t.equal(await (await RawClient.connect(s.port(3))).rest(), 'x');
  await s.stop('QUIT');
  t.equal(s.log().match(/\[error\] .*js handler "w\.never" timed out/g)?.length, 3);
  t.equal(s.log().match(/js handler "w\.(?:listens|long)" timed out/g)?.length, 1);
  t.match(s.read('access.log'), /^(?:500\n){4}200\n$/);
});

t.test('what is refused', async (t) => {
  const message = (text: string): Promise<string | undefined> =>
    configMessage(t, `events {}\nstream { ${text} server { listen 1234; return x; } }\n`);
  t.match(String(await message('js_access a.b;')), 'no imports defined for "js_access" "a.b"');
  t.match(String(await message('js_filter a.b; js_filter a.c;')), '"js_filter" directive is duplicate');
  t.match(String(await message('js_periodic a.b;')), '"js_periodic" directive is not allowed here');
  t.match(String(await message('js_preload_object a.txt;')), 'cannot extract export name from file path "a.txt"');
});
