import { append } from '../../../shared/collection/append.js';
import type { Block } from '../../../shared/config/block.js';
import { In } from '../../../shared/config/context.js';
import { inherit, own } from '../../../shared/config/define.js';
import { closingPos } from '../../../shared/config/errors.js';
import { complex, oneOf, text } from '../../../shared/config/slots.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { WorkerEnv } from '../../env.js';
import type { HttpRuntime } from '../../http/request/http-runtime.js';
import type { PhaseHandler } from '../../http/request/phase-handler.js';
import type { Request } from '../../http/request/request.js';
import { defineModule, defineScope, type Variable } from '../../module.js';
import { DECLINED, OK } from '../../task/codes.js';
import { runtimePart } from '../../task/protocol-runtime.js';
import { LocationSlot } from '../../task/settings-slot.js';
import { systemAuthorities } from '../../tls/system-authorities.js';
import { SpanExporter } from '../../trace/span-exporter.js';
import { SERVER_VERSION } from '../../version.js';
import { type ExporterSettings, readExporter } from './read-exporter.js';
import { RequestSpans, type SpanSettings } from './request-spans.js';
import { EXTRACT, INJECT, inject, type TraceContext, traceContext } from './trace-context.js';

interface MainSettings {
  exporter: ExporterSettings | undefined;
  serviceName: string | undefined;
  resource: readonly (readonly [string, string])[];
}

interface Settings extends SpanSettings {
  trace: ComplexValue<Request> | undefined;
  /** Of EXTRACT and INJECT. */
  propagation: number;
  spanName: ComplexValue<Request> | undefined;
  attributes: readonly { readonly name: string; readonly value: ComplexValue<Request> }[];
  upstreamSpans: boolean | undefined;
}

function httpAround(block: Block): Block {
  return block.context === In.HTTP ? block : httpAround(block.parent!);
}

const ANYWHERE = In.HTTP | In.SERVER | In.LOCATION;

const mainScope = defineScope<MainSettings>({
  fields: {
    exporter: own<MainSettings['exporter']>(undefined),
    serviceName: own<string | undefined>(undefined),
    resource: own<MainSettings['resource']>([]),
  },
  directives: {
    otel_exporter: {
      in: In.HTTP,
      args: 0,
      block: 'entries',
      set(conf, node, ctx) {
        if (conf.exporter !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.exporter = readExporter(node, ctx);
      },
    },
    otel_service_name: { in: In.HTTP, args: 1, set: text('serviceName') },
    otel_resource_attr: {
      in: In.HTTP,
      args: 2,
      set(conf, { args }) {
        conf.resource = append(conf.resource, [args[0]!, args[1]!]);
      },
    },
  },
});

const scope = defineScope<Settings>({
  fields: {
    trace: inherit<Settings['trace']>(undefined),
    propagation: inherit(0),
    spanName: inherit<Settings['spanName']>(undefined),
    attributes: inherit<Settings['attributes']>([]),
    upstreamSpans: inherit<boolean | undefined>(undefined),
  },
  directives: {
    otel_trace: { in: ANYWHERE, args: 1, set: complex('trace') },
    otel_trace_context: {
      in: ANYWHERE,
      args: 1,
      set: oneOf('propagation', { ignore: 0, extract: EXTRACT, inject: INJECT, propagate: EXTRACT | INJECT }),
    },
    otel_span_name: { in: ANYWHERE, args: 1, set: complex('spanName') },
    otel_span_attr: {
      in: ANYWHERE,
      args: 2,
      set(conf, { args }, ctx) {
        conf.attributes = append(conf.attributes, { name: args[0]!, value: ctx.complex(args[1]!) });
      },
    },
    // Ours: attempts at backends get spans of their own, which nginx does not make.
    otel_upstream_spans: { in: ANYWHERE, args: 'flag', set: oneOf('upstreamSpans', { on: true, off: false }) },
  },
  link(conf, ctx, { block }) {
    if (conf.trace === undefined || block.context === In.HTTP) {
      return;
    }
    const http = httpAround(block);
    if (ctx.settings(mainScope, http).exporter === undefined) {
      ctx.fail('"otel_exporter" block is missing', closingPos(http.node!));
    }
  },
});

/** What an `http` block has for tracing. */
interface Tracing {
  /** Where spans go; undefined where no location traces. */
  exporter: SpanExporter | undefined;
}

const tracing = runtimePart<Tracing>(() => ({ exporter: undefined }));

/** For variables, which may be asked before their handler. */
const slot = new LocationSlot<Settings>();

/** A location somewhere may trace a request. */
const anyTraces = (block: Block, http: HttpRuntime): boolean => {
  const { trace } = http.settings(scope, block);
  return (trace !== undefined && trace.constant !== 'off') || block.children.some((child) => anyTraces(child, http));
};

function install(conf: Readonly<MainSettings>, http: HttpRuntime, env: WorkerEnv): void {
  const { exporter } = conf;
  if (exporter === undefined || env.rehearsing || !anyTraces(http.block, http)) {
    return;
  }
  const resource = new Map(conf.resource);
  if (conf.serviceName !== undefined || !resource.has('service.name')) {
    resource.set('service.name', conf.serviceName ?? 'unknown_service:nginx');
  }
  const { protocol, url, tls, headers, interval, batchSize, batchCount } = exporter;
  const authorities = exporter.authorities ?? (tls ? systemAuthorities() : undefined);
  const spans = new SpanExporter(
    { protocol, url, tls, authorities, headers, resource: [...resource], version: SERVER_VERSION },
    { interval, size: batchSize, count: batchCount },
    env.log,
    new URL('./otel-export.js', import.meta.url),
  );
  env.onClose(() => spans.close());
  tracing(http).exporter = spans;
}

/** Decides whether a request is traced. nginx-otel: onRequestStart. */
function startTrace({ trace, propagation, upstreamSpans }: Readonly<Settings>, http: HttpRuntime): PhaseHandler | undefined {
  const { exporter } = tracing(http);
  if (propagation === 0 && (trace === undefined || trace.constant === 'off')) {
    return undefined;
  }
  const attempts = upstreamSpans ?? !http.env.compatible;
  return (r) => {
    // Redirects inside the server do not decide anew.
    if (r.internal) {
      return DECLINED;
    }
    const wanted = trace?.eval(r);
    const sampled = wanted === 'on' || wanted === '1';
    if (propagation === 0 && !sampled) {
      return DECLINED;
    }
    const context = traceContext(r, propagation);
    context.sampled = sampled;
    if ((propagation & INJECT) !== 0) {
      inject(r, context);
    }
    if (sampled && exporter !== undefined) {
      r.spans = new RequestSpans(context, exporter, attempts);
    }
    return DECLINED;
  };
}

/** A redirect may end in any location with a request that was traced elsewhere. */
function endTrace(conf: Readonly<Settings>, http: HttpRuntime): PhaseHandler | undefined {
  if (tracing(http).exporter === undefined) {
    return undefined;
  }
  return (r) => {
    // Nothing else is ever put there.
    if (r.spans !== null) {
      (r.spans as RequestSpans).end(r, conf);
    }
    return OK;
  };
}

const contextNow = (r: Request): TraceContext => traceContext(r, r.location.conf(slot).propagation);

const variables: readonly Variable[] = [
  { name: 'otel_trace_id', get: (r) => contextNow(r).traceId },
  { name: 'otel_span_id', get: (r) => contextNow(r).spanId },
  { name: 'otel_parent_id', get: (r) => contextNow(r).parentId },
  { name: 'otel_parent_sampled', get: (r) => (contextNow(r).parentSampled ? '1' : '0') },
];

/** Traces by OpenTelemetry. nginx: ngx_otel_module. */
export const otelModule = defineModule({
  name: 'otel',
  main: mainScope,
  location: scope,
  variables,
  installMain: install,
  slot,
  phases: {
    rewrite: (conf, _env, { server }) => startTrace(conf, server.http),
    log: (conf, _env, { server }) => endTrace(conf, server.http),
  },
});
