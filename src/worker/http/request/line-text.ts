import type { ComplexValue } from '../../../shared/value/complex.js';
import type { Request } from './request.js';

// Variables can hold what a client encoded as %0D%0A. nginx writes it into headers as it is, and so lets clients add headers, requests to
// backends, and responses. Here a line that is made of variables stays one line.

const BREAK = /[\r\n\0]/;
const EACH_BREAK = /[\r\n\0]/g;
const EACH_BREAK_BUT_FOLDS = /\n(?!\t[^\0-\x20])|[\r\0]/g;
const NOT_IN_TARGETS = /[\0-\x20\x7f]/;
const EACH_NOT_IN_TARGETS = /[\0-\x20\x7f]/g;

/** A header's value: what would end its line becomes a space. */
export function lineText(text: string): string {
  return BREAK.test(text) ? text.replace(EACH_BREAK, ' ') : text;
}

/** A value whose texts are fit for a header of a response; nothing is looked at while requests run if it has no variables. */
export function lineValue(value: ComplexValue<Request>): ComplexValue<Request> {
  const { text, constant } = value;
  if (constant === undefined) {
    return { text, constant, eval: (r) => lineText(value.eval(r)) };
  }
  const line = lineText(constant);
  return { text, constant: line, eval: () => line };
}

/** As {@link lineValue}, for a header of a request to a backend: the folds of `$ssl_client_cert`, an LF and a tab, stay. */
export function foldedValue(value: ComplexValue<Request>): ComplexValue<Request> {
  if (value.constant !== undefined) {
    return value;
  }
  const { text, constant } = value;
  return {
    text,
    constant,
    eval(r) {
      const line = value.eval(r);
      return BREAK.test(line) ? line.replace(EACH_BREAK_BUT_FOLDS, ' ') : line;
    },
  };
}

const percent = (c: string): string => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

/** A URI of a Location header: what would end its line is encoded, all else stays as it is. */
export function locationText(uri: string): string {
  return BREAK.test(uri) ? uri.replace(EACH_BREAK, percent) : uri;
}

/** A URI of a request line: spaces and control characters, which would end it, are encoded. */
export function targetText(uri: string): string {
  return NOT_IN_TARGETS.test(uri) ? uri.replace(EACH_NOT_IN_TARGETS, percent) : uri;
}
