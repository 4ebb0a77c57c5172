import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { BackendRequest } from './backend-request.js';
import type { Field } from './case.js';
import type { Conversation, Received } from './client.js';
import { LOG_VARIABLES, SESSION_VARIABLES } from './configuration.js';
import { RUN_HOST } from './run-host.js';
import type { ErrorLine, LogLine } from './site.js';

/** What one run of a case showed, as texts that can be compared: by the name of what was looked at. */
export type Observation = ReadonlyMap<string, string>;

/** Stands in an observation of a run during which a worker of the server crashed. */
export const CRASH = 'a worker crashed';

/** What a run brought to light, before it is made comparable. */
export interface Evidence {
  readonly conversation: Conversation;
  readonly asked: readonly BackendRequest[];
  readonly log: readonly LogLine[];
  readonly errors: readonly ErrorLine[];
  /** A worker of the server crashed meanwhile. */
  readonly crashed: boolean;
}

/** What in the texts belongs to a run and not to a case. */
export interface Surroundings {
  readonly dir: string;
  /** The case's host name in this run. */
  readonly host: string;
  /** The server's ports. */
  readonly ports: ReadonlySet<string>;
  /** The client's port. */
  readonly from: string;
  /** The backend's. */
  readonly backend: string;
}

/** Makes texts of what a run brought to light. */
export function observe({ conversation, asked, log, errors, crashed }: Evidence, around: Surroundings): Observation {
  const seen = new Map<string, string>();
  const clean = cleaner(around);
  seen.set('end', conversation.broken === undefined ? conversation.end : `unreadable: ${clean(conversation.broken)}`);
  if (crashed) {
    seen.set(CRASH, 'yes');
  }
  if (conversation.early !== undefined) {
    seen.set('early data', conversation.early ? 'taken' : 'refused');
  }
  seen.set('responses', String(conversation.responses.length));
  for (const [i, response] of conversation.responses.entries()) {
    for (const [name, value] of responseTexts(response)) {
      seen.set(`response ${i + 1}: ${name}`, clean(value));
    }
  }
  seen.set('requests to the backend', String(asked.length));
  for (const [i, { text }] of sorted(asked).entries()) {
    seen.set(`request ${i + 1} to the backend`, backendText(clean(text)));
  }
  const sessions = log.filter(isSession);
  seen.set('lines of the access log', String(log.length - sessions.length));
  for (const [i, line] of sortedLines(log.filter((line) => !isSession(line))).entries()) {
    for (const name of LOG_VARIABLES) {
      seen.set(`log ${i + 1}: $${name}`, clean(line[name]!));
    }
  }
  seen.set('sessions', String(sessions.length));
  for (const [i, line] of sessions.entries()) {
    for (const name of SESSION_VARIABLES) {
      seen.set(`session ${i + 1}: ${name}`, clean(line[name]!));
    }
  }
  seen.set('error log', errorText(errors).map(clean).join('\n'));
  return seen;
}

/** Whether a line is about a session of `stream`. */
const isSession = ({ session }: LogLine): boolean => session !== undefined;

/** Subrequests may overtake each other. */
const sorted = (asked: readonly BackendRequest[]): BackendRequest[] => {
  const rank = ({ target }: BackendRequest): number => (/^\/mirror/.test(target) ? 1 : /^\/post-action/.test(target) ? 2 : 0);
  return [...asked].sort((a, b) => rank(a) - rank(b));
};

/** So may their lines, and those of requests that were sent together. */
const sortedLines = (log: readonly LogLine[]): LogLine[] => {
  const rank = ({ document_uri = '', connection_requests }: LogLine): number =>
    Number(connection_requests) + (/^\/(mirror|auth|before|after)/.test(document_uri) ? 1000 : 0);
  return [...log].sort((a, b) => rank(a) - rank(b));
};

/** Fields whose values depend on the moment; they are only there or not. */
const VOLATILE = /^(date)$/i;

/** A time that is reckoned from now. */
const laterOr = (time: string): string => (/ (1970|2037) /.test(time) ? time : 'reckoned from now');

/** A cookie of `userid` without what is new in each, and when it expires. */
const withoutNumber = (value: string): string =>
  value.replace(/\b(u?id)=(?:[0-9A-F]{32}|[\w+/]{22}(.=))/, '$1=NEW$2').replace(/expires=(?!.*-37)[^;]+/, 'expires=LATER');

function* responseTexts({ status, version, interim, fields, body, trailers, complete }: Received): Generator<[string, string]> {
  yield ['status', String(status)];
  yield ['version', version];
  yield ['interim', interim.map((one) => [one.status, ...fieldTexts(one.fields)].join('; ')).join('\n')];
  const names = new Set(fields.map(([name]) => name.toLowerCase()));
  for (const wanted of [...names].sort()) {
    const all = fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
    const values =
      wanted === 'expires'
        ? all.map((value) => value.replace(/^.*GMT$/, laterOr))
        : /^(set-cookie|x-set)$/.test(wanted)
          ? all.map(withoutNumber)
          : all;
    yield [`header ${wanted}`, VOLATILE.test(wanted) ? `${values.length} times` : values.join('\n')];
  }
  yield ['body', bodyText(body, fields, complete)];
  yield ['trailers', fieldTexts(trailers).join('; ')];
  yield ['complete', String(complete)];
}

const UNPACK: Readonly<Record<string, (body: Buffer, complete: boolean) => Buffer>> = {
  gzip: (body, complete) => gunzipSync(body, complete ? {} : { finishFlush: constants.Z_SYNC_FLUSH }),
  br: (body, complete) => brotliDecompressSync(body, complete ? {} : { finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (body, complete) => zstdDecompressSync(body, complete ? {} : { finishFlush: constants.ZSTD_e_flush }),
};

/** What a body means, not how it was packed: its pieces are packed as they come. One that broke off is read as far as it came. */
function bodyText(body: Buffer, fields: readonly Field[], complete: boolean): string {
  const encoding = fields.find(([name]) => /^content-encoding$/i.test(name))?.[1];
  const unpack = encoding === undefined ? undefined : UNPACK[encoding];
  if (unpack !== undefined && body.length > 0) {
    try {
      return unpack(body, complete).toString('latin1');
    } catch {
      // What a backend called gzip, or a part of it.
    }
  }
  return body.toString('latin1');
}

const fieldTexts = (fields: readonly Field[]): string[] => fields.map(([name, value]) => `${name.toLowerCase()}: ${value}`).sort();

/** Parameters that belong to the connection. */
const backendText = (text: string): string => text.replace(/^(REMOTE_PORT|SERVER_PORT|REQUEST_TIME).*$/gm, '$1');

/** Lines of `warn` and above, without the particulars. What is buffered to a file depends on who was faster. */
const errorText = (errors: readonly ErrorLine[]): string[] =>
  errors
    .filter(({ level, text }) => !/^(debug|info|notice)$/.test(level) && !/is buffered to a temporary file/.test(text))
    .map(
      ({ level, text }) =>
        `[${level}] ${text
          .replace(/, client: .*$/, '')
          .replace(/ while .*$/, '')
          // The words of one library of TLS, and of a newer one.
          .replace('sslv3 alert', 'ssl/tls alert')
          // nginx writes a script's stack into lines of its own.
          .replace(/\\x0A {4}at .*/, '')
          .replace(/excess: [\d.]+/, 'excess: N')
          .replace(/too large (?:chunked )?body: [\d+]+/, 'too large body: N')}`,
    )
    .sort();

/** Takes out what differs by run. */
function cleaner({ dir, host, ports, from, backend }: Surroundings): (text: string) => string {
  const name = host.slice(host.indexOf('.') + 1, host.lastIndexOf('.'));
  const pattern = varyingIn(dir);
  let met = false;
  const meant = (found: string): string => {
    met = true;
    if (DIGIT.test(found)) {
      return found === backend ? 'BACKEND' : found === from || ports.has(found) ? 'PORT' : found;
    }
    return found === host ? 'HOST' : found === name ? 'CASE' : found === dir ? 'DIR' : varied(found);
  };
  return (text) => {
    if (text.length < 4 || NUMBER.test(text) || (text.length > LONG && plain.has(text))) {
      return text;
    }
    met = false;
    const cleaned = text.replace(pattern, meant);
    if (!met && text.length > LONG) {
      keepPlain(text);
    }
    return cleaned;
  };
}

/** Texts of so many characters are kept when nothing in them is of a run: the same bodies come again and again. */
const LONG = 1000;
const MOST_PLAIN = 100;
const plain = new Set<string>();

function keepPlain(text: string): void {
  if (plain.size >= MOST_PLAIN) {
    plain.clear();
  }
  plain.add(text);
}

const literally = (text: string): string => text.replace(/[^\w/-]/g, '\\$&');

/** What is not of a run. */
const NUMBER = /^[\d.]+$/;
const DIGIT = /^\d/;

/** Hosts of runs, names of cases, ports; and what other servers have in its place. */
const VARYING =
  /\bc\d+\b|(?<!-)\b\d{4,5}\b(?!-)|\b(?:sluice|nginx)\b(?:\/\d+\.\d+\.\d+)?|boundary=\S+|^--\d{20}|\/(?:\w+_temp|dav\/\d)\/[\d/]+|Date: \w{3}, \d\d \w{3} 202\d [\d:]+ GMT/;

/** By the folder of a server. */
const patterns = new Map<string, RegExp>();

/** What may be of a run in the texts of a server: one expression for all of its runs, which takes long to make. */
function varyingIn(dir: string): RegExp {
  let pattern = patterns.get(dir);
  if (pattern === undefined) {
    pattern = new RegExp(`${literally(dir)}|${RUN_HOST}|${VARYING.source}`, 'gm');
    patterns.set(dir, pattern);
  }
  return pattern;
}

const varied = (found: string): string =>
  found.startsWith('/')
    ? found.replace(/[\d/]+$/, '/FILE')
    : found.startsWith('boundary')
      ? 'boundary=BOUNDARY'
      : found.startsWith('Date')
        ? 'Date: NOW'
        : found.startsWith('-')
          ? '--BOUNDARY'
          : found.startsWith('r')
            ? // A connection to a backend that was kept has the name of who began it.
              'EARLIER HOST'
            : found.startsWith('c')
              ? found
              : found.includes('/')
                ? 'NAME/VERSION'
                : 'NAME';
