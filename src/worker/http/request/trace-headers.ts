import type { Result } from '../../task/codes.js';
import type { HeaderFilter } from './body-stage.js';
import type { Request } from './request.js';
import type { TraceDirective } from './trace.js';

/** The response's headers at one moment. */
type Snapshot = ReadonlyMap<string, string>;

function snapshot({ out }: Request): Snapshot {
  const all = new Map<string, string>();
  for (const { name, value } of out.list) {
    if (name !== '') {
      const key = name.toLowerCase();
      const before = all.get(key);
      all.set(key, before === undefined ? value : `${before}\n${value}`);
    }
  }
  if (out.contentTypeLine !== '') {
    all.set('content-type', out.contentTypeLine);
  }
  if (out.contentLength !== -1) {
    all.set('content-length', `${out.contentLength}`);
  }
  return all;
}

/** Notes the headers that an answer has before any filter has seen it. */
export function traceFirstHeaders(r: Request): void {
  const { trace } = r;
  const from = r.upstream?.logText() === undefined ? 'the answer itself' : 'the backend';
  for (const [name, value] of snapshot(r)) {
    trace!.add(r, 'header', `${name}: ${shown(value)}, from ${from}`, undefined, { name, value, from });
  }
}

const shown = (value: string): string => value.replaceAll('\n', ', ');

/** Makes a header filter tell what it changes, if its request has a trace. Only where a configuration can have any. */
export function tracedFilter(filter: HeaderFilter, module: string): HeaderFilter {
  return (r): Result => {
    if (r.trace === null || r !== r.main) {
      return filter(r);
    }
    const before = snapshot(r);
    const { steps } = r.trace;
    const first = steps.length;
    const { location } = r;
    const code = filter(r);
    const told = new Set(steps.slice(first).map(({ data }) => `${data.name}`.toLowerCase()));
    const where: TraceDirective = { in: location, directive: module === 'headers' ? 'expires' : module };
    const after = snapshot(r);
    for (const [name, value] of after) {
      if (before.get(name) !== value && !told.has(name)) {
        r.trace.add(r, 'header', `${name}: ${shown(value)}, by ${module}`, where, { name, value, from: module });
      }
    }
    for (const name of before.keys()) {
      if (!after.has(name) && !told.has(name)) {
        r.trace.add(r, 'header', `${name} is taken off, by ${module}`, where, { name, from: module });
      }
    }
    return code;
  };
}
