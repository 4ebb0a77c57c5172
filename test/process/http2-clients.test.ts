import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { WebSocketServer } from 'ws';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { httpConf, type Server, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

// What other people's clients make of it. A client that is not installed is skipped by name; .ci/run installs them.

const run = promisify(execFile);
const { rsa } = certs();
const PICTURES = 200;

/** What a program prints; undefined when there is no such program. */
async function output(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  try {
    const { stdout, stderr } = await run(program, [...args], { env, timeout: 120_000, maxBuffer: 64 << 20 });
    return stdout + stderr;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/** Whether a program is there, or why its test is skipped. */
async function missing(program: string, ...args: string[]): Promise<false | string> {
  const answer = await output(program, args).catch(() => undefined);
  return answer === undefined && `${program} ${args.join(' ')} does not run here`;
}

const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';
const page = `<!doctype html><title>p</title><body><script>
const loaded = Array.from({ length: ${PICTURES} }, (_, i) => new Promise((done, fail) => {
  const img = new Image();
  img.onload = done;
  img.onerror = () => fail(new Error('picture ' + i));
  img.src = '/pictures/' + i + '.svg';
}));
const echo = () => new Promise((done, fail) => {
  const ws = new WebSocket('wss://' + location.host + '/chat');
  ws.onopen = () => ws.send('hello');
  ws.onerror = () => fail(new Error('WebSocket'));
  ws.onmessage = ({ data }) => { ws.onclose = ({ code }) => done(data + ' ' + code); ws.close(1000); };
});
Promise.all(loaded).then(echo).then((text) => fetch('/result?ok=' + text), (error) => fetch('/result?error=' + error.message));
</script>`;

async function target(t: Test): Promise<Server> {
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(wss, 'listening');
  wss.on('connection', (socket) => socket.on('message', (message: Buffer) => socket.send(message.toString())));
  t.teardown(() => {
    for (const socket of wss.clients) {
      socket.terminate();
    }
    wss.close();
  });
  return startServer(t, {
    conf: httpConf(`
      map $http_upgrade $connection_upgrade { default upgrade; '' close; }
      log_format c '$connection $request $status $http2';
      server {
        listen 127.0.0.1:%%PORT_0%%; listen 127.0.0.1:%%PORT_1%% ssl; http2 on; root %%DIR%%/html; access_log %%DIR%%/c.log c;
        ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        types { text/html html; image/svg+xml svg; }
        location /echo { client_max_body_size 10m; proxy_pass http://127.0.0.1:%%PORT_0%%/posted; }
        location /posted { client_max_body_size 10m; return 200 "$request_method $content_length"; }
        location /result { return 204; }
        location /chat {
          proxy_pass http://127.0.0.1:${(wss.address() as { port: number }).port}; proxy_http_version 1.1;
          proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;
        }
      }`),
    files: {
      'html/small': 'small',
      'html/big': 'x'.repeat(300_000),
      'html/index.html': page,
      ...Object.fromEntries(Array.from({ length: PICTURES }, (_, i) => [`html/pictures/${i}.svg`, picture])),
    },
  });
}

const bases = (s: Server): string[] => [`http://127.0.0.1:${s.port(0)}`, `https://127.0.0.1:${s.port(1)}`];

function scratch(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'h2c-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

t.test('curl', { skip: await missing('curl', '--version') }, async (t) => {
  const s = await target(t);
  const upload = join(scratch(t), 'body');
  writeFileSync(upload, 'b'.repeat(2_000_000));
  for (const base of bases(s)) {
    const how = ['-sk', base.startsWith('https') ? '--http2' : '--http2-prior-knowledge', '-w', ' %{http_version} %{http_code}'];
    t.equal(await output('curl', [...how, `${base}/small`]), 'small 2 200');
    t.equal(await output('curl', [...how, '-o', '/dev/null', `${base}/big`]), ' 2 200');
    t.equal(await output('curl', [...how, '-d', 'a=b', `${base}/echo`]), 'POST 3 2 200');
    t.equal(await output('curl', [...how, '-T', upload, '-H', 'Expect: 100-continue', `${base}/echo`]), 'PUT 2000000 2 200');
    t.match(await output('curl', [...how, '-I', `${base}/big`]), /content-length: 300000[\s\S]* 2 200$/);
    t.equal(await output('curl', [...how, `${base}/none`, '-o', '/dev/null']), ' 2 404');
  }
});

t.test('nghttp', { skip: await missing('nghttp', '--version') }, async (t) => {
  const s = await target(t);
  for (const base of bases(s)) {
    const text = (await output('nghttp', ['-nsv', `${base}/small`, `${base}/big`, `${base}/none`])) ?? '';
    t.match(text, /:status: 200[\s\S]*:status: 200/);
    t.match(text, /:status: 404/);
    t.notMatch(text, /\[ERROR\]|error_code=(?!NO_ERROR)/);
  }
});

t.test('h2load', { skip: await missing('h2load', '--version') }, async (t) => {
  const s = await target(t);
  for (const base of bases(s)) {
    const text = (await output('h2load', ['-n', '3000', '-c', '4', '-m', '32', `${base}/small`, `${base}/big`])) ?? '';
    t.match(text, /3000 succeeded, 0 failed, 0 errored, 0 timeout/);
  }
});

const python = `
import socket, sys
import h2.config, h2.connection, h2.events
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
c = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
c.initiate_connection()
head = lambda method, path: [(':method', method), (':scheme', 'http'), (':authority', 'localhost'), (':path', path)]
for i, path in ((1, '/small'), (3, '/big'), (5, '/none')):
    c.send_headers(i, head('GET', path), end_stream=True)
c.send_headers(7, head('POST', '/echo'))
c.send_data(7, b'x' * 1000, end_stream=True)
s.sendall(c.data_to_send())
status, size, left = {}, {}, 4
while left:
    for e in c.receive_data(s.recv(65536)):
        if isinstance(e, h2.events.ResponseReceived):
            status[e.stream_id] = dict(e.headers).get(b':status', dict(e.headers).get(':status'))
        if isinstance(e, h2.events.DataReceived):
            size[e.stream_id] = size.get(e.stream_id, 0) + len(e.data)
            c.acknowledge_received_data(e.flow_controlled_length, e.stream_id)
        if isinstance(e, (h2.events.StreamEnded, h2.events.StreamReset)):
            left -= 1
    s.sendall(c.data_to_send())
text = lambda v: v.decode() if isinstance(v, bytes) else v
print([(i, text(status[i]), size[i]) for i in (1, 3, 7)], text(status[5]))
`;

t.test("Python's h2", { skip: await missing('/usr/bin/python3', '-c', 'import h2') }, async (t) => {
  const s = await target(t);
  t.equal(await output('/usr/bin/python3', ['-c', python, String(s.port(0))]), "[(1, '200', 5), (3, '200', 300000), (7, '200', 9)] 404\n");
});

const go = `package main
import ("crypto/tls"; "fmt"; "io"; "net/http"; "os"; "strings"; "sync")
func main() {
	c := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	var wait sync.WaitGroup
	sizes := make([]int64, 50)
	for i := range sizes {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			r, err := c.Get(os.Args[1] + "/big")
			if err != nil { fmt.Println(err); return }
			sizes[i], _ = io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}(i)
	}
	wait.Wait()
	sum := int64(0)
	for _, n := range sizes { sum += n }
	r, err := c.Post(os.Args[1]+"/echo", "text/plain", strings.NewReader("hello"))
	if err != nil { fmt.Println(err); return }
	body, _ := io.ReadAll(r.Body)
	fmt.Println(sum, r.Proto, r.StatusCode, string(body))
}
`;

t.test("Go's net/http", { skip: await missing('go', 'version') }, async (t) => {
  const s = await target(t);
  const folder = scratch(t);
  writeFileSync(join(folder, 'main.go'), go);
  const env = { ...process.env, GOCACHE: join(folder, 'cache'), GOFLAGS: '-mod=mod', GO111MODULE: 'off' };
  t.equal(await output('go', ['run', join(folder, 'main.go'), bases(s)[1]!], env), '15000000 HTTP/2.0 200 POST 5\n');
});

t.test(
  'Chromium: 200 pictures over one connection, and a WebSocket through it',
  { skip: (againstNginx && 'nginx has no WebSocket over HTTP/2') || (await missing('chromium', '--version')) },
  async (t) => {
    const s = await target(t);
    const profile = scratch(t);
    const flags = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--ignore-certificate-errors',
      '--no-first-run',
    ];
    const browser = spawn(
      'chromium',
      [...flags, `--user-data-dir=${profile}`, '--remote-debugging-port=0', `https://localhost:${s.port(1)}/index.html`],
      {
        stdio: 'ignore',
        detached: true,
        env: { ...process.env, HOME: profile },
      },
    );
    const gone = once(browser, 'exit');
    t.teardown(async () => {
      process.kill(-browser.pid!, 'SIGKILL');
      await gone;
    });
    const log = (): string[] =>
      s
        .read('c.log')
        .split('\n')
        .filter((line) => line !== '');
    const result = await waitFor(() => log().find((line) => line.includes('/result')), {
      what: () => `the page's result; ${log().length} lines`,
    });
    t.match(result, /\/result\?ok=hello(%20| )1000/);
    const pictures = log().filter((line) => line.includes('/pictures/'));
    t.equal(pictures.length, PICTURES);
    t.ok(pictures.every((line) => line.endsWith('200 h2')));
    const chat = await waitFor(() => log().find((line) => line.includes('/chat')), { what: 'the WebSocket in the log' });
    t.match(chat, /GET \/chat HTTP\/2\.0 101 h2$/);
    const connections = new Set([...pictures, chat].map((line) => line.split(' ')[0]));
    t.equal(connections.size, 1, 'one connection for all');
  },
);
