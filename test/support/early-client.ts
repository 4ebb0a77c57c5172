// Clients of the openssl command, which send early data.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { waitFor } from './wait.js';

/** A client of the openssl command, which shows what it is sent. */
export class OpenSslClient {
  readonly #child;
  output = '';
  over = false;

  constructor(port: number, args: readonly string[]) {
    const to = ['-connect', `127.0.0.1:${port}`, '-servername', 'localhost', '-tls1_3', '-ign_eof'];
    this.#child = spawn('openssl', ['s_client', ...to, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('latin1').on('data', (text: string) => (this.output += text));
    }
    this.#child.stdin.on('error', () => {});
    this.#child.once('close', () => (this.over = true));
  }

  send(text: string): void {
    this.#child.stdin.write(text);
  }

  until(text: string | RegExp): Promise<unknown> {
    return waitFor(() => (typeof text === 'string' ? this.output.includes(text) : text.test(this.output)), {
      what: () => `${text} in ${this.output}`,
    });
  }

  async end(): Promise<string> {
    await waitFor(() => this.over, { what: () => `the end of ${this.output}` });
    return this.output;
  }

  kill(): void {
    this.#child.kill();
  }
}

/** Gets a ticket, on a connection of its own. */
export async function ticket(port: number, file: string, ...args: string[]): Promise<void> {
  const client = new OpenSslClient(port, ['-sess_out', file, ...args]);
  client.send('GET /ticket HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await client.end();
}

/** A request of HTTP/1.1, after which the connection is closed unless `more` says otherwise. */
export const request = (path: string, more = 'Connection: close\r\n\r\n', method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${more}`;

/** What a client gets for early data and what it sends behind the handshake. */
export async function early(port: number, dir: string, data: string, late = '', ...args: string[]): Promise<string> {
  writeFileSync(`${dir}/early`, data, 'latin1');
  const client = new OpenSslClient(port, ['-sess_in', `${dir}/session`, '-early_data', `${dir}/early`, ...args]);
  if (late !== '') {
    await client.until(/Early data was (?:accepted|rejected)/);
    client.send(late);
  }
  return await client.end();
}
