import { answerBytes, cgiBytes } from './answers.js';
import { RESUMED } from './backend.js';
import { bytesOf, type Case } from './case.js';
import type { Compared, Difference } from './differences.js';
import { requestBytes } from './requests.js';

/** A difference that is known and meant. */
export interface Rule {
  readonly name: string;
  /** Words of docs/compatibility.md that tell of it. Without them: why two runs may differ although both are right. */
  readonly told?: string;
  readonly why?: string;
  /** The axes on which it is met; all unless told. */
  readonly axes?: readonly string[];
  /** Whether the case is one of which it is told. */
  readonly when: (compared: Compared, difference: Difference) => boolean;
  /** What may be different then. */
  readonly what: RegExp;
}

/** How a backend's body is framed where its end is none. */
export const BROKEN: ReadonlySet<string> = new Set(['short', 'long', 'bad-chunk']);

/** The backend's response ends before it is whole. */
export const breaksOff = ({ answer }: Case): boolean => BROKEN.has(answer.framing) || answer.leave !== undefined;

export const anyRequest = (one: Case, is: (request: Case['client']['requests'][number]) => boolean): boolean =>
  one.client.requests.some(is);
const texts = new WeakMap<Case['parts'], readonly string[]>();

/** The parts of a case as texts, which are made once. */
function textsOf({ parts }: Case): readonly string[] {
  let all = texts.get(parts);
  if (all === undefined) {
    all = parts.map((part) => JSON.stringify(part));
    texts.set(parts, all);
  }
  return all;
}

export const uses = (one: Case, text: RegExp): boolean => textsOf(one).some((part) => text.test(part));
/** Whether a body was found not to be what its packing says, as one that a script has changed. */
export const unpacksBadly = (seen: Compared['left']): boolean => seen.get('error log')?.includes('inflate() failed') === true;
/** Whether the client ends its side before it has the response. */
export const leaves = (one: Case): boolean =>
  one.client.leave !== undefined || one.client.cancel !== undefined || anyRequest(one, ({ body }) => body?.framing === 'short');
export const http2Backend = (one: Case): boolean => uses(one, /grpc_pass|proxy_http_version 2;/);
/** Whether a request has a body whose length is not announced. */
export const hasChunks = (one: Case): boolean => anyRequest(one, ({ body }) => body !== undefined && body.framing !== 'length');
export const badBody = (one: Case): boolean => anyRequest(one, ({ body }) => body?.framing.startsWith('bad') === true);

/** What a backend says is no head of HTTP/1. */
export const headless = (raw: string | undefined): boolean => raw !== undefined && raw !== '' && !/^HTTP\/1\.\d \d{3}[ \r\n]/.test(raw);

/** Whether something of such a name was seen with this text. */
export const some = (seen: Iterable<readonly [string, string]>, name: RegExp, text: string): boolean =>
  [...seen].some(([what, value]) => name.test(what) && value === text);

/** A request to a backend without the fields that say how long it is. */
export const unframed = (text: string): string =>
  text.replace(/^(content-length: |transfer-encoding: |CONTENT_LENGTH=|HTTP_TRANSFER_ENCODING=).*\r?\n/gim, '');

/**
 * A request over TLS without what says of its session, or its kept connection, that it was there before: a session of TLS 1.2 does not
 * repeat the name.
 */
export const withoutSession = (text: string): string =>
  text
    .replaceAll(RESUMED, '')
    .replace('TLS for EARLIER HOST', 'TLS for HOST')
    .replace(/^TLS for \S+(?=, .*TLSv1\.2)/, 'TLS for somebody');

export const linesOf = (seen: Compared['left']): number => Number(seen.get('lines of the access log'));
export const askedFor = (seen: Compared['left'], target: string): number =>
  [...seen].filter(([what, text]) => /^request \d+ to the backend$/.test(what) && text.includes(target)).length;

/** Whether two texts are lists of numbers that are apart by at most so much in all. */
export const within = (most: number, { left, right }: Difference): boolean => Math.abs(sumOf(left) - sumOf(right)) <= most;
const sumOf = (text: string): number => (text.match(/\d+/g) ?? []).reduce((sum, each) => sum + Number(each), 0);

/** Bytes of the longest body of a client's on the connection. */
export const longestBody = ({ client: { requests } }: Case): number =>
  Math.max(...requests.map((request) => requestBytes(request, '').length - requestBytes(withoutBody(request), '').length));

const withoutBody = ({ body: _body, ...rest }: Case['client']['requests'][number]): Case['client']['requests'][number] => rest;

/** Bytes of all that the backend of a case sends for a request, with what HTTP/2 and FastCGI put around it. */
export const answerLength = ({ answer }: Case): number =>
  Math.max(answerBytes(answer, false).bytes.length, cgiBytes(answer).length) + FRAMES * Math.ceil(bytesOf(answer.body).length / 4096 + 4);
const FRAMES = 128;

/** More than this may come in several pieces, and be read in several. */
const ONE_PIECE = 2048;
/** Whether the backend of a case sends what may come in pieces. */
export const comesInPieces = (one: Case): boolean =>
  one.answer.bytewise === true || bytesOf(one.answer.body).length > ONE_PIECE || http2Backend(one);

/** The number that a name has: of the response, the line or the request. */
const numberOf = (what: string): string | undefined => /^(?:response|log) (\d+): /.exec(what)?.[1];

/** Whether a difference is of a response that one side does not have, or of a line of such statuses, or of how many there are. */
export function isOfLeaving({ case: one, left, right }: Compared, { what }: Difference, statuses: RegExp): boolean {
  const number = numberOf(what);
  if (number === undefined) {
    return true;
  }
  if (what.startsWith('response')) {
    const status = `response ${number}: status`;
    return !left.has(status) || !right.has(status);
  }
  // The status of a line with post_action is that of its response.
  return uses(one, /post_action/) || [left, right].some((seen) => statuses.test(seen.get(`log ${number}: $status`) ?? 'none'));
}

/** How often backends were asked, at least once. */
export const askedInAll = (left: Compared['left'], right: Compared['left']): number =>
  Math.max(1, ...[left, right].map((seen) => Number(seen.get('requests to the backend'))));

/** Whether two error logs say the same, each line at least once. */
export const sameLines = ({ left, right }: Difference): boolean => {
  const [first, second] = [new Set(left.split('\n')), new Set(right.split('\n'))];
  return first.size === second.size && [...first].every((line) => second.has(line));
};

/** An error log without some of its lines. */
export const linesWithout = (text: string, unwanted: RegExp): string =>
  text
    .split('\n')
    .filter((line) => !unwanted.test(line))
    .join('\n');
