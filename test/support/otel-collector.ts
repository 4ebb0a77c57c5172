import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { Server as GrpcServer, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import type { Test } from 'tap';
import { pem } from './certs.js';
import { waitFor } from './wait.js';

export type Value = string | number | readonly Value[];

/** A span as it came. Identifiers are hexadecimal, times nanoseconds. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly state: string;
  readonly name: string;
  /** 2 is a server's span, 3 a client's. */
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly events: readonly { readonly name: string; readonly time: bigint; readonly attributes: Readonly<Record<string, Value>> }[];
  readonly droppedEvents: number;
  /** 2 is an error. */
  readonly status: number;
  readonly message: string;
  readonly resource: Readonly<Record<string, Value>>;
  readonly scope: string;
}

/** One call of a client. */
export interface Batch {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly spans: readonly CollectedSpan[];
}

export interface CollectorOptions {
  readonly protocol: 'grpc' | 'http';
  readonly tls?: { readonly cert: string; readonly key: string };
  /** What becomes of calls; `take` unless told. A reset is of the connection. */
  readonly behaviour?: 'take' | 'refuse' | 'silence' | 'reset';
}

/** A collector of spans, OTLP over gRPC or over HTTP. */
export interface Collector {
  readonly port: number;
  readonly batches: Batch[];
  /** All spans, in the order of their coming. */
  spans(): CollectedSpan[];
  /** Waits until so many have come. */
  received(count: number): Promise<CollectedSpan[]>;
  /** Calls so far, taken or not. */
  calls(): number;
}

/** The fields of a protobuf message by their numbers: integers, fixed numbers and bytes. */
function fieldsOf(bytes: Buffer): Map<number, (bigint | Buffer)[]> {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) {
        return value;
      }
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    let value: bigint | Buffer;
    switch (key & 7) {
      case 0:
        value = varint();
        break;
      case 1:
        value = bytes.readBigUInt64LE(at);
        at += 8;
        break;
      case 2: {
        const size = Number(varint());
        value = bytes.subarray(at, at + size);
        at += size;
        break;
      }
      default:
        value = BigInt(bytes.readUInt32LE(at));
        at += 4;
    }
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), value]);
  }
  return fields;
}

const messages = (fields: Map<number, (bigint | Buffer)[]>, n: number): Map<number, (bigint | Buffer)[]>[] =>
  (fields.get(n) ?? []).map((bytes) => fieldsOf(bytes as Buffer));
const textIn = (fields: Map<number, (bigint | Buffer)[]>, n: number, encoding: 'utf8' | 'hex' = 'utf8'): string =>
  ((fields.get(n)?.[0] ?? Buffer.alloc(0)) as Buffer).toString(encoding);
const numberIn = (fields: Map<number, (bigint | Buffer)[]>, n: number): bigint => (fields.get(n)?.[0] ?? 0n) as bigint;

function anyValue(fields: Map<number, (bigint | Buffer)[]>): Value {
  if (fields.has(5)) {
    return messages(messages(fields, 5)[0]!, 1).map(anyValue);
  }
  return fields.has(3) ? Number(numberIn(fields, 3)) : textIn(fields, 1);
}

const attributesIn = (fields: Map<number, (bigint | Buffer)[]>, n: number): Record<string, Value> =>
  Object.fromEntries(messages(fields, n).map((pair) => [textIn(pair, 1), anyValue(messages(pair, 2)[0]!)]));

function fromProtobuf(bytes: Buffer): CollectedSpan[] {
  return messages(fieldsOf(bytes), 1).flatMap((resourceSpans) => {
    const resource = attributesIn(messages(resourceSpans, 1)[0]!, 1);
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => ({
        traceId: textIn(span, 1, 'hex'),
        spanId: textIn(span, 2, 'hex'),
        parentId: textIn(span, 4, 'hex'),
        state: textIn(span, 3),
        name: textIn(span, 5),
        kind: Number(numberIn(span, 6)),
        start: numberIn(span, 7),
        end: numberIn(span, 8),
        attributes: attributesIn(span, 9),
        events: messages(span, 11).map((event) => ({
          name: textIn(event, 2),
          time: numberIn(event, 1),
          attributes: attributesIn(event, 3),
        })),
        droppedEvents: Number(numberIn(span, 12)),
        status: Number(numberIn(messages(span, 15)[0] ?? new Map(), 3)),
        message: textIn(messages(span, 15)[0] ?? new Map(), 2),
        resource,
        scope: textIn(messages(scopeSpans, 1)[0]!, 1),
      })),
    );
  });
}

type Json = { readonly [key: string]: Json } & readonly Json[] & string;

function jsonValue(value: Json): Value {
  if (value.arrayValue !== undefined) {
    return [...(value.arrayValue.values as unknown as readonly Json[])].map(jsonValue);
  }
  return value.intValue === undefined ? String(value.stringValue) : Number(value.intValue);
}

const jsonAttributes = (list: Json | undefined): Record<string, Value> =>
  Object.fromEntries((list ?? []).map((pair) => [String(pair.key), jsonValue(pair.value!)]));

function fromJson(text: string): CollectedSpan[] {
  return (JSON.parse(text) as Json).resourceSpans!.flatMap(({ resource, scopeSpans }) =>
    scopeSpans!.flatMap(({ scope, spans }) =>
      spans!.map((span) => ({
        traceId: String(span.traceId),
        spanId: String(span.spanId),
        parentId: String(span.parentSpanId ?? ''),
        state: String(span.traceState ?? ''),
        name: String(span.name),
        kind: Number(span.kind),
        start: BigInt(span.startTimeUnixNano!),
        end: BigInt(span.endTimeUnixNano!),
        attributes: jsonAttributes(span.attributes),
        events: span.events!.map((event) => ({
          name: String(event.name),
          time: BigInt(event.timeUnixNano!),
          attributes: jsonAttributes(event.attributes),
        })),
        droppedEvents: Number(span.droppedEventsCount),
        status: Number(span.status!.code),
        message: String(span.status!.message ?? ''),
        resource: jsonAttributes(resource!.attributes),
        scope: String(scope!.name),
      })),
    ),
  );
}

/** Starts a collector on a free port of the loopback interface. */
export async function startCollector(t: Test, options: CollectorOptions): Promise<Collector> {
  const batches: Batch[] = [];
  let calls = 0;
  const behaviour = options.behaviour ?? 'take';
  const port = await (options.protocol === 'grpc' ? serveGrpc() : serveHttp());
  const spans = (): CollectedSpan[] => batches.flatMap((batch) => batch.spans);
  return {
    port,
    batches,
    spans,
    calls: () => calls,
    async received(count) {
      await waitFor(() => spans().length >= count, { what: () => `${count} spans, of which ${spans().length} came` });
      return spans();
    },
  };

  async function serveGrpc(): Promise<number> {
    const server = new GrpcServer();
    const bytes = (message: Buffer): Buffer => message;
    const codec = { requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes };
    const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
    server.addService(
      { export: { path, requestStream: false, responseStream: false, ...codec } },
      {
        export(call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) {
          calls++;
          if (behaviour === 'refuse') {
            callback({ code: 3, details: 'not these' });
          } else if (behaviour === 'take') {
            const headers = Object.fromEntries(Object.entries(call.metadata.getMap()).map(([name, value]) => [name, String(value)]));
            batches.push({ headers, spans: fromProtobuf(call.request) });
            callback(null, Buffer.alloc(0));
          }
        },
      },
    );
    const { tls } = options;
    const credentials =
      tls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(pem(tls.cert)), private_key: Buffer.from(pem(tls.key)) }]);
    t.teardown(() => server.forceShutdown());
    return new Promise((done, fail) =>
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? done(bound) : fail(error))),
    );
  }

  async function serveHttp(): Promise<number> {
    const handler = (request: IncomingMessage, response: ServerResponse): void => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        calls++;
        if (behaviour === 'reset') {
          request.socket.resetAndDestroy();
        } else if (behaviour === 'refuse') {
          response.writeHead(400).end('not these');
        } else if (behaviour === 'take') {
          const body = Buffer.concat(pieces);
          const json = request.headers['content-type'] === 'application/json';
          const headers = { ...request.headers, ':path': request.url } as unknown as Record<string, string>;
          batches.push({ headers, spans: json ? fromJson(body.toString()) : fromProtobuf(body) });
          response.writeHead(200, { 'content-type': String(request.headers['content-type']) }).end(json ? '{}' : '');
        }
      });
    };
    const { tls } = options;
    const server = tls === undefined ? createHttp(handler) : createHttps({ cert: pem(tls.cert), key: pem(tls.key) }, handler);
    const sockets = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
    });
    t.teardown(() => {
      server.close();
      for (const socket of sockets) {
        socket.destroy();
      }
    });
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    return (server.address() as AddressInfo).port;
  }
}
