import { randomPiece } from '../../digest/random-bytes.js';
import type { Request } from '../../http/request/request.js';
import { lastingSlot } from '../../task/client-task.js';

/** `otel_trace_context`, as bits. */
export const EXTRACT = 1;
export const INJECT = 2;

/** The identifiers of a request's span. nginx-otel: OtelCtx. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The span that the client has sent; undefined for none. */
  readonly parentId: string | undefined;
  readonly parentSampled: boolean;
  /** The client's `tracestate`, which is passed on as it is; empty for none. */
  readonly state: string;
  sampled: boolean;
}

/** A request keeps its context over redirects, and shares it with its subrequests. */
export const CONTEXT = lastingSlot<TraceContext>();

export const newSpanId = (): string => randomPiece(8).toString('hex');

/** The first version of W3C's `traceparent`; identifiers of zeros alone are none. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])$/;

/** The context of a request, made when it is first asked for. nginx-otel: ensureOtelCtx. */
export function traceContext(r: Request, propagation: number): TraceContext {
  let context = CONTEXT.get(r);
  if (context === undefined) {
    // Two lines of it are no context either.
    const sent = (propagation & EXTRACT) === 0 ? undefined : r.head.joined('traceparent', ',');
    const parent = sent === undefined ? null : TRACEPARENT.exec(sent);
    context = {
      traceId: parent === null ? randomPiece(16).toString('hex') : parent[1]!,
      spanId: newSpanId(),
      parentId: parent === null ? undefined : parent[2]!,
      parentSampled: parent !== null && (Number.parseInt(parent[3]!, 16) & 1) === 1,
      state: parent === null ? '' : (r.head.joined('tracestate', ',') ?? ''),
      sampled: false,
    };
    CONTEXT.set(r, context);
  }
  return context;
}

/** Has backends get this context for that of the client. nginx-otel: inject. */
export function inject(r: Request, { traceId, spanId, sampled, state }: TraceContext): void {
  r.head.replace('traceparent', `00-${traceId}-${spanId}-0${sampled ? '1' : '0'}`);
  r.head.replace('tracestate', state === '' ? undefined : state);
}
