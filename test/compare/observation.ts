import { gunzipSync } from 'node:zlib';
import type { BackendRequest } from './backend-request.js';
import type { Field } from './case.js';
import type { Conversation, Received } from './client.js';
import { LOG_VARIABLES } from './configuration.js';
import type { ErrorLine, LogLine } from './site.js';

/** What one run of a case showed, as texts that can be compared: by the name of what was looked at. */
export type Observation = ReadonlyMap<string, string>;

/** What a run brought to light, before it is made comparable. */
export interface Evidence {
  readonly conversation: Conversation;
  readonly asked: readonly BackendRequest[];
  readonly log: readonly LogLine[];
  readonly errors: readonly ErrorLine[];
}

/** What in the texts belongs to a run and not to a case. */
export interface Surroundings {
  readonly dir: string;
  /** The case's host name in this run. */
  readonly host: string;
  /** The server's ports. */
  readonly ports: readonly number[];
  /** The backend's. */
  readonly backend: number;
}

/** Makes texts of what a run brought to light. */
export function observe({ conversation, asked, log, errors }: Evidence, around: Surroundings): Observation {
  const seen = new Map<string, string>();
  const clean = cleaner(around);
  seen.set('end', conversation.broken === undefined ? conversation.end : `unreadable: ${clean(conversation.broken)}`);
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
  seen.set('lines of the access log', String(log.length));
  for (const [i, line] of sortedLines(log).entries()) {
    for (const name of LOG_VARIABLES) {
      seen.set(`log ${i + 1}: $${name}`, clean(line[name]!));
    }
  }
  seen.set('error log', errorText(errors).map(clean).join('\n'));
  return seen;
}

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

function* responseTexts({ status, version, interim, fields, body, trailers, complete }: Received): Generator<[string, string]> {
  yield ['status', String(status)];
  yield ['version', version];
  yield ['interim', interim.map((one) => [one.status, ...fieldTexts(one.fields)].join('; ')).join('\n')];
  const names = new Set(fields.map(([name]) => name.toLowerCase()));
  for (const wanted of [...names].sort()) {
    const all = fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
    const values = wanted === 'expires' ? all.map((value) => value.replace(/^.*GMT$/, laterOr)) : all;
    yield [`header ${wanted}`, VOLATILE.test(wanted) ? `${values.length} times` : values.join('\n')];
  }
  yield ['body', bodyText(body, fields, complete)];
  yield ['trailers', fieldTexts(trailers).join('; ')];
  yield ['complete', String(complete)];
}

/** By what it means, not by how it was packed. */
function bodyText(body: Buffer, fields: readonly Field[], complete: boolean): string {
  const packed = fields.some(([name, value]) => /^content-encoding$/i.test(name) && value === 'gzip');
  if (packed && body.length > 0 && complete) {
    try {
      return gunzipSync(body).toString('latin1');
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
          .replace(/excess: [\d.]+/, 'excess: N')
          .replace(/too large (?:chunked )?body: [\d+]+/, 'too large body: N')}`,
    )
    .sort();

/** Takes out what differs by run. */
function cleaner({ dir, host, ports, backend }: Surroundings): (text: string) => string {
  const name = /^r\d+\.([^.]+)/.exec(host)![1]!;
  const own = new RegExp(`${literally(dir)}|${literally(host)}|\\b(?:${name}|${ports.join('|')}|${backend})\\b`, 'g');
  const meant = (found: string): string =>
    found === dir ? 'DIR' : found === host ? 'HOST' : found === name ? 'CASE' : found === String(backend) ? 'BACKEND' : 'PORT';
  return (text) => (text.length < 4 || NUMBER.test(text) ? text : text.replace(own, meant).replace(VARYING, varied));
}

const literally = (text: string): string => text.replace(/[^\w/-]/g, '\\$&');

/** What is not of a run. */
const NUMBER = /^[\d.]+$/;

/** What other servers, or other runs, have in its place. */
const VARYING = /\b(?:sluice|nginx)\b(?:\/\d+\.\d+\.\d+)?|boundary=\S+|^--\d{20}|\/\w+_temp\/[\d/]+/gm;

const varied = (found: string): string =>
  found.startsWith('/')
    ? found.replace(/[\d/]+$/, '/FILE')
    : found.startsWith('boundary')
      ? 'boundary=BOUNDARY'
      : found.startsWith('-')
        ? '--BOUNDARY'
        : found.includes('/')
          ? 'NAME/VERSION'
          : 'NAME';
