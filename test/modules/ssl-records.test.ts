// Messages of TLS between records of data: keys that change, and a handshake that is asked for again.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { certs } from '../support/certs.js';
import { httpGet } from '../support/raw-client.js';
import { httpConf, type Server, startServer } from '../support/server.js';

const { rsa } = certs();
const REQUEST = 'GET / HTTP/1.1\nHost: localhost\n\n';

const start = (t: Test): Promise<Server> =>
  startServer(t, {
    conf: httpConf(
      `server { listen 127.0.0.1:%%PORT_0%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
         return 200 "request $connection_requests over $ssl_protocol,\n"; }
       server { listen 127.0.0.1:%%PORT_1%%; return 200 alive; }`,
    ),
  });

/** OpenSSL's client, which takes a line that begins with certain letters for a command. */
class Client {
  readonly #process: ChildProcessWithoutNullStreams;
  #text = '';
  #wake = (): void => {};

  constructor(t: Test, server: Server, version: string) {
    this.#process = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${server.port(0)}`, '-crlf', version]);
    for (const output of [this.#process.stdout, this.#process.stderr]) {
      output.on('data', (bytes: Buffer) => {
        this.#text += bytes.toString('latin1');
        this.#wake();
      });
    }
    t.teardown(() => this.#process.kill());
  }

  say(text: string): void {
    this.#process.stdin.write(text);
  }

  /** Resolves once the text was there so many times. */
  async reads(text: string, times = 1): Promise<void> {
    while (this.#text.split(text).length <= times) {
      await new Promise<void>((done) => {
        this.#wake = done;
      });
    }
  }

  get ended(): Promise<unknown> {
    return once(this.#process, 'exit');
  }
}

t.test('the client changes its keys, and has the server change its own', async (t) => {
  const server = await start(t);
  const client = new Client(t, server, '-tls1_3');
  for (const [index, command] of ['k\n', 'K\n', 'K\n'].entries()) {
    client.say(REQUEST);
    await client.reads(`request ${index + 1} over TLSv1.3,`);
    client.say(command);
    // What follows at once would be taken for a part of the command.
    await client.reads('KEYUPDATE', index + 1);
  }
  client.say(REQUEST);
  await client.reads('request 4 over TLSv1.3,');
  t.pass('requests go on');
});

t.test('no second handshake', async (t) => {
  const server = await start(t);
  const client = new Client(t, server, '-tls1_2');
  client.say(REQUEST);
  await client.reads('request 1 over TLSv1.2,');
  const { ended } = client;
  client.say('R\n');
  await Promise.all([client.reads('no renegotiation'), ended]);
  t.equal((await httpGet(server.port(1), '/')).text, 'alive');
});
