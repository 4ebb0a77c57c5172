import { parseHttpDate } from '../../../shared/lib/http-date.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { BodyStage } from '../../http/request/body-stage.js';
import type { Request } from '../../http/request/request.js';

/** One `add_header` or `add_trailer`. */
export interface HeaderLine {
  readonly name: string;
  readonly value: ComplexValue<Request>;
  /** Whatever the status is. */
  readonly always: boolean;
}

/** Adds a location's headers. `safe`: the status is one that headers without `always` go with. nginx: ngx_http_headers_filter. */
export function addHeaders(r: Request, lines: readonly HeaderLine[], safe: boolean): void {
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (safe || line.always) {
      addHeader(r, line.name, line.value.eval(r));
    }
  }
}

/** Two headers are replaced, or removed by an empty value; any other is a further line. */
function addHeader(r: Request, name: string, value: string): void {
  const out = r.out;
  if (name.length === 4 && name.toLowerCase() === 'etag') {
    out.etag = value === '' ? undefined : value;
  } else if (name.length === 13 && name.toLowerCase() === 'last-modified') {
    out.lastModifiedText = value === '' ? undefined : value;
    out.lastModified = value === '' ? -1 : parseHttpDate(value);
  } else if (value !== '') {
    out.add(name, value);
  }
}

/** Tells whether any trailer will be sent, hence the body must be framed in chunks. */
export function hasTrailers(lines: readonly HeaderLine[], safe: boolean): boolean {
  for (let i = 0; i < lines.length; i++) {
    if (safe || lines[i]!.always) {
      return true;
    }
  }
  return false;
}

/** Computes the trailers when the body ends. nginx: ngx_http_trailers_filter. */
export function trailerStage(lines: readonly HeaderLine[], safe: boolean, next: BodyStage): BodyStage {
  return {
    send(r, chunk, last) {
      if (last) {
        for (let i = 0; i < lines.length; i++) {
          const line = lines[i]!;
          if (!safe && !line.always) {
            continue;
          }
          const value = line.value.eval(r);
          if (value !== '') {
            r.out.trailers.push(line.name, value);
          }
        }
      }
      next.send(r, chunk, last);
    },
  };
}
