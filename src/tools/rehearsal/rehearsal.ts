// The engine without effects, for `sluice explain` and `sluice test`.
//
//   const rehearsal = new Rehearsal(configuration.snapshot);            // what loadConfiguration() gives
//   const outcome = await rehearsal.run({ target: '/x', headers: [['Host', 'a.example']] }, { port: 80, stub: () => ({ status: 404 }) });
//   outcome.response.status, outcome.location, outcome.upstreamRequests, outcome.logLines, outcome.trace ...
//   rehearsal.close();
//
// It compiles the configuration as a worker does and sends each request through the worker's own connection, phases, filters and log phase.
// What is different: the client's socket is memory (MemorySocket); connections to backends end in a stub (StubNetwork); names are looked up
// by `resolve`; shared zones are in memory, empty at first, and kept from one run to the next until close(); time is virtual (VirtualTime);
// logs, caches, stores and dav write nothing (WorkerEnv.rehearsing). Files that are served, and entries of a cache, are the real ones.
// One request runs at a time in a process: run() may be called again before the last one is done, and waits for its turn.

import type { Snapshot } from '../../shared/config/configuration.js';
import { In } from '../../shared/config/context.js';
import { blockIn, type Loaded, loadFromSnapshot } from '../../shared/config/load.js';
import { SqliteZoneStore } from '../../shared/zone/store.js';
import { buildRuntime } from '../../worker/build-http.js';
import { ConnectionCounters } from '../../worker/connections/counters.js';
import type { WorkerEnv } from '../../worker/env.js';
import { Http1Connection } from '../../worker/http/http1/http1-connection.js';
import type { HttpRuntime } from '../../worker/http/request/http-runtime.js';
import type { Request } from '../../worker/http/request/request.js';
import { nameSlot } from '../../worker/http/request/server-names.js';
import type { TraceStep, TraceWhere } from '../../worker/http/request/trace.js';
import { beginTrace } from '../../worker/http/trace/begin-trace.js';
import { type PlacedStep, TracePlaces } from '../../worker/http/trace/trace-places.js';
import { language } from '../../worker/language.js';
import { modules } from '../../worker/modules/index.js';
import { processScope } from '../../worker/modules/process/index.js';
import { network } from '../../worker/net/engine/network.js';
import type { Resolver } from '../../worker/resolver/resolver.js';
import { endFailedWork } from '../../worker/task/at-work.js';
import type { ClientTask } from '../../worker/task/client-task.js';
import { upstreamOf } from '../../worker/upstream/exchange/upstream-request.js';
import { CapturedLog, type ErrorLine, NoLogFiles } from './captured-logs.js';
import { headerValue } from './field-values.js';
import { MemorySocket } from './memory-socket.js';
import { type RehearsedResponse, readResponse } from './read-response.js';
import { type StubBackend, StubNetwork } from './stub-backend.js';
import type { BackendRequest } from './stub-channel.js';
import { arrivalOf, openedFor, RehearsalHost } from './virtual-client.js';
import { nextTurn, realMilliseconds, VirtualTime } from './virtual-time.js';

/** A request to rehearse. Texts are latin1. */
export interface RehearsalRequest {
  /** GET unless given. */
  readonly method?: string | undefined;
  /** Path and arguments as they are sent, or an absolute URI. */
  readonly target: string;
  /** In their order. A `Host` is added to HTTP/1.1 requests that have none. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The request's body. Its length is added where no header gives one. */
  readonly body?: string | Buffer | undefined;
  /** `1.1` unless given. */
  readonly version?: '1.0' | '1.1' | undefined;
}

/** Under which circumstances. */
export interface RehearsalOptions {
  /** Where the client connects to: an address, a name, or the path of a Unix-domain socket. `localhost` unless given. */
  readonly host?: string | undefined;
  /** 80 unless given; 443 with `tls`. */
  readonly port?: number | undefined;
  /** The client speaks TLS. */
  readonly tls?: boolean | undefined;
  /** The name in its hello; the host of the request unless given. */
  readonly sni?: string | undefined;
  /** The client's address, `127.0.0.1` unless given, and port. */
  readonly address?: string | undefined;
  readonly clientPort?: number | undefined;
  /** The wall clock, milliseconds since 1970; the present unless given. */
  readonly now?: number | undefined;
  /** Answers for the backends; 200 and an empty body unless given. */
  readonly stub?: StubBackend | undefined;
  /** Addresses of names that a `resolver` would look up; 192.0.2.1 unless given, and none for an empty list. */
  readonly resolve?: ((name: string) => readonly string[]) | undefined;
}

/** A header field, and the line that made it. */
export interface PlacedField {
  readonly name: string;
  readonly value: string;
  readonly file: string | undefined;
  readonly line: number | undefined;
}

/** What came of a request. */
export interface Rehearsed {
  readonly response: RehearsedResponse;
  /** The decisions on the way, in their order. */
  readonly trace: readonly PlacedStep[];
  /** Requests that backends got, those of subrequests too. */
  readonly upstreamRequests: readonly BackendRequest[];
  /** The lines of access logs, and the files they would go to. */
  readonly logLines: readonly { readonly path: string; readonly line: string }[];
  /** Lines for the error log down to level info, whatever `error_log` says. */
  readonly errors: readonly ErrorLine[];
  /** `$server_name` of the server that answered; undefined when no request was made out. */
  readonly server: string | undefined;
  /** The location that answered as it is written after `location`, `@name` of a named one, or empty outside of all. */
  readonly location: string | undefined;
  /** The URI and arguments at the end, after rewrites and redirects inside the server. */
  readonly uri: string | undefined;
  readonly args: string | undefined;
  /** The group or host and the peer that was asked last. */
  readonly upstream: { readonly group: string | undefined; readonly peer: string | undefined } | undefined;
  readonly cacheKey: string | undefined;
  /** The keys of `limit_req` and `limit_conn` zones that the request was counted under. */
  readonly limitKeys: readonly { readonly zone: string; readonly key: string; readonly outcome: string }[];
}

/** The request cannot be made. */
export class RehearsalError extends Error {}

/** A request is given up after so many real milliseconds, or so many timers. */
const STUCK = 20_000;
const MOST_LEAPS = 10_000;
/** A timer fires only if nothing else has happened for so many real milliseconds: threads may be at work. */
const GRACE = 2;
/** Timers farther away than this, in virtual milliseconds, are not waited for. */
const LONGEST_WAIT = 3_600_000;
/** Where a name without an address of its own leads; RFC 5737. */
const SOMEWHERE = ['192.0.2.1'];

const time = new VirtualTime();
const stubs = new StubNetwork();
let turn: Promise<unknown> = Promise.resolve();

/** A configuration, compiled, on which requests are tried out. */
export class Rehearsal {
  readonly http: HttpRuntime;
  readonly loaded: Loaded<ClientTask>;
  readonly #env: WorkerEnv;
  readonly #log = new CapturedLog();
  readonly #host: RehearsalHost;
  readonly #closers: (() => void)[] = [];
  readonly #places: TracePlaces;
  #resolve: (name: string) => readonly string[] = () => SOMEWHERE;
  #begun: Request | undefined;
  #serial = 0;

  /** Throws {@link RehearsalError} when the configuration has no `http` block. */
  constructor(snapshot: Snapshot) {
    time.enter();
    network.standIn = stubs;
    try {
      const loaded = loadFromSnapshot<ClientTask>(language, snapshot);
      this.loaded = loaded;
      const settings = loaded.settings(processScope, loaded.root);
      const zones = new SqliteZoneStore({ directory: undefined, files: {} }, loaded.zones.all(), process.pid, this.#log);
      this.#closers.push(() => zones.close());
      this.#env = {
        slot: 0,
        workers: 1,
        zones,
        log: this.#log,
        logFiles: new NoLogFiles(),
        named: loaded.sources.named,
        prefix: snapshot.prefix,
        confPrefix: snapshot.confPrefix,
        confFile: snapshot.entry,
        errorLogPath: snapshot.errorLog ?? '',
        devReport: undefined,
        compatible: settings.compatibility,
        rehearsing: true,
        resolver: this.#resolver(),
        tracer: { begin: (r) => this.#begin(r as Request) },
        onDrain: (callback) => void this.#closers.push(callback),
        onClose: (callback) => void this.#closers.push(callback),
      };
      const http = blockIn(loaded.root, In.HTTP) && buildRuntime(loaded, modules, this.#env);
      if (http === undefined) {
        throw new RehearsalError('the configuration has no http block');
      }
      this.http = http;
      this.#host = new RehearsalHost(this.#env, new ConnectionCounters());
      this.#places = new TracePlaces(http, ({ args, pos }) =>
        loaded.sources.include(args[0]!, pos).flatMap((file) => loaded.sources.parse(file, pos)),
      );
    } finally {
      time.leave();
    }
  }

  /** Sends one request through the engine. Rejects with {@link RehearsalError} when nothing listens where it is to go. */
  run(request: RehearsalRequest, options: RehearsalOptions = {}): Promise<Rehearsed> {
    const result = turn.then(() => this.#run(request, options));
    turn = result.catch(() => {});
    return result;
  }

  /** Gives all up. */
  close(): void {
    for (const close of this.#closers.splice(0).reverse()) {
      close();
    }
    this.#env.logFiles.closeAll();
  }

  async #run(request: RehearsalRequest, options: RehearsalOptions): Promise<Rehearsed> {
    const { tls = false, host = 'localhost', address = '127.0.0.1' } = options;
    const port = options.port ?? (tls ? 443 : 80);
    const arrival = arrivalOf(this.http, host, port);
    if (arrival === undefined) {
      throw new RehearsalError(`nothing listens on ${host.startsWith('/') ? `unix:${host}` : `${host}:${port}`}`);
    }
    const { bytes, name } = requestBytes(request, port, tls);
    const remote = arrival.listener.unix ? {} : { address, port: options.clientPort ?? 50000 };
    const socket = new MemorySocket(remote, arrival.listener.unix ? {} : { address: arrival.local, port });
    const opened = openedFor(arrival.address, socket, tls && arrival.address.tls !== undefined, options.sni ?? name);
    this.#begun = undefined;
    this.#resolve = options.resolve ?? (() => SOMEWHERE);
    this.#log.take();
    stubs.take();
    stubs.stub = options.stub ?? (() => ({}));
    network.standIn = stubs;
    time.enter();
    time.setWall(options.now ?? RealNow());
    const crashed = (error: unknown): void => {
      if (!endFailedWork(error)) {
        throw error;
      }
    };
    process.on('uncaughtException', crashed);
    const { fetch } = globalThis;
    globalThis.fetch = stubs.fetch;
    try {
      const connection = new Http1Connection(this.#host, socket, arrival.address, ++this.#serial, undefined, opened);
      connection.start();
      await nextTurn();
      connection.socketReceived(bytes, bytes.length, false);
      await this.#settle(socket);
    } finally {
      process.off('uncaughtException', crashed);
      globalThis.fetch = fetch;
      time.leave();
    }
    return this.#outcome(request, socket);
  }

  /** Lets the event loop go round until the request is over and its connection closed. */
  async #settle(socket: MemorySocket): Promise<void> {
    let told = false;
    let calm = Number.POSITIVE_INFINITY;
    let sent = 0;
    let leaps = 0;
    const began = realMilliseconds();
    while (!socket.closed) {
      await nextTurn();
      // A client that waits for nothing more closes, as soon as it has its answer.
      if (!told && (socket.ended || this.#begun?.finished === true)) {
        told = true;
        socket.owner!.socketEnded(false);
        continue;
      }
      const now = realMilliseconds();
      if (time.goesOn || busy() || socket.size !== sent) {
        calm = Number.POSITIVE_INFINITY;
        sent = socket.size;
      } else if (calm === Number.POSITIVE_INFINITY) {
        calm = now;
      } else if (now - calm <= GRACE) {
        await nextTurn(1);
      } else if (time.leap(LONGEST_WAIT)) {
        calm = Number.POSITIVE_INFINITY;
        leaps++;
      } else {
        await nextTurn(1);
      }
      if (now - began > STUCK || leaps > MOST_LEAPS) {
        throw new RehearsalError('the request does not come to an end');
      }
    }
    // What waits for the end of the tick, such as zones, is done.
    await nextTurn();
    await nextTurn();
  }

  #begin(r: Request): void {
    if (this.#begun !== undefined) {
      return;
    }
    this.#begun = r;
    beginTrace(r);
  }

  #outcome(request: RehearsalRequest, socket: MemorySocket): Rehearsed {
    const r = this.#begun;
    const upstreamRequests = stubs.take();
    const trace = r?.trace == null ? [] : this.#placed(r.trace.steps, upstreamRequests);
    const u = r === undefined ? null : upstreamOf(r);
    const peer = u?.peer.attempts?.findLast((attempt) => attempt.peer !== undefined)?.peer;
    const of = (kind: string): readonly Readonly<Record<string, unknown>>[] =>
      trace.filter((step) => step.kind === kind).map(({ data }) => data);
    return {
      response: readResponse(socket.bytes, request.method === 'HEAD'),
      trace,
      upstreamRequests,
      logLines: of('log').flatMap(({ path, line }) => (line === undefined ? [] : [{ path: `${path}`, line: `${line}` }])),
      errors: this.#log.take(),
      server: r?.server.conf(nameSlot).serverName,
      location: r === undefined ? undefined : this.#places.locationName(r.location),
      uri: r?.uri,
      args: r?.args,
      upstream: u === null || peer === undefined ? undefined : { group: u.peer.groupName, peer },
      cacheKey: of('cache').findLast(({ key }) => key !== undefined)?.key as string | undefined,
      limitKeys: of('limit').flatMap(({ zone, key, outcome }) =>
        key === undefined ? [] : [{ zone: `${zone}`, key: `${key}`, outcome: `${outcome}` }],
      ),
    };
  }

  /** Steps with their places; those about requests to backends get what the stubs have read. */
  #placed(steps: readonly TraceStep[], requests: readonly BackendRequest[]): PlacedStep[] {
    let next = 0;
    return this.#places.placed(steps).map((step, i) => {
      const request = step.kind === 'backend-request' ? requests[next++] : undefined;
      if (request === undefined) {
        return step;
      }
      const { protocol, method, uri } = request;
      const fields = this.#fields(steps[i]!.where, request);
      return { ...step, data: { peer: request.peer, protocol, method, uri, fields, bodyBytes: request.body.length } };
    });
  }

  /** The fields of a request to a backend, each with the line that sets it. `where`: the line that passes the request on. */
  #fields(where: TraceWhere, { protocol, headers }: BackendRequest): PlacedField[] {
    const passing = where !== undefined && 'in' in where ? where : undefined;
    const module = passing?.directive?.replace(/_pass$/, '');
    const directive = `${module}_${protocol === 'http' || protocol === 'http2' ? 'set_header' : 'param'}`;
    return headers.map(([name, value]) => {
      const pos = module === undefined ? undefined : this.#places.find({ in: passing!.in, directive, first: name });
      return { name, value, file: pos?.file, line: pos?.line };
    });
  }

  /** Where a response's header comes from: the last step that gave it its value, or the directive that governs a usual one. */
  originOf(
    name: string,
    outcome: Rehearsed,
  ): { readonly from: string; readonly file: string | undefined; readonly line: number | undefined } {
    const key = name.toLowerCase();
    const step = outcome.trace.findLast(
      ({ kind, depth, data }) => kind === 'header' && depth === 0 && `${data.name}`.toLowerCase() === key,
    );
    if (step !== undefined) {
      const { from = 'add_header' } = step.data;
      return { from: `${from}`, file: step.file, line: step.line };
    }
    const directive = GOVERNED.get(key);
    const pos =
      directive === undefined || this.#begun === undefined ? undefined : this.#places.find({ in: this.#begun.location, directive });
    return { from: pos === undefined ? 'by default' : directive!, file: pos?.file, line: pos?.line };
  }

  #resolver(): Resolver {
    const later = (then: () => void): (() => void) => {
      const immediate = setImmediate(then);
      return () => clearImmediate(immediate);
    };
    const addressesOf = (name: string): { state: number; addresses: readonly string[]; validUntil: number } => {
      const addresses = this.#resolve(name);
      return { state: addresses.length === 0 ? 3 : 0, addresses, validUntil: Number.POSITIVE_INFINITY };
    };
    return {
      resolve: (name, _timeout, done) => later(() => done(addressesOf(name))),
      resolveService: (_service, host, _timeout, done) =>
        later(() => {
          const { state, addresses, validUntil } = addressesOf(host);
          const services = addresses.length === 0 ? [] : [{ host, port: 80, priority: 1, weight: 1, addresses }];
          done({ state, services, failures: [], validUntil });
        }),
    };
  }
}

/** Headers that the engine adds last, and what they depend on. */
const GOVERNED: ReadonlyMap<string, string> = new Map([
  ['server', 'server_tokens'],
  ['connection', 'keepalive_timeout'],
  ['keep-alive', 'keepalive_timeout'],
  ['vary', 'gzip_vary'],
  ['location', 'absolute_redirect'],
]);

const RealNow = Date.now.bind(Date);

/** Whether files are being read, or threads asked, of which the event loop will hear. */
function busy(): boolean {
  return process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq') || name === 'FileHandle' || name.endsWith('Job'));
}

function requestBytes(request: RehearsalRequest, port: number, tls: boolean): { bytes: Buffer; name: string | undefined } {
  const { method = 'GET', target, version = '1.1', headers = [] } = request;
  const body = Buffer.from((request.body ?? '') as string, 'latin1');
  const fields = [...headers];
  if (headerValue(headers, 'host') === undefined && version === '1.1') {
    const usual = port === (tls ? 443 : 80) || port === 0;
    fields.unshift(['Host', `localhost${usual ? '' : `:${port}`}`]);
  }
  if (body.length > 0 && headerValue(headers, 'content-length') === undefined && headerValue(headers, 'transfer-encoding') === undefined) {
    fields.push(['Content-Length', `${body.length}`]);
  }
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const host = /^[a-z]+:\/\/([^/]*)/i.exec(target)?.[1] ?? fields.find(([name]) => name.toLowerCase() === 'host')?.[1];
  const name = host?.replace(/:\d*$/, '').toLowerCase();
  const literal = name === undefined || /^[\d.]*$/.test(name) || name.startsWith('[');
  return {
    bytes: Buffer.concat([Buffer.from(`${method} ${target} HTTP/${version}\r\n${lines}\r\n`, 'latin1'), body]),
    name: literal ? undefined : name,
  };
}
