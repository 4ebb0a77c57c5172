import { connect, createServer, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { type RehearsedResponse, readResponse } from '../../src/tools/rehearsal/read-response.js';
import type { Rehearsal, Rehearsed } from '../../src/tools/rehearsal/rehearsal.js';
import { type StubAnswer, stubReader } from '../../src/tools/rehearsal/stub-backend.js';
import type { BackendRequest, CompleteAnswer } from '../../src/tools/rehearsal/stub-channel.js';
import { type PackedTrace, unpackTrace } from '../../src/worker/http/trace/trace-text.js';

/** The token in the configurations that are compared. */
export const TOKEN = 'a-token-for-comparisons';

/** A request that both answer. Texts are latin1. */
export interface ComparedRequest {
  readonly port: number;
  readonly tls?: boolean | undefined;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | undefined;
}

/** Answers of a backend by what it is asked. */
export type Answers = (request: BackendRequest) => StubAnswer;

/** A backend on a port that speaks all protocols to backends, and keeps what it is asked. */
export class RealBackend {
  readonly requests: BackendRequest[] = [];
  readonly #server = createServer((socket) => this.#serve(socket));
  readonly #answers: Answers;

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  listen(): Promise<number> {
    return new Promise((done) => {
      this.#server.listen(0, '127.0.0.1', () => done((this.#server.address() as { port: number }).port));
    });
  }

  close(): void {
    this.#server.close();
  }

  #serve(socket: Socket): void {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    let reader: ReturnType<typeof stubReader> | undefined;
    socket.on('data', (bytes) => {
      reader ??= stubReader(bytes, {
        answer: (request) => this.#answer(request, socket),
        send: (data) => void socket.write(Buffer.from(data as string, 'latin1')),
        end: () => void socket.end(),
      });
      reader.written(bytes);
    });
  }

  #answer(request: Omit<BackendRequest, 'peer'>, socket: Socket): CompleteAnswer | undefined {
    const whole = { ...request, peer: `127.0.0.1:${socket.localPort}` };
    this.requests.push(whole);
    const { status = 200, headers = [], body = '' } = this.#answers(whole);
    return { status, headers, body: Buffer.from(body as string, 'latin1') };
  }
}

interface Live {
  readonly response: RehearsedResponse;
  readonly trace: PackedTrace | undefined;
}

/** A port that nobody has just now. */
const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });

/** Sends a request to the running server, with the token, and reads to the end of the connection. */
function ask(request: ComparedRequest, localPort: number): Promise<Live> {
  const { port, tls, method, target, headers, body = '' } = request;
  const host = headers.find(([name]) => name === 'Host')?.[1]?.replace(/:\d+$/, '') ?? '';
  const servername = /^[\d.]*$/.test(host) ? {} : { servername: host };
  return new Promise((done, fail) => {
    const socket = tls
      ? connectTls({
          host: '127.0.0.1',
          port,
          localPort,
          ...servername,
          rejectUnauthorized: false,
          ALPNProtocols: ['http/1.1'],
        } as object as ConnectionOptions)
      : connect({ host: '127.0.0.1', port, localPort });
    const pieces: Buffer[] = [];
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      const lines = [...headers, ['X-Sluice-Explain', TOKEN] as const].map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
      socket.write(Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}${length}\r\n${body}`, 'latin1'));
    });
    socket.on('data', (piece) => pieces.push(piece));
    socket.setTimeout(20_000, () => socket.destroy(new Error(`no answer to ${method} ${target}`)));
    socket.once('error', (error) =>
      pieces.length > 0 || (error as NodeJS.ErrnoException).code === 'ECONNRESET' ? undefined : fail(error),
    );
    socket.once('close', () => {
      const response = readResponse(Buffer.concat(pieces), method === 'HEAD');
      const packed = response.headers.find(([name]) => name === 'X-Sluice-Trace')?.[1];
      done({ response, trace: packed === undefined ? undefined : unpackTrace(packed) });
    });
  });
}

/** What no two answers have in common: times, numbers of connections and processes, and random identifiers. */
const masked = (text: string): string =>
  text
    .replace(/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
    .replace(/\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([+-]\d\d:\d\d|Z)/g, 'TIME')
    .replace(/\b\d+\.\d{3}\b/g, 'SECONDS')
    .replace(/\b[0-9a-f]{32}\b/g, 'ID')
    .replace(/sluice\/\d+\.\d+\.\d+/g, 'sluice/VERSION')
    .replace(/\b(uid|userid)=[^;"\s]+/g, '$1=ID');

const shownHeaders = (headers: readonly (readonly [string, string])[]): string[] =>
  headers.flatMap(([name, value]) => (name === 'Date' || name === 'X-Sluice-Trace' ? [] : [masked(`${name}: ${value}`)]));

/** The tracing filter's own header follows the trace. */
function withoutTrace(headers: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const at = headers.findIndex(([name]) => name === 'X-Sluice-Trace');
  return at === -1 ? [...headers] : headers.filter((_, i) => i !== at && i !== at + 1);
}

const shownRequests = (requests: readonly BackendRequest[]): string[] =>
  requests.map(({ protocol, method, uri, headers, body }) =>
    masked([protocol, method, uri, ...headers.map(([name, value]) => `${name}: ${value}`), body.toString('latin1')].join('\n')),
  );

/** The parts of both that must agree. */
interface Parts {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
  readonly location: string | undefined;
  readonly server: string | undefined;
  readonly uri: string | undefined;
  readonly requests: readonly string[];
}

function liveParts({ response, trace }: Live, requests: readonly BackendRequest[]): Parts {
  return {
    status: response.status,
    headers: shownHeaders(withoutTrace(response.headers)),
    body: masked(response.body.toString('latin1')),
    location: trace?.location,
    server: trace?.server,
    uri: trace?.uri,
    requests: shownRequests(requests),
  };
}

function rehearsedParts(outcome: Rehearsed, traced: boolean): Parts {
  const { response, location, server, uri, args, upstreamRequests } = outcome;
  return {
    status: response.status,
    headers: shownHeaders(response.headers),
    body: masked(response.body.toString('latin1')),
    location: traced ? location : undefined,
    server: traced ? server : undefined,
    uri: traced ? (args === '' ? uri : `${uri}?${args}`) : undefined,
    requests: shownRequests(upstreamRequests),
  };
}

/** One disagreement. */
export interface Difference {
  readonly request: ComparedRequest;
  readonly what: string;
  readonly server: string;
  readonly explain: string;
}

/**
 * Sends requests to a running server and through the rehearsal of its configuration, and returns where they disagree. `backend` is where
 * the configuration's backends are; `logLines` gives the lines of the server's access logs, once there are so many.
 */
export async function compareExplain(
  rehearsal: Rehearsal,
  requests: readonly ComparedRequest[],
  backend: { readonly real: RealBackend; readonly answers: Answers },
  logLines: (count: number) => Promise<readonly string[]>,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const lines: { request: ComparedRequest; line: string }[] = [];
  for (const request of requests) {
    const { port, tls, method, target, headers, body } = request;
    const clientPort = await freePort();
    // First what only looks: what the server keeps in its caches would be found otherwise.
    const outcome = await rehearsal.run(
      { method, target, headers, body },
      {
        host: '127.0.0.1',
        port,
        tls,
        clientPort,
        stub: (_peer, asked) => (asked === undefined ? {} : backend.answers(asked)),
      },
    );
    const before = backend.real.requests.length;
    const live = await ask(request, clientPort);
    const one = liveParts(live, backend.real.requests.slice(before));
    const other = rehearsedParts(outcome, live.trace !== undefined);
    for (const what of Object.keys(one) as (keyof Parts)[]) {
      const [server, explain] = [one[what], other[what]].map((part) => JSON.stringify(part) ?? '');
      if (server !== explain) {
        differences.push({ request, what, server: server!, explain: explain! });
      }
    }
    lines.push(...outcome.logLines.map(({ line }) => ({ request, line: masked(line) })));
  }
  const written = (await logLines(lines.length)).map(masked);
  for (let i = 0; i < Math.max(lines.length, written.length); i++) {
    if (written[i] !== lines[i]?.line) {
      const { request = requests.at(-1)!, line = 'no line' } = lines[i] ?? {};
      differences.push({ request, what: `log line ${i}`, server: written[i] ?? 'no line', explain: line });
      break;
    }
  }
  return differences;
}
