import { ownValue } from '../../shared/collection/own-value.js';
import type { PlacedStep } from '../../worker/http/trace/trace-places.js';
import type { Rehearsed } from '../rehearsal/rehearsal.js';
import type { Case, Expectation } from './case-file.js';

/** An expectation that was not met. */
export interface Failure {
  readonly expectation: Expectation;
  /** What was expected and what came, in words. */
  readonly expected: string;
  readonly got: string;
  /** The step of the engine that decided it, where one did. */
  readonly step: PlacedStep | undefined;
}

/** Compares what came of a request with what its case expects. */
export function checkCase({ expectations }: Case, outcome: Rehearsed): Failure[] {
  const failures: Failure[] = [];
  for (const expectation of expectations) {
    const found = valuesOf(expectation, outcome);
    if (!meets(expectation, found)) {
      failures.push({ expectation, expected: wanted(expectation), got: shown(expectation, found), step: stepOf(expectation, outcome) });
    }
  }
  return failures;
}

type Fields = readonly (readonly [name: string, value: string])[];

const namedIn = (fields: Fields, name: string): string[] => {
  const lower = name.toLowerCase();
  return fields.filter(([each]) => each.toLowerCase() === lower).map(([, value]) => value);
};

const some = (value: string | undefined): string[] => (value === undefined ? [] : [value]);

/** What there is of that which an expectation is about; one of it has to meet it. */
function valuesOf({ what, name = '', ofBackend }: Expectation, outcome: Rehearsed): string[] {
  if (ofBackend) {
    const requests = outcome.upstreamRequests;
    switch (what) {
      case 'backend':
        return requests.map(({ method, uri, peer }) => `${method} ${uri} to ${peer}`);
      case 'method':
        return requests.map(({ method }) => method);
      case 'uri':
        return requests.map(({ uri }) => uri);
      case 'body':
        return requests.map(({ body }) => body.toString('latin1'));
      default:
        return requests.flatMap(({ headers }) => namedIn(headers, name));
    }
  }
  const { response, trace } = outcome;
  switch (what) {
    case 'status':
      return [`${response.status}`];
    case 'header':
      return namedIn(response.headers, name);
    case 'body':
      return [response.body.toString('latin1')];
    case 'upstream':
      return some(outcome.upstream?.group);
    case 'peer':
      return some(outcome.upstream?.peer);
    case 'cache_key':
      return some(outcome.cacheKey);
    case 'cache_status':
      return some(trace.findLast(({ kind, data }) => kind === 'cache' && data.status !== undefined)?.data.status as string | undefined);
    case 'limit_key':
      return outcome.limitKeys.filter(({ zone }) => zone === name).map(({ key }) => key);
    case 'limit':
      return outcome.limitKeys.filter(({ zone }) => zone === name).map(({ outcome: how }) => how);
    case 'log':
      return outcome.logLines.map(({ line }) => line);
    case 'error':
      return outcome.errors.map(({ level, message }) => `[${level}] ${message}`);
    default:
      return some(outcome[what as 'server' | 'location' | 'uri' | 'args']);
  }
}

function meets({ absent, operator, value, pattern }: Expectation, found: readonly string[]): boolean {
  if (absent) {
    return found.length === 0;
  }
  switch (operator) {
    case '=':
      return found.includes(value);
    case '~':
    case '~*':
      return found.some((each) => pattern!.test(each));
    default:
      return !found.some((each) => pattern!.test(each));
  }
}

const subject = ({ what, name, ofBackend }: Expectation): string =>
  `${ofBackend && what !== 'backend' ? "the backend's " : ''}${what}${name === undefined ? '' : ` ${name}`}`;

function wanted(expectation: Expectation): string {
  const { absent, operator, value } = expectation;
  return absent ? `no ${subject(expectation)}` : `${subject(expectation)}${operator === '=' ? '' : ` ${operator}`} ${short(value)}`;
}

function shown(expectation: Expectation, found: readonly string[]): string {
  return found.length === 0 ? `no ${subject(expectation)}` : found.map(short).join(', ');
}

/** As much of a text as a line has room for, its control characters escaped. */
function short(text: string): string {
  const most = 200;
  const cut = text.length > most ? `${text.slice(0, most)}...` : text;
  return `"${cut.replaceAll(/[\x00-\x1f\x7f]/g, (c) => (c === '\n' ? '\\n' : `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`))}"`;
}

/** Kinds of steps that decide what an expectation is about; the last one of them in a trace did. */
const DECIDES: Readonly<Record<string, readonly string[]>> = {
  status: ['answer', 'access', 'limit', 'redirect', 'file', 'backend-response', 'error'],
  server: ['server'],
  location: ['location'],
  uri: ['rewrite', 'redirect', 'location'],
  args: ['rewrite', 'redirect', 'location'],
  upstream: ['upstream'],
  peer: ['upstream'],
  cache_key: ['cache'],
  cache_status: ['cache'],
  limit_key: ['limit'],
  limit: ['limit'],
  log: ['log'],
  error: ['error'],
  body: ['answer', 'file', 'backend-response'],
};

function stepOf({ what, name = '', ofBackend }: Expectation, { trace }: Rehearsed): PlacedStep | undefined {
  if (ofBackend) {
    return trace.findLast(({ kind }) => kind === 'backend-request');
  }
  if (what === 'header') {
    const lower = name.toLowerCase();
    return trace.findLast(({ kind, data }) => (kind === 'header' || kind === 'lost-header') && `${data.name}`.toLowerCase() === lower);
  }
  return trace.findLast(({ kind }) => ownValue(DECIDES, what)?.includes(kind));
}
