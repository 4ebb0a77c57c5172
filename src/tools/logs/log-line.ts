import type { FormatPart } from '../../shared/log/format.js';
import { byteText } from '../../shared/text/native-text.js';

/** Reads the fields of a line; undefined: the line has another form. */
export type LineReader = (line: string) => ReadField | undefined;

/** The value of a variable, or undefined where the format does not have it. */
export type ReadField = (name: string) => string | undefined;

/**
 * Reads lines of a `log_format`: each variable ends where the text behind it begins. A format whose variables touch cannot be taken apart
 * there.
 */
export function formatReader(parts: readonly FormatPart[]): LineReader {
  const names: string[] = [];
  const texts: string[] = [''];
  for (const part of parts) {
    if ('variable' in part) {
      names.push(part.variable);
      texts.push('');
    } else {
      texts[texts.length - 1] += part.text;
    }
  }
  const places = new Map(names.map((name, i) => [name, i]));
  return (line) => {
    if (!line.startsWith(texts[0]!)) {
      return undefined;
    }
    const values: string[] = [];
    let at = texts[0]!.length;
    for (let i = 0; i < names.length; i++) {
      const text = texts[i + 1]!;
      const end = text === '' ? (i === names.length - 1 ? line.length : at) : endOf(line, text, at, i === names.length - 1);
      if (end === -1) {
        return undefined;
      }
      values.push(line.slice(at, end));
      at = end + text.length;
    }
    return (name) => {
      const place = places.get(name);
      return place === undefined ? undefined : values[place];
    };
  };
}

/** Where a text begins; the last one of a line stands at its end. */
function endOf(line: string, text: string, at: number, last: boolean): number {
  return last && line.endsWith(text) ? line.length - text.length : line.indexOf(text, at);
}

/** What fields are called in JSON logs that other programs' formats have taught people to write. */
const JSON_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['remote_addr', ['client', 'client_ip', 'ip', 'addr']],
  ['request_uri', ['uri', 'path', 'url']],
  ['request_method', ['method']],
  ['body_bytes_sent', ['bytes', 'size', 'bytes_sent']],
  ['request_time', ['duration', 'time_taken', 'seconds']],
  ['error_reason', ['reason']],
  ['time_iso8601', ['time', 'timestamp', 'ts', '@timestamp']],
  ['host', ['http_host', 'server', 'server_name']],
]);

/** Reads lines that are JSON objects, whose names are those of variables or usual ones. */
export const jsonReader: LineReader = (line) => {
  let object: Readonly<Record<string, unknown>>;
  try {
    object = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof object !== 'object' || object === null) {
    return undefined;
  }
  return (name) => {
    const value =
      object[name] ??
      JSON_NAMES.get(name)
        ?.map((other) => object[other])
        .find((found) => found !== undefined);
    return value === undefined || value === null ? undefined : inBytes(String(value));
  };
};

/** Characters that the line has as `\\uXXXX`, as the bytes of which all other text is made. */
const inBytes = (text: string): string => text.replace(/[^\0-\xff]+/g, (found) => byteText(found));

/** What people ask for, by the variables that may have it: the first one that the line has counts. */
const MEANINGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['address', ['remote_addr', 'realip_remote_addr']],
  ['host', ['host', 'http_host', 'server_name']],
  ['bytes', ['body_bytes_sent', 'bytes_sent']],
  ['time', ['request_time', 'upstream_response_time']],
  ['reason', ['error_reason', 'error_reason_json']],
  ['when', ['time_iso8601', 'time_local']],
  ['agent', ['http_user_agent']],
]);

/** The value of a field: by a variable's name, or by a short name such as `path`, `host` and `time`. */
export function fieldOf(read: ReadField, name: string): string | undefined {
  if (name === 'path' || name === 'method') {
    return requestPart(read, name);
  }
  for (const variable of MEANINGS.get(name) ?? []) {
    const value = read(variable);
    if (value !== undefined && value !== '-' && value !== '') {
      return value;
    }
  }
  return read(name);
}

/** Path without arguments, or method, from their own variables or from the request line. */
function requestPart(read: ReadField, part: 'path' | 'method'): string | undefined {
  const own = part === 'method' ? read('request_method') : (read('request_uri') ?? read('uri'));
  const line = own === undefined ? read('request') : undefined;
  const space = line === undefined ? -1 : line.indexOf(' ');
  if (part === 'method') {
    return own ?? (space === -1 ? undefined : line!.slice(0, space));
  }
  const target = own ?? (space === -1 ? line : line!.slice(space + 1).split(' ', 1)[0]);
  const query = target === undefined ? -1 : target.indexOf('?');
  return query === -1 ? target : target!.slice(0, query);
}
