// Longer than most: every way in which a client leaves, beside every kind of work that is done for it.
import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { frame, Http2Client, number32, request, T } from '../support/http2-client.js';
import { startOrigin } from '../support/origin.js';
import { httpGet, RawClient, requestText } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

/** What one request's backend does and sees. */
interface Story {
  /** The backend has the request. */
  readonly asked: Promise<void>;
  /** Lets it answer, or answer the rest. */
  readonly goOn: () => void;
  /** The connection to the backend was given up before it had answered. */
  givenUp: boolean;
}

const HALF = 'x'.repeat(100_000);
/** More than sockets hold for a client that does not read. */
const MUCH = Buffer.alloc(12_000_000, 'x');

/** A backend that answers when it is told to: all of it, or its second half. */
async function startBackend(t: Test): Promise<{ port: number; story: (id: string) => Story }> {
  const stories = new Map<string, Story & { answer: Promise<void>; begin: () => void }>();
  const story = (id: string): Story & { answer: Promise<void>; begin: () => void } => {
    let found = stories.get(id);
    if (found === undefined) {
      let begin = (): void => {};
      let goOn = (): void => {};
      const asked = new Promise<void>((done) => (begin = done));
      const answer = new Promise<void>((done) => (goOn = done));
      found = { asked, begin, goOn, answer, givenUp: false };
      stories.set(id, found);
    }
    return found;
  };
  const origin = await startOrigin(t, async ({ target }, { socket }) => {
    const [, id = '', when = ''] = /id=([\w.-]+)&when=(\w+)/.exec(target) ?? [];
    const told = story(id);
    let finished = false;
    for (const event of ['end', 'close']) {
      socket.on(event, () => (told.givenUp ||= !finished));
    }
    const head = 'HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length:';
    if (when === 'much') {
      socket.write(`${head} ${MUCH.length + 5}\r\n\r\n`);
      socket.write(MUCH);
    } else if (when === 'half') {
      socket.write(`${head} ${2 * HALF.length}\r\n\r\n${HALF}`);
    }
    told.begin();
    if (when !== 'now') {
      await told.answer;
    }
    finished = true;
    socket.end(when === 'half' ? HALF : when === 'much' ? 'hello' : `${head} 5\r\n\r\nhello`);
    return undefined;
  });
  return { port: origin.port, story };
}

/** A client whose request is under way. */
interface Client {
  readonly socket: Socket;
  /** It has received so many bytes. */
  received(bytes: number): Promise<unknown>;
}

async function http1(s: Server, path: string, tls: boolean): Promise<Client> {
  const client = await RawClient.connect(tls ? s.port(1) : s.port(0), tls ? { tls: {} } : {});
  client.send(requestText('GET', path));
  return { socket: client.socket, received: (bytes) => waitFor(() => client.received.length >= bytes) };
}

async function http2(t: Test, s: Server, path: string): Promise<Client> {
  const client = await Http2Client.connect(t, s.port(2));
  client.send(frame(T.WINDOW, 0, 0, number32(1_000_000)));
  client.request(1, request('GET', path));
  const data = (): number => client.frames.reduce((sum, { type, payload }) => sum + (type === T.DATA ? payload.length : 0), 0);
  return { socket: client.socket, received: (bytes) => waitFor(() => data() >= Math.min(bytes, 60_000)) };
}

/** The ways in which a client leaves. */
const ENDS: Readonly<Record<string, (t: Test, s: Server, path: string) => Promise<Client & { leave: () => void }>>> = {
  'HTTP/1, reset': async (_t, s, path) => {
    const client = await http1(s, path, false);
    return { ...client, leave: () => client.socket.resetAndDestroy() };
  },
  'HTTP/1, end': async (_t, s, path) => {
    const client = await http1(s, path, false);
    return { ...client, leave: () => void client.socket.end() };
  },
  'TLS, end': async (_t, s, path) => {
    const client = await http1(s, path, true);
    return { ...client, leave: () => client.socket.destroy() };
  },
  'TLS, reset': async (t, s, path) => {
    const { tls, below } = await connectTlsAlone(s.port(1));
    t.teardown(() => below.destroy());
    let received = 0;
    tls.on('data', (bytes) => (received += bytes.length));
    tls.on('error', () => {});
    tls.write(requestText('GET', path));
    return { socket: below, received: (bytes) => waitFor(() => received >= bytes), leave: () => below.resetAndDestroy() };
  },
  'HTTP/2, RST_STREAM': async (t, s, path) => {
    const client = await http2(t, s, path);
    return { ...client, leave: () => client.socket.write(frame(T.RST, 0, 1, number32(8))) };
  },
  'HTTP/2, end': async (t, s, path) => {
    const client = await http2(t, s, path);
    return { ...client, leave: () => void client.socket.end() };
  },
  'HTTP/2, reset': async (t, s, path) => {
    const client = await http2(t, s, path);
    return { ...client, leave: () => client.socket.resetAndDestroy() };
  },
};

/** Kinds of work: what the location does, whether the client is `heeded`, and for which answers of the backend that is tried. */
const WORKS: Readonly<Record<string, { conf: string; heeded?: boolean; when?: readonly string[]; kept?: 'cache' | 'file' }>> = {
  proxy: { conf: 'proxy_pass http://backend;', heeded: true, when: ['late', 'half'] },
  ignoring: { conf: 'proxy_pass http://backend; proxy_ignore_client_abort on;' },
  'ignoring-unbuffered': { conf: 'proxy_pass http://backend; proxy_ignore_client_abort on; proxy_buffering off;' },
  cached: {
    conf: 'proxy_pass http://backend; proxy_cache c; proxy_cache_key cached$arg_id; add_header X-Cache $upstream_cache_status;',
    when: ['late', 'half'],
    kept: 'cache',
  },
  'cached-ignoring': {
    conf: 'proxy_pass http://backend; proxy_cache c; proxy_cache_key ignoring$arg_id; proxy_ignore_client_abort on; add_header X-Cache $upstream_cache_status;',
    kept: 'cache',
  },
  stored: { conf: 'proxy_pass http://backend; proxy_store %%DIR%%/stored-$arg_id;', when: ['late', 'half'], kept: 'file' },
  sliced: {
    conf: 'slice 1m; proxy_pass http://backend; proxy_cache c; proxy_cache_key sliced$arg_id$slice_range; proxy_set_header Range $slice_range;',
  },
  authorized: { conf: 'auth_request /ask; root %%DIR%%;', heeded: true },
  'authorized-ignoring': { conf: 'auth_request /ask-on; root %%DIR%%;' },
  named: { conf: 'error_page 404 = @ignoring; root %%DIR%%/none;' },
  'after-it': { conf: 'root %%DIR%%; post_action /after;' },
  copied: { conf: 'mirror /copy; root %%DIR%%;' },
};

t.test('what is done for a client that leaves', async (t) => {
  const backend = await startBackend(t);
  const { rsa } = certs();
  const locations = Object.entries(WORKS).map(([name, { conf }]) => `location /${name} { ${conf} }`);
  const s = await startServer(t, {
    conf: httpConf(`
      upstream backend { server 127.0.0.1:${backend.port}; }
      proxy_cache_path %%DIR%%/cache keys_zone=c:1m; proxy_cache_valid any 1h;
      map $request_uri $id { ~id=([\\w.-]+) $1; }
      log_format ends "$id $status $bytes_sent"; access_log %%DIR%%/ends.log ends;
      limit_conn_zone $id zone=one:1m; limit_conn one 1;
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; listen 127.0.0.1:%%PORT_2%%; http2 on; keepalive_timeout 0;
        ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        ${locations.join('\n')}
        location = /ask { internal; proxy_pass http://backend/?id=$id&when=late; }
        location = /ask-on { internal; proxy_pass http://backend/?id=$id&when=late; proxy_ignore_client_abort on; }
        location @ignoring { proxy_pass http://backend; proxy_ignore_client_abort on; }
        location = /after { internal; proxy_pass http://backend/?id=$id&when=late; }
        location = /copy { internal; proxy_pass http://backend/?$args; }
        location = /status { access_log off; stub_status; }
        location = /turn { access_log off; return 204; }
      }`),
    asRoot: true,
    files: Object.fromEntries(Object.keys(WORKS).map((name) => [name, 'small'])),
  });
  const logged = (id: string): string[] =>
    existsSync(`${s.dir}/ends.log`)
      ? s
          .read('ends.log')
          .split('\n')
          .filter((line) => line.startsWith(`${id} `))
          .map((line) => line.slice(id.length + 1))
      : [];

  const one = async (t: Test, work: string, when: string, end: string): Promise<void> => {
    const { heeded = false, kept } = WORKS[work]!;
    const id = `${work}.${when}.${end.replaceAll(/\W+/g, '-')}`;
    const path = `/${work}?id=${id}&when=${when}`;
    const told = backend.story(id);
    const client = await ENDS[end]!(t, s, path);
    await told.asked;
    if (when === 'half') {
      await client.received(HALF.length / 2);
    }
    client.leave();
    if (heeded) {
      const [line] = await waitFor(() => logged(id).length > 0 && logged(id));
      t.match(line, when === 'half' ? /^200 / : /^499 0$/, `${id}: the log`);
      await waitFor(() => told.givenUp, { what: `${id}: the backend is left` });
      return;
    }
    // The worker has seen the end once it has served others who came later.
    for (const _ of 'two') {
      await httpGet(s, '/turn');
    }
    t.notOk(told.givenUp, `${id}: the backend is not left`);
    told.goOn();
    await waitFor(() => logged(id).length > 0, { what: `${id}: the log` });
    t.match(logged(id)[0], /^200 /, `${id}: the log`);
    t.notOk(told.givenUp, `${id}: the backend was heard to the end`);
    if (kept === 'cache') {
      const again = await httpGet(s, path);
      t.equal(again.header('X-Cache'), 'HIT', `${id}: it is in the cache`);
      t.equal(again.text.length, when === 'half' ? 2 * HALF.length : 5);
    } else if (kept === 'file') {
      t.equal(readFileSync(`${s.dir}/stored-${id}`).length, when === 'half' ? 2 * HALF.length : 5, `${id}: it is in its file`);
    }
    t.equal(logged(id).length, kept === 'cache' ? 2 : 1, `${id}: it is logged once`);
  };

  for (const end of Object.keys(ENDS)) {
    await t.test(end, async (t) => {
      await Promise.all(Object.entries(WORKS).flatMap(([work, { when = ['late'] }]) => when.map((kind) => one(t, work, kind, end))));
    });
  }
  await waitFor(async () => /Active connections: 1 \n[\s\S]*Reading: 0 Writing: 1 Waiting: 0/.test((await httpGet(s, '/status')).text), {
    what: 'the end of all connections',
  });
});

t.test('a client that takes nothing for too long loses its response, and the cache keeps it', async (t) => {
  const backend = await startBackend(t);
  const s = await startServer(t, {
    conf: httpConf(`
      proxy_cache_path %%DIR%%/cache keys_zone=c:1m; proxy_cache_valid any 1h;
      log_format ends "$uri $status $request_completion."; access_log %%DIR%%/ends.log ends;
      add_header X-Cache $upstream_cache_status;
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_2%%; http2 on; send_timeout 200ms;
        location / { proxy_pass http://127.0.0.1:${backend.port}; proxy_cache c; }
      }
      server { listen 127.0.0.1:%%PORT_1%%; location / { proxy_pass http://127.0.0.1:${backend.port}; proxy_cache c; } }`),
  });
  for (const protocol of ['HTTP/1', 'HTTP/2']) {
    const id = protocol.replace('/', '-');
    const path = `/${id}?id=${id}&when=much`;
    const told = backend.story(id);
    const client = protocol === 'HTTP/1' ? await http1(s, path, false) : await http2(t, s, path);
    client.socket.pause();
    t.teardown(() => client.socket.destroy());
    await waitFor(() => s.log().split('client timed out').length > (protocol === 'HTTP/1' ? 1 : 2));
    t.notOk(told.givenUp, 'the backend is not left');
    told.goOn();
    await waitFor(() => existsSync(`${s.dir}/ends.log`) && s.read('ends.log').includes(`/${id} 200 .`), { what: 'the log' });
    const again = await httpGet(s.port(1), path);
    t.equal(again.header('X-Cache'), 'HIT');
    t.equal(again.body.length, MUCH.length + 5);
  }
});

t.test('what goes on without its client ends with its worker, and is logged once', async (t) => {
  const backend = await startBackend(t);
  const s = await startServer(t, {
    conf: httpConf(
      `proxy_cache_path %%DIR%%/cache keys_zone=c:1m; proxy_cache_valid any 1h; log_format ends "$uri $status"; access_log %%DIR%%/ends.log ends;
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_2%%; http2 on;
        location / { proxy_pass http://127.0.0.1:${backend.port}; proxy_ignore_client_abort on; }
        location /kept { proxy_pass http://127.0.0.1:${backend.port}; proxy_cache c; post_action /after; }
        location /after { return 200; } location = /turn { access_log off; return 204; }
      }`,
      'worker_shutdown_timeout 50ms;',
    ),
  });
  const ids: string[] = [];
  for (const [path, when] of [
    ['late', 'late'],
    ['kept', 'half'],
  ] as const) {
    for (const end of ['HTTP/1, reset', 'HTTP/2, reset', 'HTTP/2, RST_STREAM']) {
      const id = `${path}.${end.replaceAll(/\W+/g, '-')}`;
      ids.push(`/${id}`);
      const client = await ENDS[end]!(t, s, `/${id}?id=${id}&when=${when}`);
      await backend.story(id).asked;
      if (when === 'half') {
        await client.received(HALF.length / 2);
      }
      client.leave();
    }
  }
  for (const _ of 'two') {
    await httpGet(s, '/turn');
  }
  await s.stop('QUIT');
  const lines = s.read('ends.log').trim().split('\n');
  t.strictSame(lines.map((line) => line.replace(/ \d+$/, '')).sort(), ids.sort());
  t.notOk(
    lines.some((line) => !/ (200|499)$/.test(line)),
    String(lines),
  );
});

/** A client of TLS that can end TLS and leave its connection open: what it says goes through, its end does not. */
function connectTlsAlone(port: number): Promise<{ tls: ReturnType<typeof connectTls>; below: Socket }> {
  const below = connect(port, '127.0.0.1');
  const pipe = new Duplex({
    read: () => {},
    write: (bytes: Buffer, _encoding, done) => void below.write(bytes, () => done()),
    final: (done) => done(),
  });
  below.on('data', (bytes) => pipe.push(bytes));
  below.on('end', () => pipe.push(null));
  below.on('error', () => {});
  const tls = connectTls({ socket: pipe, rejectUnauthorized: false, allowHalfOpen: true } as never);
  return new Promise((done, fail) => tls.once('secureConnect', () => done({ tls, below })).once('error', fail));
}

t.test('the end of TLS is not the end of the client', async (t) => {
  const backend = await startBackend(t);
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: httpConf(`
      log_format ends "$uri $status"; access_log %%DIR%%/ends.log ends;
      limit_req_zone $uri zone=slow:1m rate=60r/m;
      server { listen 127.0.0.1:%%PORT_0%% ssl; listen 127.0.0.1:%%PORT_1%%; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        location / { proxy_pass http://127.0.0.1:${backend.port}; }
        location /slow { limit_req zone=slow burst=1; root %%DIR%%; }
        location /turn { access_log off; return 204; }
      }`),
    files: { slow: 'at last' },
  });
  const ask = async (path: string, more = ''): Promise<{ below: Socket; text: () => string; end: () => void }> => {
    const { tls, below } = await connectTlsAlone(s.port(0));
    t.teardown(() => below.destroy());
    let text = '';
    tls.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
    tls.on('error', () => {});
    tls.write(`${more === '' ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`);
    return { below, text: () => text, end: () => void tls.end() };
  };
  const seen = async (): Promise<void> => {
    for (const _ of 'two') {
      await httpGet(s.port(1), '/turn');
    }
  };

  for (const when of ['late', 'half']) {
    const told = backend.story(when);
    const client = await ask(`/${when}?id=${when}&when=${when}`);
    await told.asked;
    client.end();
    await seen();
    t.notOk(told.givenUp);
    told.goOn();
    await waitFor(() => client.text().endsWith(when === 'half' ? 'xxxxx' : 'hello'));
    const length = when === 'half' ? 2 * HALF.length : 5;
    await waitFor(() => client.text().length - client.text().indexOf('\r\n\r\n') - 4 === length);
    t.match(client.text(), /^HTTP\/1\.1 200 /, 'the answer is complete');
    await waitFor(() => client.below.readableEnded, { what: 'the end of the connection' });
  }

  // The connection itself ends after TLS.
  const told = backend.story('then-end');
  const client = await ask('/then-end?id=then-end&when=late');
  await told.asked;
  client.end();
  await seen();
  t.notOk(told.givenUp);
  client.below.end();
  await waitFor(() => told.givenUp, { what: 'the backend is left' });

  await httpGet(s.port(1), '/slow');
  const delayed = await ask('/slow');
  delayed.end();
  await waitFor(() => delayed.text().endsWith('at last'));

  const posted = await ask('/half-a-body', 'Content-Length: 10\r\n');
  posted.end();
  await s.logged('client prematurely closed connection');
  await waitFor(() => /half-a-body 400/.test(s.read('ends.log')), { what: 'half a body' });
});

const SCRIPTS = `
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const told = (r) => r.subrequest('/tell', r.variables.args);
async function asks(r) { const { status } = await told(r); r.log('went on with ' + status); r.return(200, 'done'); }
async function fetches(r) { const { status } = await ngx.fetch(r.variables.backend + '?' + r.variables.args); r.log('went on with ' + status); r.return(200, 'done'); }
async function pieces(r) { r.sendHeader(); r.send('first'); const { status } = await told(r); r.log('went on with ' + status); r.send('last'); r.finish(); }
async function web(request) { const { status } = await fetch(new URL(new URL(request.url).search, backend), { signal: request.signal }); return new Response(String(status)); }
function events() { return new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('first')); }, cancel() { ngx.log(ngx.INFO, 'nobody reads'); } })); }
export default { asks, fetches, pieces, web, events };
`;

t.test('what JavaScript does for a client that leaves', { skip: againstNginx }, async (t) => {
  const backend = await startBackend(t);
  const url = `http://127.0.0.1:${backend.port}/`;
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: httpConf(`
      js_import s from %%DIR%%/s.js; map x $backend { default ${url}; }
      map $request_uri $id { ~id=([\\w.-]+) $1; }
      log_format ends "$id $status $bytes_sent"; access_log %%DIR%%/ends.log ends;
      server { listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; listen 127.0.0.1:%%PORT_2%%; http2 on; keepalive_timeout 0;
        ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        location /asks { js_content s.asks; } location /fetches { js_content s.fetches; } location /pieces { js_content s.pieces; }
        location /web { js_content s.web fetch; } location /events { js_content s.events fetch; }
        location = /tell { internal; proxy_pass ${url}; }
        location = /turn { access_log off; return 204; }
        location = /status { access_log off; stub_status; }
      }`),
    files: { 's.js': `const backend = '${url}';${SCRIPTS}` },
  });
  const logged = (id: string): string | undefined =>
    existsSync(`${s.dir}/ends.log`)
      ? s
          .read('ends.log')
          .split('\n')
          .find((line) => line.startsWith(`${id} `))
      : undefined;
  for (const end of Object.keys(ENDS)) {
    for (const work of ['asks', 'fetches', 'pieces', 'web']) {
      const id = `${work}.${end.replaceAll(/\W+/g, '-')}`;
      const told = backend.story(id);
      const client = await ENDS[end]!(t, s, `/${work}?id=${id}&when=late`);
      await told.asked;
      client.leave();
      if (work === 'web') {
        t.match(await waitFor(() => logged(id)), / 499 0$/, `${id}: it ends`);
        await waitFor(() => told.givenUp, { what: `${id}: its signal ends what it fetches` });
        continue;
      }
      for (const _ of 'two') {
        await httpGet(s, '/turn');
      }
      t.notOk(told.givenUp, `${id}: it goes on`);
      told.goOn();
      t.match(await waitFor(() => logged(id)), work === 'pieces' || /1, end|TLS, end/.test(end) ? / 200 \d+$/ : / 200 0$/, id);
      await s.logged(new RegExp(`went on with 200.*id=${id}&`));
    }
    const id = `events.${end.replaceAll(/\W+/g, '-')}`;
    const client = await ENDS[end]!(t, s, `/events?id=${id}`);
    await client.received(5);
    client.leave();
    t.match(await waitFor(() => logged(id)), / 200 \d+$/, `${id}: it ends`);
  }
  await waitFor(async () => /Active connections: 1 \n[\s\S]*Reading: 0 Writing: 1 Waiting: 0/.test((await httpGet(s, '/status')).text), {
    what: 'the end of all connections',
  });
});
