import type { Pos } from '../../../shared/config/language/ast.js';
import type { ComplexValue } from '../../../shared/value/complex.js';
import type { BodyStage } from '../../http/request/body-stage.js';
import type { HeadersOut } from '../../http/request/headers-out.js';
import type { Request } from '../../http/request/request.js';
import { parseHttpDate } from '../../text/http-date.js';

/** One `add_header` or `add_trailer`. */
export interface AddedHeader {
  readonly name: string;
  readonly value: ComplexValue<Request>;
  /** Whatever the status is. */
  readonly always: boolean;
  /** Where it is written. */
  readonly pos: Pos;
}

/** Adds a location's headers. `safe`: the status is one that headers without `always` go with. nginx: ngx_http_headers_filter. */
export function addHeaders(r: Request, lines: readonly AddedHeader[], safe: boolean): void {
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (safe || line.always) {
      addHeader(r, line.name, line.value.eval(r));
    }
  }
}

/** Notes what becomes of each `add_header` here, and which ones of outer levels are `lost`. */
export function traceHeaders(r: Request, lines: readonly AddedHeader[], lost: readonly AddedHeader[], safe: boolean): void {
  const trace = r.trace!;
  for (const { name, value, always, pos } of lines) {
    const text = value.eval(r);
    if (!safe && !always) {
      trace.add(r, 'lost-header', `add_header ${name} is left out of an answer with ${r.out.status}: it has no "always"`, pos, { name });
    } else if (text === '') {
      trace.add(r, 'lost-header', `add_header ${name} is left out: its value is empty`, pos, { name });
    } else {
      trace.add(r, 'header', `${name}: ${text}`, pos, { name, value: text });
    }
  }
  for (const { name, value, pos } of lost) {
    trace.add(r, 'lost-header', `add_header ${name} "${value.text}" is lost: an inner level has add_header lines of its own`, pos, {
      name,
    });
  }
}

/** Two headers are replaced, or removed by an empty value; any other is a further line. */
function addHeader(r: Request, name: string, value: string): void {
  const out = r.out;
  if (name.length === 4 && name.toLowerCase() === 'etag') {
    replace(out, 'etag', name, value);
  } else if (name.length === 13 && name.toLowerCase() === 'last-modified') {
    replace(out, 'lastModifiedText', name, value);
    out.lastModified = value === '' ? -1 : parseHttpDate(value);
  } else if (value !== '') {
    out.add(name, value);
  }
}

function replace(out: HeadersOut, field: 'etag' | 'lastModifiedText', name: string, value: string): void {
  if (value === '') {
    out[field] = undefined;
  } else {
    out.replace(field, name, value);
  }
}

/** Tells whether any trailer will be sent, hence the body must be framed in chunks. */
export function hasTrailers(lines: readonly AddedHeader[], safe: boolean): boolean {
  for (let i = 0; i < lines.length; i++) {
    if (safe || lines[i]!.always) {
      return true;
    }
  }
  return false;
}

/** Computes the trailers when the body ends. nginx: ngx_http_trailers_filter. */
export function trailerStage(lines: readonly AddedHeader[], safe: boolean, next: BodyStage): BodyStage {
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
            r.out.addTrailer(line.name, value);
          }
        }
      }
      next.send(r, chunk, last);
    },
  };
}
