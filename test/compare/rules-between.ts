// Long, since it is one table of all differences between two runs of the same server that are meant.

import { isFront, isStream } from './case.js';
import type { Observation } from './observation.js';
import {
  answerLength,
  anyRequest,
  askedFor,
  askedInAll,
  BROKEN,
  badBody,
  breaksOff,
  comesInPieces,
  hasChunks,
  headless,
  http2Backend,
  isOfLeaving,
  leaves,
  linesOf,
  linesWithout,
  longestBody,
  type Rule,
  sameLines,
  some,
  unframed,
  unpacksBadly,
  uses,
  within,
  withoutSession,
} from './rule.js';

/** Bytes of frames around the sections and bodies of HTTP/3. */
const HTTP3_FRAMES = 16;

/** Bytes by which two handshakes differ. */
const SIGNATURES = 8;

/** Bytes of heads of frames that one body has more than another. */
const DATA_FRAMES = 64;

/** An error log without what it says of connections that were reset. */
const withoutResets = (text: string): string => linesWithout(text, /\(104: Connection reset by peer\)/);

/** An error log without what it says of malformed chunks. */
const withoutChunk = (text: string): string => linesWithout(text, /^\[error\] client sent invalid chunked body$/);

/** An error log without what it says of sizes that are none. */
const withoutSizes = (text: string): string => linesWithout(text, /^\[error\] invalid size "/);

/** The longest record of TLS, in bytes. */
const RECORD = 16_384;

/** All requests to the backend, whatever their order. */
const requestsOf = (seen: Observation): string =>
  [...seen]
    .filter(([what]) => /^request \d+ to the backend$/.test(what))
    .map(([, text]) => text)
    .sort()
    .join('\n');

/** Values of variables without those that are 0. */
const withoutZeros = (text: string): string => text.replace(/(?<=^|,)0(?=,|$)/g, '');

const HTTP2 = ['http2', 'http3'];
const HTTP3 = ['http3', 'http3-engine'];

/** Why two runs of one server may differ. */
export const between: readonly Rule[] = [
  {
    name: 'a session that is closed with bytes unread',
    why: 'the reset of a connection of which not all was read may overtake what was sent',
    when: ({ case: one }) => uses(one, /"stream-return"/),
    what: /^end$|^responses$|^response /,
  },
  {
    name: 'a close that does not linger',
    why: 'as in nginx, what comes behind a 400, or with lingering_close off, is not waited for: the reset that it causes may overtake the response',
    when: ({ case: one, left, right }) =>
      ([left, right].every((seen) => some(seen, /^log 1: \$status$/, '400')) || uses(one, /lingering_close off/)) &&
      [left, right].some((seen) => seen.get('responses') === '0'),
    what: /^end$|^responses?/,
  },
  {
    name: 'bytes behind the head of a 101',
    why: 'a client that has asked with HEAD waits for no more than the head, and sees what came with it',
    when: ({ case: one }) => one.answer.raw?.startsWith('HTTP/1.1 101') === true && anyRequest(one, ({ method }) => method === 'HEAD'),
    what: /^responses$|^response [2-9]/,
  },
  {
    name: 'a head by the time its body breaks off',
    why: 'it waits for the first bytes of the body: what is wrong with these was read with it, or behind it',
    when: ({ case: one, left, right }) =>
      breaksOff(one) &&
      [left, right].some((seen) => some(seen, /^response 1: complete$/, 'false')) &&
      [left, right].some((seen) => !seen.has('response 1: status')),
    what: /^end$|^responses?/,
  },
  {
    name: 'a second request behind an unread body',
    why: 'a body of which something is missing when the response comes ends the connection, with no answer to what is behind it',
    when: ({ case: one, left, right }) => {
      const closed = [left, right].filter((seen) => some(seen, /^response \d+: header connection$/, 'close'));
      return (
        one.client.requests.length > 1 &&
        anyRequest(one, ({ body }) => body !== undefined) &&
        left.get('response 1: status') === right.get('response 1: status') &&
        closed.length === 1 &&
        closed[0]!.get('end') === 'closed'
      );
    },
    what: /^responses$|^(?:response|log|request) [2-9]|^lines of|^requests |^error log$/,
  },
  {
    name: 'how much was sent on a stream that its client gave up',
    why: 'a stream is given up while its response is sent',
    when: ({ case: one }) => one.client.cancel !== undefined,
    what: /\$(body_)?bytes_sent$/,
  },
  {
    name: 'how long a client has to wait',
    why: 'the time until its turn goes by',
    when: ({ case: one }) => uses(one, /limit_req_retry_after/),
    what: /: header retry-after$/,
  },
  {
    name: 'the connection after what is no image',
    why: 'the rest of a response that breaks off is there already or not when its beginning is seen to be no image',
    when: ({ case: one, left }) =>
      uses(one, /image_filter /) &&
      ['short', 'long', 'bad-chunk'].includes(one.answer.framing) &&
      (some(left, /\$status$/, '415') || some(left, /\$sent_http_content_type$/, 'application/json')),
    what: /^end$|: header connection$|\$bytes_sent$|\$sent_http_connection$|^error log$|^responses$|^(response|log) [2-9]|^lines of|^requests? /,
  },
  {
    name: 'sizes of frames of HTTP/3',
    why: 'bytes are counted with the heads of frames, whose number depends on the pieces',
    axes: ['http3-engine', 'http3-early'],
    when: ({ case: one }, difference) => one.answer.bytewise === true || within(DATA_FRAMES + Number(difference.left) / 10_000, difference),
    what: /\$(body_)?bytes_sent$/,
  },
  {
    name: 'mirrors by the time a response breaks off',
    why: 'the response counts as complete, and they have lines of their own, only if they are over by then',
    when: ({ case: one, left, right }) =>
      uses(one, /mirror \//) && (breaksOff(one) || [left, right].some((seen) => some(seen, /: complete$/, 'false'))),
    what: /\$request_completion$|^lines of|^log /,
  },
  {
    name: 'a body by the time a backend answers',
    why: 'an answer may come before the last of the body, which the fields of the response then do not have',
    axes: HTTP3,
    when: ({ case: one }) => uses(one, /\$request_body/),
    what: /: header x-seen$|\$bytes_sent$/,
  },
  {
    name: 'post_action after a body in pieces',
    why: 'its request has the length if the body was there by then',
    axes: ['pieces'],
    when: ({ case: one }, { left, right }) => uses(one, /post_action/) && unframed(left) === unframed(right),
    what: /^request \d+ to the backend$/,
  },
  {
    name: 'post_action after a body in pieces that nobody read',
    why: 'without buffers its request has the body if that came with the head',
    axes: ['pieces'],
    when: ({ case: one, left, right }) =>
      uses(one, /post_action/) &&
      uses(one, /request_buffering off/) &&
      anyRequest(one, ({ body }) => body !== undefined) &&
      askedFor(left, '/post-action') === askedFor(right, '/post-action'),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$/,
  },
  {
    name: 'a response of HTTP/3 that breaks off at its beginning',
    why: 'a reset stream loses what the client has not read',
    axes: [...HTTP3, 'nginx-http3'],
    when: ({ case: one, left, right }) =>
      (BROKEN.has(one.answer.framing) || unpacksBadly(left)) && (left.get('responses') === '0' || right.get('responses') === '0'),
    what: /^responses?|^log /,
  },
  {
    name: 'slices that promise more than they have',
    why: 'they break off behind the last byte, which a connection has sent by then and a stream that is reset loses',
    axes: ['http2', 'http3', 'http3-engine'],
    when: ({ case: one }) => uses(one, /\bslice \d/) && one.answer.ranges === true && one.answer.framing === 'long',
    what: /: (body|complete)$|\$(request_completion|(body_)?bytes_sent)$/,
  },
  {
    name: 'requests at one time',
    why: 'over HTTP/2 and HTTP/3 a second one does not wait for the first, and finds other connections and servers',
    axes: HTTP2,
    when: ({ case: one }) => one.client.requests.length > 1 && uses(one, /%%GROUP%%|kept_|many_|two_/),
    what: /^requests? |\$upstream_|^error log$/,
  },
  {
    name: 'the line of a request whose target is none',
    why: 'HTTP/2 and HTTP/3 log what they have read of it',
    axes: HTTP2,
    when: ({ case: one }) => anyRequest(one, ({ target }) => target.includes('%00')),
    what: /^log \d+: /,
  },
  {
    name: 'sizes of tickets',
    why: 'a session that passes TLS on counts the handshake',
    axes: ['proxied'],
    when: ({ case: one }, difference) => one.client.through === 'tls' && within(DATA_FRAMES, difference),
    what: /^session \d+: \w*bytes_/,
  },
  {
    name: 'a client that leaves within its second request',
    why: 'the first response may have been sent by then, or not',
    axes: ['early'],
    when: ({ case: one }) => leaves(one) && one.client.requests.length > 1 && BROKEN.has(one.answer.framing),
    what: /^log |^error log$/,
  },
  {
    name: 'a script that echoes a body which breaks off',
    why: 'how much of it has come by then depends on time',
    when: ({ case: one }) => (badBody(one) || leaves(one)) && uses(one, /ours\.streamed/),
    what: /: body$|\$(body_)?bytes_sent$/,
  },
  {
    name: 'whether the reset of a backend is seen',
    why: 'it comes before or after the connection is closed, whose response is whole',
    when: ({ case: one }, { left, right }) => one.answer.leave?.how === 'reset' && withoutResets(left) === withoutResets(right),
    what: /^error log$/,
  },
  {
    name: 'the length of a signature',
    why: 'signatures of ECDSA are of several lengths, and a session that passes TLS on counts the handshake, and the records of pieces',
    when: ({ case: one }, difference) => one.client.through === 'tls' && (one.answer.bytewise === true || within(SIGNATURES, difference)),
    what: /^session \d+: (upstream_)?bytes_/,
  },
  {
    name: 'a malformed body beside a backend whose handshake fails',
    why: 'the response is that to what was seen first',
    when: ({ case: one, left, right }) =>
      badBody(one) && [left, right].some((seen) => /SSL_do_handshake|upstream SSL certificate/.test(seen.get('error log') ?? '')),
    what: /^response \d+: (status|header|body)|^end$|^log |^error log$|^requests? |^lines of/,
  },
  {
    name: 'a backend that ends the session before the next request',
    why: 'what a client sends to a backend that has closed the connection may come in time to be seen by it, or not',
    when: ({ case: one }) =>
      isStream(one) &&
      one.client.requests.length > 1 &&
      (one.answer.framing !== 'length' || one.answer.leave !== undefined || one.answer.raw !== undefined),
    what: /^end$|^responses?|^requests? |^session \d+: (upstream_)?bytes_|^lines of|^log [2-9]/,
  },
  {
    name: 'how much comes of a session before its client gives up',
    why: 'a client that has seen that a response is malformed leaves, while more of it comes',
    when: ({ case: one }, difference) =>
      isStream(one) && one.answer.bytewise === true && one.answer.raw !== undefined && within(one.answer.raw.length, difference),
    what: /^session \d+: (bytes_sent|upstream_bytes_received)$/,
  },
  {
    name: 'whether a session of TLS was there before',
    why: 'the first connection to a backend makes the session by which later ones begin',
    when: ({ case: one }, { left, right }) => !uses(one, /session_reuse off/) && withoutSession(left) === withoutSession(right),
    what: /^request \d+ to the backend$/,
  },
  {
    name: 'a malformed body that nobody reads',
    why: 'the response says whether the connection is kept before or after the malformed chunk came',
    when: ({ case: one, left, right }) => badBody(one) && left.get('response 1: status') === right.get('response 1: status'),
    what: /^end$|: header (connection|keep-alive)$|\$(sent_http_connection|content_length|bytes_sent)$/,
  },
  {
    name: 'a malformed body that is seen before the response',
    why: 'the malformed chunk came with the request, or behind it',
    when: ({ case: one, left, right }) =>
      badBody(one) && [...left, ...right].some(([what, text]) => /: status$/.test(what) && text === '400'),
    what: /^end$|^responses?|^log |^lines of|^requests? |^error log$/,
  },
  {
    name: 'the end of a malformed body that nobody reads',
    why: 'the error log tells of a malformed chunk that came before the connection was given up',
    when: ({ case: one }, { left, right }) => badBody(one) && withoutChunk(left) === withoutChunk(right),
    what: /^error log$/,
  },
  {
    name: 'the length of a body that nobody reads',
    why: '$request_length counts what was read when the line is written',
    when: ({ case: one }, difference) =>
      anyRequest(one, ({ body }) => body !== undefined) && within(longestBody(one) + HTTP3_FRAMES, difference),
    what: /\$request_length$/,
  },
  {
    name: 'post_action after a body of HTTP/3 that nobody read',
    why: 'the stream is told to stop when its response is over: a body of which not all was there then is none',
    axes: ['http3', 'http3-engine', 'nginx-http3'],
    when: ({ case: one }, { left, right }) =>
      uses(one, /post_action/) &&
      anyRequest(one, ({ body }) => body !== undefined) &&
      left.includes('post-action') &&
      right.includes('post-action'),
    what: /^request \d+ to the backend$/,
  },
  {
    name: 'the end of a body in chunks that nobody reads',
    why: '$content_length is 0 once the end of the body has come, and nothing before',
    when: ({ case: one, left, right }) => hasChunks(one) && some([...left, ...right], /\$content_length$/, '-'),
    what: /\$content_length$/,
  },
  {
    name: 'a header that says how long a body in chunks is',
    why: '$content_length is 0 once the end of the body has come, and nothing before',
    when: ({ case: one }, difference) =>
      uses(one, /X-Seen [^;]*\$content_length/) &&
      hasChunks(one) &&
      (difference.what.endsWith('bytes_sent') ? within(1, difference) : withoutZeros(difference.left) === withoutZeros(difference.right)),
    what: /: header x-seen$|\$bytes_sent$|^session \d+: (bytes_sent|upstream_bytes_received)$/,
  },
  {
    name: 'what is there of a line that is no request',
    why: '$request has what came of the line until it could not be one any more',
    axes: ['pieces'],
    when: ({ left, right }) => some(left, /\$status$/, '400') && some(right, /\$status$/, '400'),
    what: /\$request$/,
  },
  {
    name: 'how far a response of HTTP/2 came that breaks off',
    why: 'what a backend sent in front of the break is passed on as far as it was read by then',
    when: ({ case: one, left, right }, { left: first, right: second }) =>
      http2Backend(one) &&
      one.answer.framing !== 'length' &&
      some([...left, ...right], /: complete$/, 'false') &&
      (first.startsWith(second) || second.startsWith(first) || Number(first) !== Number(second)),
    what: /: body$|bytes_sent$/,
  },
  {
    name: 'what the log says of a request behind an unread body',
    why: 'whether that request is served depends on how much of the body had come by the response before',
    when: ({ case: one }, difference) =>
      one.client.requests.length > 1 && anyRequest(one, ({ body }) => body !== undefined) && sameLines(difference),
    what: /^error log$/,
  },
  {
    name: 'what a session has read before it has a backend',
    why: 'it has come by then, or has not',
    when: ({ case: one }) => isStream(one) && uses(one, /proxy_bind 192/),
    what: /^session \d+: bytes_received$/,
  },
  {
    name: 'a page from a backend that fills the cache',
    why: 'the first time it is there in place of an error, the second time without one',
    axes: ['cached'],
    when: ({ case: one }) => uses(one, /error_page [^;]* (@failed-backend|\/error-backend)/),
    what: /: status$/,
  },
  {
    name: 'what of a body a variable or a post_action finds',
    why: 'a backend of HTTP/2 is given it as it comes, and what has come by then is there',
    axes: ['pieces'],
    when: ({ case: one }) =>
      uses(one, /grpc_pass/) && uses(one, /\$request_body|post_action/) && anyRequest(one, ({ body }) => body !== undefined),
    what: /: header x-seen$|^request \d+ to the backend$/,
  },
  {
    name: 'the backend of a response from the cache',
    why: 'there is none the second time',
    axes: ['cached'],
    when: ({ case: one }) => uses(one, /add_header X-Seen [^;]*\$upstream_/),
    what: /: header x-seen$/,
  },
  {
    name: 'a session whose client has ended its side',
    why: 'it is over with that, whether the response has come or not',
    axes: ['proxied', 'pieces', 'engine', 'workers', 'tls'],
    when: ({ case: one }) => isStream(one) && one.client.leave?.how === 'half',
    what: /^end$|^responses?|^session |^requests? |^error log$/,
  },
  {
    name: 'ten thousand slices that come byte by byte',
    why: 'as many have come as there was time for',
    when: ({ case: one, left, right }) =>
      uses(one, /\bslice \d/) && one.answer.bytewise === true && left.get('end') === 'late' && right.get('end') === 'late',
    what: /^responses?|^log |^lines of|^requests? |^error log$/,
  },
  {
    name: 'several ranges of what is put into the cache',
    why: 'as with nginx, the request that fills the cache may have one range alone',
    axes: ['cached'],
    when: ({ case: one }) => anyRequest(one, ({ fields }) => fields.some(([name, value]) => name === 'Range' && value.includes(','))),
    what: /^response \d+: (status|body|header (accept-ranges|content-(type|length|range)|x-seen))$|\$(status|(body_)?bytes_sent|sent_http_content_\w+)$/,
  },
  {
    name: 'what was sent when a subrequest was over',
    why: 'its line in the log counts what the connection has sent by then',
    when: ({ case: one, left }) => uses(one, /log_subrequest on/) && linesOf(left) > one.client.requests.length,
    what: /\$(body_)?bytes_sent$/,
  },
  {
    name: 'the order of subrequests',
    why: 'who of two at the same time is first with a backend',
    when: ({ left, right }) => requestsOf(left) === requestsOf(right),
    what: /^request \d+ to the backend$/,
  },
  {
    name: 'how much of a body was read before the response',
    why: 'a body comes in one read or in several, as in records of TLS; what a backend would still have taken of it ends the connection',
    when: ({ case: one, left, right }) =>
      (http2Backend(one) || uses(one, /request_buffering off/)) &&
      anyRequest(one, ({ body }) => body !== undefined && body.text.length * (body.times ?? 1) > RECORD) &&
      left.get('responses') !== right.get('responses'),
    what: /^end$|^responses$|^(?:response|log|request) [2-9]|^lines of|^requests /,
  },
  {
    name: 'what a script has of a backend that resets the connection',
    why: 'the bytes in front of a reset are read or not',
    when: ({ case: one }) => uses(one, /js-asked/) && one.answer.leave?.how === 'reset',
    what: /: (body|header content-length)$|bytes_sent$|\$sent_http_content_length$/,
  },
  {
    name: 'whether the next request is there',
    why: '$pipe depends on how much of the next request came with this one',
    when: ({ case: one }) => one.client.requests.length > 1,
    what: /\$pipe$/,
  },
  {
    name: 'how much of an unread response came',
    why: 'a connection to a backend is closed when the head, or the promised length, is there',
    when: ({ case: one, left, right }, difference) => comesInPieces(one) && within(answerLength(one) * askedInAll(left, right), difference),
    what: /\$upstream_(bytes_received|response_length)$/,
  },
  {
    name: 'sizes of chunks',
    why: 'bytes of chunked responses are counted with their framing, which depends on the pieces',
    when: ({ left }) => [...left].some(([what, text]) => /header transfer-encoding$/.test(what) && text === 'chunked'),
    what: /\$(body_)?bytes_sent$|^session \d+: (bytes_sent|upstream_bytes_received)$/,
  },
  {
    name: 'HTTP/1 ends at a response',
    why: 'a malformed request, a broken response and one that says so end the connection of HTTP/1, and only the stream of HTTP/2',
    axes: HTTP2,
    when: ({ case: one, left, right }) =>
      (Number(left.get('responses')) < Number(right.get('responses')) &&
        (one.answer.framing === 'bad-chunk' ||
          some(left, /: complete$/, 'false') ||
          some(left, /^response \d+: header connection$/, 'close'))) ||
      // Neither may have a response that could be read.
      (one.client.requests.length > 1 && left.get('end') === 'closed' && linesOf(left) < linesOf(right)),
    what: /^end$|^responses$|^response [2-9]|^log [2-9]|^lines of|^requests? |^error log$/,
  },
  {
    name: 'a kept connection that its backend has closed meanwhile',
    why: 'a request that was sent on it goes out again, and one that saw the end before was never sent on it',
    when: ({ case: one }) => breaksOff(one) || one.answer.framing === 'close',
    what: /^requests? |\$upstream_(addr|status|response_length|bytes_received|bytes_sent)$|^error log$/,
  },
  {
    name: 'a kept connection that its backend is about to close',
    why: 'bytes behind a response and the end of the connection come before or after the next request is sent on it, which may be none to repeat',
    when: ({ case: one, left, right }) =>
      (one.answer.framing === 'long' || (one.client.pipelined === true && breaksOff(one))) &&
      one.client.requests.length > 1 &&
      [left, right].some((seen) => /prematurely closed connection|on a connection that was kept/.test(seen.get('error log') ?? '')),
    what: /^responses$|^(?:response|log|request) [2-9]|^requests? |^error log$/,
  },
  {
    name: 'a malformed body beside a backend that refuses',
    why: 'the next backend is asked before or after the malformed chunk came',
    when: ({ case: one }) => badBody(one) && uses(one, /server 127\.0\.0\.1:1 /) && uses(one, /request_buffering off/),
    what: /\$upstream_|^error log$|^requests? /,
  },
  {
    name: 'limit_rate of a head alone',
    why: 'HTTP/1 looks at limit_rate when it sends the head, and HTTP/2 with the first bytes of a body',
    axes: HTTP2,
    when: ({ case: one, left }) =>
      uses(one, /limit_rate /) &&
      (anyRequest(one, ({ method }) => method === 'HEAD') || ['204', '304'].some((status) => some(left, /: status$/, status))),
    what: /\$limit_rate$/,
  },
  {
    name: 'a limit_rate that is none, of a head alone',
    why: 'HTTP/1 looks at limit_rate, and tells of one that is none, when it sends the head, and HTTP/2 with the first bytes of a body',
    axes: HTTP2,
    when: ({ case: one }, { left, right }) =>
      uses(one, /limit_rate \$choice/) && anyRequest(one, ({ method }) => method === 'HEAD') && withoutSizes(left) === withoutSizes(right),
    what: /^error log$/,
  },
  {
    name: 'a client that ends its side with its early data',
    why: 'the end of its side is there before the end of its handshake, which fails',
    axes: ['early'],
    when: ({ case: one, right }) =>
      leaves(one) &&
      (Number(right.get('responses')) < one.client.requests.length || some(right, /: complete$/, 'false')) &&
      right.get('end') === 'closed',
    what: /^end$|^responses?|^log [2-9]|^lines of|^error log$/,
  },
  {
    name: 'HTTP/1 ends without a response',
    why: 'a response that breaks off before its first byte ends the connection of HTTP/1, and the next request has the first one over HTTP/2',
    axes: HTTP2,
    when: ({ case: one, left }) => one.client.requests.length > 1 && left.get('responses') === '0' && left.get('end') === 'closed',
    what: /^response 1: /,
  },
  {
    name: 'whether a body is seen to be too large before a backend is asked',
    why: 'a body that is passed on as it comes is refused when that much has come, before or after the backend was asked',
    when: ({ case: one, left, right }) =>
      uses(one, /client_max_body_size [1-9]/) &&
      uses(one, /request_buffering off|grpc_pass/) &&
      [left, right].some((seen) => some(seen, /\$status$/, '413')),
    what: /to the backend$|\$upstream_|^error log$/,
  },
  {
    name: 'what a reset overtakes',
    why: 'a stream of QUIC that is reset drops what of it has not arrived yet',
    axes: ['http3', 'http3-engine', 'http3-early', 'nginx-http3'],
    when: ({ left, right }) => [left, right].some((seen) => some(seen, /^response \d+: complete$/, 'false')),
    what: /^end$|^responses?/,
  },
  {
    name: 'a head that waits for its body',
    why: 'HTTP/1 sends the head with the first bytes of the body, and nothing where the body fails before; HTTP/2 sends it at once',
    axes: HTTP2,
    when: ({ case: one, left }) => ['bad-chunk', 'short'].includes(one.answer.framing) && left.get('responses') === '0',
    what: /^end$|^responses?|\$(body_)?bytes_sent$/,
  },
  {
    name: 'the line of a request that was refused',
    why: 'HTTP/2 has no line but what is made of a request that could be read',
    axes: HTTP2,
    when: ({ left }, { what }) => {
      const line = /^log \d+: /.exec(what)?.[0];
      return left.get(`${line}$status`) === '400' && left.get(`${line}$request_uri`) === '-';
    },
    what: /^log \d+: \$request$/,
  },
  {
    name: 'a response without a status line',
    told: '**A response without a status line**',
    axes: [...HTTP2, 'nginx-http2', 'nginx-http3'],
    when: ({ case: one }) => headless(one.answer.raw) && uses(one, /proxy_pass/),
    what: /^responses?|^end$|^log \d+: \$(status|upstream_|sent_http_|content_|server_protocol|http2|body_bytes|bytes_|request_completion|request_method|proxy_|(document_)?uri|request_filename|args|pipe|slice_range)|^log [2-9]|^lines of|^error log$|^requests? /,
  },
  {
    name: 'a Transfer-Encoding of the configuration',
    why: 'only a request of HTTP/1 has one to pass on, and then the backend reads chunks where there are none',
    axes: HTTP2,
    when: ({ case: one }) => uses(one, /proxy_set_header Transfer-Encoding/) && hasChunks(one),
    what: /./,
  },
  {
    name: 'a backend whose handshake fails beside a kept connection',
    why: 'a connection that an earlier request left needs no handshake',
    when: ({ case: one, left, right }) =>
      one.answer.handshake !== undefined &&
      [left, right].filter((seen) => seen.get('request 1 to the backend')?.startsWith('TLS for')).length === 1,
    what: /./,
  },
  {
    name: 'whether a client that waits sends its body',
    why: 'a response that is final comes before the body or after it, and then the body is part of what follows',
    when: ({ case: one }) =>
      one.client.requests.length > 1 &&
      anyRequest(one, ({ fields, body }) => body !== undefined && fields.some(([name]) => name === 'Expect')),
    what: /^end$|^responses?$|^(response|log|request) [2-9]|^lines of|^requests? |^error log$/,
  },
  {
    name: 'whether all of an unread body was there',
    why: 'a body of which something is missing when the response comes ends the connection',
    when: ({ case: one, left, right }) =>
      anyRequest(one, ({ body }) => body !== undefined) && left.get('response 1: status') === right.get('response 1: status'),
    what: /^end$|: header connection$|\$sent_http_connection$/,
  },
  {
    name: 'a second request behind an unread body, in a session',
    why: 'it has been answered by then, or the connection has ended with the first one; a session does not show which',
    when: ({ case: one }, { left, right }) =>
      uses(one, /pass %%HTTP%%/) &&
      one.client.requests.length > 1 &&
      anyRequest(one, ({ body }) => body !== undefined) &&
      left.includes(right),
    what: /^error log$/,
  },
  {
    name: 'a HEAD that is stored',
    why: 'what is wrong with the end of a body that only the store reads is seen where it is read',
    axes: ['buffering'],
    when: ({ case: one }) => uses(one, /_store /) && BROKEN.has(one.answer.framing) && anyRequest(one, ({ method }) => method === 'HEAD'),
    what: /\$request_completion$|^error log$/,
  },
  {
    name: 'how much js_preread sees at once',
    why: 'a buffer that one read fills ends the session before the script has decided',
    axes: ['pieces'],
    when: ({ case: one }) => uses(one, /preread_buffer_size 16/) && uses(one, /js_preread/),
    what: /./,
  },
  {
    name: 'a parameter of CGI that says HTTPS',
    why: 'its bytes are in the request',
    axes: ['tls', 'http2', 'http2-tls', 'http3', 'early', 'http3-early'],
    when: ({ case: one, left, right }, difference) => uses(one, /HTTPS \$https/) && within(16 * askedInAll(left, right), difference),
    what: /\$upstream_bytes_sent$/,
  },
  {
    name: 'frames of HTTP/2 to backends',
    why: 'settings, windows and header sections have other bytes, for the same fields, and go before the first request of a connection',
    when: ({ case: one }) => http2Backend(one),
    what: /\$upstream_bytes_(sent|received)$/,
  },
  {
    name: 'how far a request came whose client left',
    why: 'a backend was asked before or after the client was seen to have gone',
    when: ({ case: one, left, right }) =>
      leaves(one) &&
      (uses(one, /post_action/) ||
        [left, right].every((seen) => linesOf(seen) === 0 || some(seen, /^log \d+: \$status$/, '499')) ||
        one.client.cancel !== undefined),
    what: /to the backend$|\$upstream_|^error log$|\$sent_http_|^responses?/,
  },
  {
    name: 'a body that breaks off behind early data',
    why: 'the response to it was sent before or after the end of it was seen',
    axes: ['early', 'http3-early'],
    when: ({ case: one }) => anyRequest(one, ({ body }) => body?.framing === 'short') && one.client.requests.length > 1,
    what: /\$request_completion$/,
  },
  {
    name: 'a next backend behind a body that is passed on',
    why: 'it is asked if all of the body was there before the first one was asked, and not if some came later',
    when: ({ case: one, left, right }) =>
      uses(one, /next_upstream [^;]*(http_|non_idempotent)/) &&
      uses(one, /request_buffering off/) &&
      anyRequest(one, ({ body }) => body !== undefined) &&
      [left, right].some((seen) => [...seen].some(([name, text]) => name.endsWith('$upstream_status') && text.includes(', '))),
    what: /^end$|^response|^log |^error log$|^requests? |^lines of/,
  },
  {
    name: 'a response in front of a malformed body',
    why: 'who closes with bytes unread resets the connection, which takes the response along if its client has not read it yet',
    when: ({ case: one, left, right }) => badBody(one) && [left, right].some((seen) => seen.get('responses') === '0'),
    what: /^end$|^responses?/,
  },
  {
    name: 'a client that ends its side',
    why: 'who reads on is not told from who is gone, but by what comes first, the end or the response',
    when: (compared, difference) =>
      leaves(compared.case) &&
      [compared.left, compared.right].some(
        (seen) => uses(compared.case, /post_action/) || ['499', '400'].some((status) => some(seen, /^log \d+: \$status$/, status)),
      ) &&
      isOfLeaving(compared, difference, /^(499|400|none)$/),
    what: /./,
  },
  {
    name: 'a page that is not over when its client ends its side',
    why: 'the end is taken for that of the client where it is seen while a subrequest is awaited',
    when: ({ case: one, left, right }) =>
      leaves(one) &&
      uses(one, /ssi on|add_(before|after)_body/) &&
      [left, right].some((seen) => seen.get('responses') === '0' || some(seen, /^response \d+: complete$/, 'false')),
    what: /^(?!request 1 )/,
  },
  {
    name: 'the end of a client behind TLS',
    why: 'a close_notify does not say that the client is gone',
    axes: ['tls'],
    when: (compared, difference) =>
      leaves(compared.case) &&
      (isOfLeaving(compared, difference, /^(499|400|none)$/) || some([...compared.left, ...compared.right], /: complete$/, 'false')),
    what: /./,
  },
  {
    name: 'a trailer that says what was sent',
    why: 'it is made when the end of the body is known, and how much was sent by then is a matter of pieces',
    when: ({ case: one }) => uses(one, /add_trailer/),
    what: /: trailers$|\$sent_trailer_x_trailer$|bytes_sent$/,
  },
  {
    name: 'packed bytes that a script takes for text',
    why: 'what is no UTF-8 is replaced, piece by piece, and nobody can unpack it afterwards',
    when: ({ case: one }, { left, right }) =>
      uses(one, /js_body_filter/) && left.includes('\xef\xbf\xbd') && right.includes('\xef\xbf\xbd'),
    what: /^response \d+: body$/,
  },
  {
    name: 'a HEAD that fills a cache',
    why: 'with buffers the response is read on for the cache, and breaks off then; without, it is over with its head',
    axes: ['buffering'],
    when: ({ case: one }) =>
      uses(one, /_cache /) &&
      (['short', 'bad-chunk'].includes(one.answer.framing) || one.answer.leave !== undefined) &&
      anyRequest(one, ({ method }) => method === 'HEAD'),
    what: /\$request_completion$|^error log$|^end$|^responses$|^response [2-9]|^log [2-9]|^lines of|^requests? /,
  },
  {
    name: 'gzip of pieces',
    why: 'each piece that is sent for itself is flushed, and which these are depends on buffers and on the protocol',
    when: ({ case: one }) =>
      uses(one, /(gzip|zstd|brotli) on/) && (uses(one, /proxy_buffering off|_pass |main\.pieces/) || one.answer.bytewise === true),
    what: /\$(gzip_ratio|(body_)?bytes_sent)$/,
  },
  {
    name: 'a 101 that was not asked for',
    told: 'A 101 that nobody asked for is an error.',
    axes: HTTP2,
    when: ({ case: one }) => one.answer.raw?.startsWith('HTTP/1.1 101') === true && uses(one, /_pass /),
    what: /^end$|^responses?|^lines of|^error log$|^requests? |^log [2-9]|^log \d+: \$(status|upstream_\w+|sent_http_\w+|bytes_sent|body_bytes_sent|request_completion|document_uri|request_filename|realpath_root|limit_rate)$/,
  },
  {
    name: 'the length of a body that is already there',
    why: 'a body without a length that came as a whole is passed on with its length, though request buffering is off',
    when: ({ case: one }, { what, left, right }) =>
      uses(one, /request_buffering off|grpc_pass/) &&
      hasChunks(one) &&
      (!what.startsWith('request ') || unframed(withoutSession(left)) === unframed(withoutSession(right))),
    what: /to the backend$|\$content_length$|\$upstream_bytes_sent$/,
  },
  {
    name: 'bytes behind a head without a body',
    why: 'as in nginx, those behind a 204 or 304 are counted and told for clients of HTTP/1 alone',
    axes: HTTP2,
    when: ({ left }) => some(left, /: status$/, '204') || some(left, /: status$/, '304'),
    what: /^error log$|\$upstream_response_length$/,
  },
  {
    name: 'the number of headers',
    why: 'Host is a header of HTTP/1, and so is what says that a body is in chunks; what HTTP/2 has for them is none',
    axes: HTTP2,
    when: ({ case: one, left }) =>
      uses(one, /max_headers 3;/) &&
      (some(left, /: status$/, '400') || uses(one, /error_page [\d ]*(400|494) /)) &&
      anyRequest(one, ({ fields, body }) => {
        const all = fields.length + (body === undefined ? 1 : 2);
        return fields.length <= 3 && all > 3;
      }),
    what: /^end$|^responses?|^lines of|^error log$|^requests? |^log /,
  },
  {
    name: 'what a session received whose backend refuses',
    why: 'counted is what was there of the client when the backend refused, which nobody gets',
    when: ({ case: one, left, right }) =>
      [left, right].every((seen) => seen.get('error log')?.includes('connect() failed') === true) ||
      // The server behind it has answered, and reads no further.
      (isFront(one) && left.get('responses') === right.get('responses')),
    what: /^session \d+: (bytes_received|upstream_bytes_sent|bytes_sent|upstream_bytes_received)$|^error log$/,
  },
  {
    name: 'a page that includes itself again and again',
    why: 'so many requests are not over when the client gives up, whoever makes them',
    when: ({ case: one, left, right }) => uses(one, /ssi on/) && askedInAll(left, right) > 1000,
    what: /./,
  },
  {
    name: 'what is around a response whose client leaves',
    why: 'a backend is asked for it before or after the client was seen to have gone',
    when: ({ case: one }) => leaves(one) && uses(one, /add_(before|after)_body/),
    what: /: body$|^requests? |\$(body_)?bytes_sent$|^lines of|^log [2-9]|\$request_completion$|^error log$/,
  },
  {
    name: 'heads that are too large for the server that Host names',
    why: 'HTTP/1 reads on with the buffers of that server, and HTTP/2 with those of the server that the connection came to',
    axes: HTTP2,
    when: ({ case: one }) =>
      uses(one, /large_client_header_buffers/) &&
      anyRequest(one, ({ target, fields }) => target.length + Math.max(0, ...fields.map(([, value]) => value.length)) > 500),
    what: /^end$|^responses?|^lines of|^error log$|^requests? |^log /,
  },
  {
    name: 'how often a kept connection was found closed',
    why: 'the many requests of a page that includes itself go out again where the backend has ended the connection, if that was not seen before',
    when: ({ case: one, left, right }) =>
      uses(one, /ssi\.html/) && ['short', 'long', 'close'].includes(one.answer.framing) && askedInAll(left, right) > 20,
    what: /^requests? /,
  },
  {
    name: 'how far a response came that was too big for a subrequest',
    why: 'what a backend does wrong is seen before the response is found to be too big, or not any more',
    when: ({ left, right }) => [left, right].some((seen) => seen.get('error log')?.includes('too big subrequest response')),
    what: /^error log$|\$upstream_(bytes_received|response_length)$/,
  },
  {
    name: 'the end of an answer of memcached that comes byte by byte',
    why: 'a client that has all of the response may have gone before the line behind it came',
    when: ({ case: one }) => uses(one, /memcached_pass/) && one.answer.bytewise === true,
    what: /\$request_completion$/,
  },
  {
    name: 'cookies in one line',
    why: 'HTTP/2 and HTTP/3 join them, and the complaint about one of them quotes the line',
    axes: HTTP2,
    when: (_compared, { left, right }) => [left, right].every((text) => text.includes('too short userid cookie')),
    what: /^error log$/,
  },
  {
    name: 'X-Accel-Charset of a response in whose place a page came',
    why: 'as in nginx, it holds for the page, too, and the cache keeps no more of the response than its status',
    axes: ['cached'],
    when: ({ case: one }) => uses(one, /error_page/) && one.answer.fields.some(([name]) => name === 'X-Accel-Charset'),
    what: /: header content-type$|\$sent_http_content_type$|\$bytes_sent$/,
  },
  {
    name: 'a response that breaks off before bytes that nobody has read',
    why: 'the connection ends at once, and the system of the client may drop what the client has not read',
    when: ({ case: one, left, right }, { what }) =>
      breaksOff(one) &&
      one.client.pipelined === true &&
      (/: (body|complete)$/.test(what) || [left, right].some((seen) => seen.get('responses') === '0')),
    what: /^end$|^responses?/,
  },
  {
    name: 'how much was sent to a client that closes behind its last request',
    why: 'its system refuses what comes, which one server sees before it sends more and the other behind that',
    when: ({ case: one }) => one.client.leave !== undefined,
    what: /\$(body_)?bytes_sent$|\$sent_http_connection$|\$request_completion$/,
  },
  {
    name: 'limit_rate without buffers',
    why: 'there is no limit for responses that are passed on as they come',
    axes: ['buffering'],
    when: ({ case: one }) => uses(one, /limit_rate /),
    what: /\$limit_rate$/,
  },
  {
    name: 'trailers without chunks',
    why: 'HTTP/1 needs chunks for trailers, and HTTP/2 does not',
    axes: HTTP2,
    when: ({ case: one }) => uses(one, /add_trailer/),
    what: /content[-_]length$/,
  },
];
