import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { PlacedStep } from './trace-places.js';

/** The header of a request by which its client shows that it may have the trace. */
export const TOKEN_HEADER = 'X-Sluice-Explain';
/** The header of the response that has the trace. */
export const TRACE_HEADER = 'X-Sluice-Trace';

/** What is known of the answer when its head leaves. */
export interface TracedAnswer {
  readonly status: number;
  readonly server: string;
  readonly location: string;
  readonly uri: string;
}

/** A trace that was packed into a header. */
export interface PackedTrace extends TracedAnswer {
  readonly steps: readonly PlacedStep[];
  /** Steps that there was no room for, from the end. */
  readonly cut: number;
}

/** Heads of more than 8 KB are refused by many clients and proxies. */
const MOST = 6000;
/** What a packed trace may be unpacked to. */
const LARGEST = 4 * 1024 * 1024;

/** Puts a trace into one header's value: JSON, compressed, in base64url. As many steps as have room. */
export function packTrace(answer: TracedAnswer, steps: readonly PlacedStep[]): string {
  for (let kept = steps.length; ; kept = Math.floor(kept * 0.7)) {
    const trace: PackedTrace = { ...answer, steps: steps.slice(0, kept).map(rounded), cut: steps.length - kept };
    const packed = deflateRawSync(Buffer.from(JSON.stringify(trace), 'latin1')).toString('base64url');
    if (packed.length <= MOST || kept === 0) {
      return packed.length <= MOST ? packed : '';
    }
  }
}

const rounded = (step: PlacedStep): PlacedStep => ({ ...step, ms: Math.round(step.ms * 1000) / 1000 });

/** Takes a trace out of a header's value; undefined when it is none. */
export function unpackTrace(text: string): PackedTrace | undefined {
  try {
    const json = inflateRawSync(Buffer.from(text, 'base64url'), { maxOutputLength: LARGEST }).toString('latin1');
    const trace = JSON.parse(json) as PackedTrace;
    return Array.isArray(trace.steps) ? trace : undefined;
  } catch {
    return undefined;
  }
}
