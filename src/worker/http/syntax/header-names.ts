/** A spelling of a header name the server knows: it is recognised by its bytes and costs no new string. */
export class KnownHeader {
  /** The name in this spelling; empty in the entry that stands for all unusual ones. */
  readonly name: string;
  readonly lower: string;
  /** The name's slot in {@link HeaderSlot}, or -1 for a name that is only interned. */
  readonly slot: number;
  /** The name's own number, from 0 on; the same for all spellings. */
  readonly number: number;
  /** Whether a second line with this name in a request is an error (nginx: ngx_http_process_unique_header_line). */
  readonly unique: boolean;

  constructor(name: string, lower: string, slot: number, number: number, unique: boolean) {
    this.name = name;
    this.lower = lower;
    this.slot = slot;
    this.number = number;
    this.unique = unique;
  }
}

/** Numbers of the request headers that nginx keeps in `r->headers_in` (nginx: ngx_http_headers_in), for `RequestHead.known`. */
export const HeaderSlot = {
  host: 0,
  connection: 1,
  ifModifiedSince: 2,
  ifUnmodifiedSince: 3,
  ifMatch: 4,
  ifNoneMatch: 5,
  userAgent: 6,
  referer: 7,
  contentLength: 8,
  contentRange: 9,
  contentType: 10,
  range: 11,
  ifRange: 12,
  transferEncoding: 13,
  te: 14,
  expect: 15,
  upgrade: 16,
  acceptEncoding: 17,
  via: 18,
  authorization: 19,
  proxyAuthorization: 20,
  keepAlive: 21,
  xForwardedFor: 22,
  xRealIp: 23,
  accept: 24,
  acceptLanguage: 25,
  depth: 26,
  destination: 27,
  overwrite: 28,
  date: 29,
  cookie: 30,
} as const;

/** The name in lower case that each slot of {@link HeaderSlot} stands for. */
export const slotNames: string[] = [];

const unique: readonly (readonly [string, number])[] = [
  ['Host', HeaderSlot.host],
  ['If-Modified-Since', HeaderSlot.ifModifiedSince],
  ['If-Unmodified-Since', HeaderSlot.ifUnmodifiedSince],
  ['If-Match', HeaderSlot.ifMatch],
  ['If-None-Match', HeaderSlot.ifNoneMatch],
  ['Content-Length', HeaderSlot.contentLength],
  ['Content-Range', HeaderSlot.contentRange],
  ['If-Range', HeaderSlot.ifRange],
  ['Transfer-Encoding', HeaderSlot.transferEncoding],
  ['Expect', HeaderSlot.expect],
  ['Authorization', HeaderSlot.authorization],
  ['Proxy-Authorization', HeaderSlot.proxyAuthorization],
];

const repeatable: readonly (readonly [string, number])[] = [
  ['Connection', HeaderSlot.connection],
  ['User-Agent', HeaderSlot.userAgent],
  ['Referer', HeaderSlot.referer],
  ['Content-Type', HeaderSlot.contentType],
  ['Range', HeaderSlot.range],
  ['TE', HeaderSlot.te],
  ['Upgrade', HeaderSlot.upgrade],
  ['Accept-Encoding', HeaderSlot.acceptEncoding],
  ['Via', HeaderSlot.via],
  ['Keep-Alive', HeaderSlot.keepAlive],
  ['X-Forwarded-For', HeaderSlot.xForwardedFor],
  ['X-Real-IP', HeaderSlot.xRealIp],
  ['Accept', HeaderSlot.accept],
  ['Accept-Language', HeaderSlot.acceptLanguage],
  ['Depth', HeaderSlot.depth],
  ['Destination', HeaderSlot.destination],
  ['Overwrite', HeaderSlot.overwrite],
  ['Date', HeaderSlot.date],
  ['Cookie', HeaderSlot.cookie],
];

const interned =
  'Accept-Charset Accept-Ranges Access-Control-Allow-Credentials Access-Control-Allow-Headers Access-Control-Allow-Methods ' +
  'Access-Control-Allow-Origin Access-Control-Expose-Headers Access-Control-Max-Age Access-Control-Request-Headers ' +
  'Access-Control-Request-Method Age Allow Alt-Svc CF-Connecting-IP Cache-Control Content-Disposition Content-Encoding ' +
  'Content-Language Content-Location Content-Security-Policy DNT ETag Expires Forwarded From Last-Modified Link Location ' +
  'Max-Forwards NEL Origin Permissions-Policy Pragma Priority Proxy-Authenticate Proxy-Connection Purpose Referrer-Policy Refresh ' +
  'Report-To Retry-After Sec-Fetch-Dest Sec-Fetch-Mode Sec-Fetch-Site Sec-Fetch-User Sec-GPC Sec-Purpose ' +
  'Sec-WebSocket-Accept Sec-WebSocket-Extensions Sec-WebSocket-Key Sec-WebSocket-Protocol Sec-WebSocket-Version Server ' +
  'Server-Timing Set-Cookie SOAPAction Status Strict-Transport-Security Timing-Allow-Origin Trailer Upgrade-Insecure-Requests Vary ' +
  'WWW-Authenticate Warning X-Accel-Buffering X-Accel-Charset X-Accel-Expires X-Accel-Limit-Rate X-Accel-Redirect X-Api-Key ' +
  'X-Cache X-CSRF-Token X-Content-Type-Options X-Correlation-ID X-DNS-Prefetch-Control X-Forwarded-Host X-Forwarded-Port ' +
  'X-Forwarded-Prefix X-Forwarded-Proto X-Forwarded-Server X-Frame-Options X-Powered-By X-Request-ID X-Requested-With ' +
  'X-Robots-Tag X-UA-Compatible X-XSS-Protection sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform traceparent tracestate';

// One spelling in a bucket; `bytes` is in lower case where `header` stands for all unusual spellings.
class Entry {
  readonly bytes: Uint8Array;
  readonly header: KnownHeader;
  next: Entry | undefined = undefined;

  constructor(bytes: Uint8Array, header: KnownHeader) {
    this.bytes = bytes;
    this.header = header;
  }
}

const numbers = new Map<string, number>();
const inLowerCase = new Map<string, KnownHeader>();

/** The number of each known name, in lower case. */
export const knownNames: ReadonlyMap<string, number> = numbers;

const BUCKETS = 512;
const buckets: (Entry | undefined)[] = new Array(BUCKETS).fill(undefined);

function bucketOf(length: number, first: number, last: number): number {
  return (length * 37 + (first & 0x1f) * 5 + (last & 0x1f) * 163) & (BUCKETS - 1);
}

// Adds in front of the bucket, so that what is added last is tried first.
function addSpelling(spelling: string, name: string, lower: string, slot: number, isUnique: boolean): void {
  const bytes = new TextEncoder().encode(spelling);
  const entry = new Entry(bytes, new KnownHeader(name, lower, slot, numbers.get(lower) as number, isUnique));
  const bucket = bucketOf(bytes.length, bytes[0]!, bytes[bytes.length - 1]!);
  entry.next = buckets[bucket];
  buckets[bucket] = entry;
  if (name === lower) {
    inLowerCase.set(lower, entry.header);
  }
}

function add(name: string, slot: number, isUnique: boolean): void {
  const lower = name.toLowerCase();
  numbers.set(lower, numbers.size);
  addSpelling(lower, '', lower, slot, isUnique);
  addSpelling(lower, lower, lower, slot, isUnique);
  if (name !== lower) {
    addSpelling(name, name, lower, slot, isUnique);
  }
  if (slot !== -1) {
    slotNames[slot] = lower;
  }
}

for (const name of interned.split(' ')) {
  add(name, -1, false);
}
for (const [name, slot] of repeatable) {
  add(name, slot, false);
}
for (const [name, slot] of unique) {
  add(name, slot, true);
}

/** How many names are known. */
export const KNOWN_NAMES = numbers.size;

/** The known header whose name, in whatever case, is the bytes `start..end`; undefined if there is none. */
export function findKnownHeader(bytes: Uint8Array, start: number, end: number): KnownHeader | undefined {
  const length = end - start;
  let entry = buckets[bucketOf(length, bytes[start]!, bytes[end - 1]!)];
  while (entry !== undefined) {
    const name = entry.bytes;
    if (name.length === length && (entry.header.name === '' ? sameIgnoringCase(bytes, start, name) : same(bytes, start, name))) {
      return entry.header;
    }
    entry = entry.next;
  }
  return undefined;
}

/** The known header with a name in lower case. */
export const knownHeaderOf = (lower: string): KnownHeader | undefined => inLowerCase.get(lower);

function same(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  const length = name.length;
  let i = 0;
  while (i < length && bytes[start + i] === name[i]) {
    i++;
  }
  return i === length;
}

// Letters of both cases differ in the bit 0x20 only. The scanner has excluded control bytes, so nothing else can fold onto a name.
function sameIgnoringCase(bytes: Uint8Array, start: number, name: Uint8Array): boolean {
  for (let i = 0; i < name.length; i++) {
    if ((bytes[start + i]! | 0x20) !== name[i]) {
      return false;
    }
  }
  return true;
}
