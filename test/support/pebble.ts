import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, request } from 'node:https';

import type { Test } from 'tap';
import { certs } from './certs.js';
import { reservePort } from './ports.js';
import { waitFor } from './wait.js';

/** Why tests with a CA are skipped; false where pebble is installed. */
export const noPebble: string | false = spawnSync('pebble', ['-h']).error !== undefined && 'no pebble';

export interface PebbleOptions {
  /** Where the CA looks for answers to challenges. */
  readonly httpPort?: number;
  readonly tlsPort?: number;
  /** Port of the name server that it asks, on 127.0.0.1. */
  readonly dnsPort: number;
  /** Seconds for which certificates are valid; pebble's own default unless told. */
  readonly validity?: number;
  /** Of a hundred requests, so many are answered by `badNonce`. */
  readonly badNonces?: number;
  /** Accounts have to be bound to these, by the key's name; keys are in base64url. */
  readonly externalKeys?: Readonly<Record<string, string>>;
  /** A response of another chain is to be had for each of so many further roots. */
  readonly alternateRoots?: number;
  /** Where certificates say that their status is told. */
  readonly responder?: string;
}

/** A request to the CA, as an intercepting test sees it. */
export interface CaRequest {
  readonly method: string;
  readonly path: string;
  /** The payload of a signed request, undefined for others. */
  readonly payload: unknown;
}

/** Takes a request's answer over; true when it did. */
export type Intercept = (request: CaRequest, answer: (status: number, body: object | string, headers?: object) => void) => boolean;

/** A CA under the control of a test: pebble, behind a server of ours that can answer in its place. */
export interface Pebble {
  /** URL of the directory. */
  readonly directory: string;
  /** Whom the CA's server is checked against: a file. */
  readonly trusted: string;
  /** All requests so far, as `METHOD PATH`. */
  readonly requests: string[];
  /** Orders that it has taken so far. */
  readonly orders: { readonly identifiers: readonly { readonly type: string; readonly value: string }[]; readonly replaces?: string }[];
  intercept: Intercept | undefined;
  /** The certificate at the root of what it issues, in PEM. */
  root(): Promise<string>;
  /** The key and the certificate that it signs with, in PEM. */
  intermediate(): Promise<{ readonly cert: string; readonly key: string }>;
  /** Nobody listens at the CA's address. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

/** Starts a CA, which ends with the test. `dir`: a folder for its files. */
export async function startPebble(t: Test, dir: string, options: PebbleOptions): Promise<Pebble> {
  const [behind, management, front] = [await reservePort(), await reservePort(), await reservePort()];
  t.teardown(() => {
    for (const port of [behind, management, front]) {
      port.release();
    }
  });
  const { rsa, ca } = certs();
  const pebble = {
    listenAddress: `127.0.0.1:${behind.port}`,
    managementListenAddress: `127.0.0.1:${management.port}`,
    certificate: rsa.cert,
    privateKey: rsa.key,
    httpPort: options.httpPort ?? 5002,
    tlsPort: options.tlsPort ?? 5001,
    ocspResponderURL: options.responder ?? '',
    externalAccountBindingRequired: options.externalKeys !== undefined,
    externalAccountMACKeys: options.externalKeys ?? {},
    ...(options.validity === undefined ? {} : { certificateValidityPeriod: options.validity }),
  };
  writeFileSync(`${dir}/pebble.json`, JSON.stringify({ pebble }));
  const child = spawn('pebble', ['-config', `${dir}/pebble.json`, '-dnsserver', `127.0.0.1:${options.dnsPort}`], {
    env: {
      ...process.env,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(options.badNonces ?? 0),
      PEBBLE_ALTERNATE_ROOTS: String(options.alternateRoots ?? 0),
    },
  });
  await started(t, child);
  const made = new Front(behind.port, management.port, front.port, ca.cert);
  await made.comeBack();
  t.teardown(() => made.goAway());
  return made;
}

async function started(t: Test, child: ChildProcess): Promise<void> {
  t.teardown(() => child.kill());
  let said = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('latin1').on('data', (text: string) => (said += text));
  }
  await waitFor(() => said.includes('ACME directory available'), { what: () => `pebble\n${said}` });
}

class Front implements Pebble {
  readonly directory: string;
  readonly trusted: string;
  readonly requests: string[] = [];
  readonly orders: Pebble['orders'] = [];
  intercept: Intercept | undefined;
  readonly #behind: number;
  readonly #management: number;
  readonly #port: number;
  #server: ReturnType<typeof createServer> | undefined;

  constructor(behind: number, management: number, port: number, trusted: string) {
    this.#behind = behind;
    this.#management = management;
    this.#port = port;
    this.trusted = trusted;
    this.directory = `https://localhost:${port}/dir`;
  }

  async root(): Promise<string> {
    return (await send(this.#management, 'GET', '/roots/0', {}, Buffer.alloc(0))).body.toString();
  }

  async intermediate(): Promise<{ readonly cert: string; readonly key: string }> {
    const get = async (what: string): Promise<string> =>
      (await send(this.#management, 'GET', `/intermediate${what}/0`, {}, Buffer.alloc(0))).body.toString();
    return { cert: await get('s'), key: await get('-keys') };
  }

  async goAway(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((done) => (server === undefined ? done() : server.close(() => done())));
  }

  async comeBack(): Promise<void> {
    const { rsa } = certs();
    const server = createServer({ cert: readFileSync(rsa.cert), key: readFileSync(rsa.key) }, (req, res) => {
      const parts: Buffer[] = [];
      req.on('data', (part: Buffer) => parts.push(part));
      req.on('end', () => void this.#serve(req.method!, req.url!, req.headers, Buffer.concat(parts), res));
    });
    await new Promise<void>((done) => server.listen(this.#port, '127.0.0.1', done));
    this.#server = server;
  }

  async #serve(method: string, path: string, headers: object, body: Buffer, res: ServerResponse): Promise<void> {
    this.requests.push(`${method} ${path}`);
    const payload = payloadOf(body);
    const answer = (status: number, text: object | string, more: object = {}): void => {
      res.writeHead(status, { 'content-type': 'application/problem+json', 'replay-nonce': 'none', ...more });
      res.end(typeof text === 'string' ? text : JSON.stringify(text));
    };
    if (this.intercept?.({ method, path, payload }, answer)) {
      return;
    }
    try {
      const { status, headers: theirs, body: text } = await send(this.#behind, method, path, headers, body);
      if (status === 201 && typeof payload === 'object' && payload !== null && 'identifiers' in payload) {
        this.orders.push(payload as Pebble['orders'][number]);
      }
      res.writeHead(status, theirs);
      res.end(text);
    } catch {
      res.destroy();
    }
  }
}

function payloadOf(body: Buffer): unknown {
  try {
    const { payload } = JSON.parse(body.toString()) as { readonly payload: string };
    return payload === '' ? '' : JSON.parse(Buffer.from(payload, 'base64url').toString());
  } catch {
    return undefined;
  }
}

function send(
  port: number,
  method: string,
  path: string,
  headers: object,
  body: Buffer,
): Promise<{ readonly status: number; readonly headers: Record<string, string | string[] | undefined>; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, method, path, headers: { ...headers, connection: 'close' }, rejectUnauthorized: false });
    req.on('error', reject);
    req.on('response', (res) => {
      const parts: Buffer[] = [];
      res.on('data', (part: Buffer) => parts.push(part));
      res.on('error', reject);
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(parts) }));
    });
    req.end(body);
  });
}
