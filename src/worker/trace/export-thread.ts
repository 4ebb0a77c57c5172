// The body of the thread that exports spans, and the only file that imports OpenTelemetry's packages; the build makes it a file of its
// own with the packages in it.

import { parentPort, workerData } from 'node:worker_threads';
import { createOtlpHttpExportDelegate, httpAgentFactoryFromOptions } from '@opentelemetry/otlp-exporter-base/node-http';
import {
  createEmptyMetadata,
  createInsecureCredentials,
  createOtlpGrpcExportDelegate,
  createSslCredentials,
} from '@opentelemetry/otlp-grpc-exporter-base';
import { JsonTraceSerializer, ProtobufTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import { nativeText } from '../../shared/text/native-text.js';
import type { Attributes, Span, SpanTarget, ThreadOrder, ThreadReport } from './span.js';

const target = workerData as SpanTarget;
/** How long the collector may take for a batch, in milliseconds; OTLP's default. */
const TIMEOUT = 10_000;

type Serializer = typeof ProtobufTraceSerializer;
type Delegate = ReturnType<typeof createOtlpGrpcExportDelegate<Parameters<Serializer['serializeRequest']>[0], unknown>>;
type ReadableSpan = Parameters<Serializer['serializeRequest']>[0][number];

function attributesOf(list: Attributes): ReadableSpan['attributes'] {
  const attributes: Record<string, string | number | string[]> = {};
  for (let i = 0; i < list.length; i += 2) {
    const value = list[i + 1]!;
    attributes[nativeText(list[i] as string)] =
      typeof value === 'number' ? value : typeof value === 'string' ? nativeText(value) : value.map((each) => nativeText(each));
  }
  return attributes;
}

/** OpenTelemetry's time: seconds and nanoseconds. */
const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

const resource = { attributes: Object.fromEntries(target.resource.map(([name, value]) => [nativeText(name), nativeText(value)])) };
const instrumentationScope = { name: 'sluice', version: target.version };

function readable(span: Span): ReadableSpan {
  const [name, kind, traceId, spanId, parentId, state, start, end, failed, message, attributes, events, droppedEvents] = span;
  const context = (id: string) => ({
    traceId,
    spanId: id,
    traceFlags: 1,
    ...(state === '' ? {} : { traceState: { serialize: () => nativeText(state) } }),
  });
  return {
    name: nativeText(name),
    kind,
    spanContext: () => context(spanId),
    parentSpanContext: parentId === '' ? undefined : context(parentId),
    startTime: hrTime(start),
    endTime: hrTime(end),
    duration: hrTime(Math.max(0, end - start)),
    status: { code: failed ? 2 : 0, ...(message === '' ? {} : { message: nativeText(message) }) },
    attributes: attributesOf(attributes),
    links: [],
    events: events.map(([event, time, about]) => ({ name: event, time: hrTime(time), attributes: attributesOf(about) })),
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: droppedEvents,
    droppedLinksCount: 0,
  } as unknown as ReadableSpan;
}

function makeDelegate(): Delegate {
  const shared = { timeoutMillis: TIMEOUT, concurrencyLimit: Number.POSITIVE_INFINITY, compression: 'none' as const };
  const userAgent = `sluice/${target.version}`;
  const roots = target.authorities === undefined ? undefined : Buffer.from(target.authorities, 'latin1');
  if (target.protocol === 'grpc') {
    const metadata = createEmptyMetadata();
    for (const [name, value] of target.headers) {
      metadata.add(name, value);
    }
    return createOtlpGrpcExportDelegate(
      {
        ...shared,
        userAgent,
        url: target.url,
        metadata: () => metadata,
        credentials: () => (target.tls ? createSslCredentials(roots) : createInsecureCredentials()),
      },
      ProtobufTraceSerializer,
      'sluice',
      TraceExporterMetricsHelper,
      undefined,
      'TraceExportService',
      '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    );
  }
  const json = target.protocol === 'http/json';
  const headers = { ...Object.fromEntries(target.headers), 'content-type': json ? 'application/json' : 'application/x-protobuf' };
  return createOtlpHttpExportDelegate(
    {
      ...shared,
      userAgent,
      url: target.url,
      headers: async () => ({ ...headers }),
      agentFactory: httpAgentFactoryFromOptions({ keepAlive: true, ...(roots === undefined ? {} : { ca: roots }) }),
    },
    json ? JsonTraceSerializer : ProtobufTraceSerializer,
    'sluice',
    TraceExporterMetricsHelper,
    undefined,
  );
}

const delegate = makeDelegate();
let underWay = 0;
let ending: Int32Array | undefined;

function wakeUp(): void {
  if (ending !== undefined && underWay === 0) {
    Atomics.store(ending, 0, 1);
    Atomics.notify(ending, 0);
  }
}

function report(what: ThreadReport): void {
  underWay--;
  parentPort!.postMessage(what);
  wakeUp();
}

parentPort!.on('message', (order: ThreadOrder) => {
  if (order.t === 'end') {
    ending = new Int32Array(order.done);
    wakeUp();
    return;
  }
  const { id } = order;
  underWay++;
  try {
    delegate.export((JSON.parse(order.spans) as Span[]).map(readable), ({ code, error }) =>
      report(code === 0 ? { id } : { id, error: textOf(error) }),
    );
  } catch (error) {
    report({ id, error: textOf(error) });
  }
});

/** An error in one line; what a collector answered over HTTP has its status with it. */
function textOf(error: unknown): string {
  const { message = String(error), code } = (error ?? {}) as { message?: string; code?: unknown };
  const status = typeof code === 'number' && target.protocol !== 'grpc' ? `${code} ` : '';
  return `${status}${message || code || 'no answer that can be understood'}`.replaceAll(/\s+/g, ' ').slice(0, 500);
}
