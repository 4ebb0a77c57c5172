// Long, since it is one table of all differences that are meant.

import { isUtf8 } from 'node:buffer';
import { type Case, isFront, isStream } from './case.js';
import { CRASH } from './observation.js';
import {
  answerLength,
  anyRequest,
  askedFor,
  askedInAll,
  BROKEN,
  badBody,
  breaksOff,
  hasChunks,
  headless,
  http2Backend,
  leaves,
  linesOf,
  linesWithout,
  type Rule,
  sameLines,
  some,
  unpacksBadly,
  uses,
  within,
  withoutSession,
} from './rule.js';

const http1 = ['nginx', 'nginx-tls', 'nginx-early'];
const http3 = ['nginx-http3'];
const multiplexed = ['nginx-http2', ...http3];
const nginx = [...http1, ...multiplexed];

/** Whether a backend sends nothing where it says that it is packed: `gunzip` finds no end in that. */
const packedNothing = ({ answer }: Case): boolean =>
  answer.body.text === '' && answer.fields.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip');

/** Bytes of the frames of HTTP/3 around a body in few pieces. */
const FRAMES = 64;
/** Bytes of the longest request line. */
const LONG_KEY = 4096;

/** An error log without what it says of folders that have no real path. */
const withoutRealpaths = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('[crit] realpath() '))
    .join('\n');

/** Bytes of the padding for old browsers. */
const PADDING = 402;

/** The name of a run, of a case or of a group in a header. */
const HOST_NAME = /\b(?:HOST|CASE|many_\w+|two_\w+|kept_\w+|sticky_\w+|http2_\w+)\b/g;

/** A request to a backend, or a header, without such names and without what says that its session of TLS was there before. */
const withoutHost = (text: string): string => withoutSession(text).replaceAll(HOST_NAME, '');

/** Lines about a head alone: of a rate that is none, and of what a backend has sent behind. */
const TOLD_OF_HEADS = /^\[error\] invalid size "|^\[warn\] upstream sent more data than/;

/** What the error log says of the calls of inflate(). */
const INFLATE = /(?<=inflate\(\) failed: )\d+/g;

/** Where sluice and nginx differ on purpose. */
export const beside: readonly Rule[] = [
  {
    name: 'a worker of nginx that crashes',
    why: 'what it had under way ends then; `js_access` with subrequests in front of `image_filter` does that',
    axes: nginx,
    when: ({ left, right }) => right.has(CRASH) && !left.has(CRASH),
    what: /./,
  },
  {
    name: 'datagrams that nginx cuts',
    told: 'nginx cuts those that are longer than `proxy_buffer_size`',
    axes: http1,
    when: ({ case: one }, { left, right }) => one.client.through === 'udp' && (Number(right) < Number(left) || left.startsWith(right)),
    what: /^session \d+: (upstream_)?bytes_|^response \d+: body$|to the backend$/,
  },
  {
    name: 'early data while a backend is awaited',
    told: 'nginx does not read from a client while a backend is awaited',
    axes: ['nginx-early'],
    when: ({ case: one, left, right }) =>
      uses(one, /\$ssl_early_data/) && some(right, /: header x-early$/, '1') && !some(left, /: header x-early$/, '1'),
    what: /: header x-early$|\$bytes_sent$/,
  },
  {
    name: 'how much of a body in chunks there is in a header',
    why: '$content_length of nginx is what of such a body was read so far',
    axes: http1,
    when: ({ case: one }, { what, left, right }) =>
      uses(one, /X-Seen [^;]*\$content_length/) &&
      hasChunks(one) &&
      (what.endsWith('bytes_sent') ? Math.abs(Number(left) - Number(right)) < 10 : left.replace(/\d+/g, '') === right.replace(/\d+/g, '')),
    what: /: header x-seen$|\$bytes_sent$/,
  },
  {
    name: 'post_action after a script that answers twice',
    why: 'nginx gives up a request whose script fails after its response, and does nothing behind it',
    axes: nginx,
    when: ({ case: one }) => uses(one, /main\.twice/) && uses(one, /post_action/),
    what: /^log |^requests? |^error log$|^lines of/,
  },
  {
    name: 'a body that a script makes longer than it was announced',
    told: '**A response that becomes longer than its `Content-Length`**',
    axes: nginx,
    when: ({ case: one, left }) =>
      uses(one, /js_body_filter/) && left.get('error log')?.includes('longer than its "Content-Length"') === true,
    what: /^end$|^responses?|^log |^error log$|^lines of/,
  },
  {
    name: 'a built-in page through JavaScript',
    told: 'A body filter gets a built-in page in one piece',
    axes: nginx,
    when: ({ case: one }, { left, right }) =>
      uses(one, /js_body_filter main\.doubled/) && left.length === right.length && left.includes('<hr>'),
    what: /^response \d+: body$/,
  },
  {
    name: 'a filter of a body that breaks off before its first byte',
    why: "nginx's filters keep the flush that would have the head leave, so that the client gets nothing of the response",
    axes: http1,
    when: ({ case: one, right }) =>
      uses(one, /ssi on|gunzip on|sub_filter|gzip on|image_filter /) &&
      right.get('responses') === '0' &&
      (['bad-chunk', 'short', 'long'].includes(one.answer.framing) || packedNothing(one) || unpacksBadly(right)),
    what: /^end$|^responses?|\$(body_)?bytes_sent$/,
  },
  {
    name: 'what of a response was read together',
    why: 'nginx reads into buffers of 4k or less, and counts what came with what it wanted, frames of HTTP/2 included',
    axes: nginx,
    when: ({ case: one, left, right }, difference) => within(answerLength(one) * askedInAll(left, right), difference),
    what: /\$upstream_(bytes_received|response_length)$/,
  },
  {
    name: 'a malformed body that is read before the response',
    why: 'nginx reads what is there of a body that nobody wants before it answers, and answers a malformed one with 400',
    axes: http1,
    when: ({ case: one, left, right }) => badBody(one) && some(right, /: status$/, '400') && !some(left, /: status$/, '400'),
    what: /^end$|^responses?|^log |^lines of|^error log$|^requests? /,
  },
  {
    name: 'the length of a head of HTTP/3 that is refused',
    why: 'nginx has read the fields in front of the one that it refuses, such as a second one of its name',
    axes: http3,
    when: ({ left }, { left: own, right }) =>
      Number(right) < Number(own) && [...left].some(([what, text]) => /^log \d+: \$status$/.test(what) && /^[34]/.test(text)),
    what: /\$request_length$/,
  },
  {
    name: 'frames of HTTP/3',
    why: 'nginx counts them with bodies, and those of requests otherwise',
    axes: http3,
    when: (_compared, difference) => within(FRAMES, difference),
    what: /\$(request_length|body_bytes_sent)$/,
  },
  {
    name: 'frames of HTTP/3 around many pieces',
    why: 'nginx counts a frame for each piece of a body, and filters that put something into bodies make small pieces',
    axes: http3,
    when: ({ case: one }, { left, right }) =>
      Number(right) >= Number(left) &&
      Number(right) - Number(left) <=
        FRAMES +
          Number(left) * (uses(one, /ssi on|add_(before|after)_body|sub_filter/) ? 0.25 : uses(one, /_buffer_size 256/) ? 0.015 : 0.004),
    what: /\$body_bytes_sent$/,
  },
  {
    name: 'a stream whose end nginx cannot tell',
    why: 'nginx logs an error where its stream of decoder instructions cannot take the cancellation',
    axes: http3,
    when: (_compared, { left, right }) => linesWithout(right, /^\[error\] failed to send stream cancellation$/) === left,
    what: /^error log$/,
  },
  {
    name: 'the end of a connection of HTTP/3',
    told: 'A request whose connection ends before its response',
    axes: http3,
    when: ({ left }, { left: own, right }) => left.get('end') === 'late' && own === '499' && right === '000',
    what: /\$status$/,
  },
  {
    name: 'a folder without a real path',
    told: 'nginx remembers for the rest of the request that there is none',
    axes: nginx,
    when: ({ case: one }, { left, right }) =>
      uses(one, /\$realpath_root|dav_methods/) && withoutRealpaths(left) === withoutRealpaths(right),
    what: /^error log$/,
  },
  {
    name: 'memory that nginx logs for a path',
    why: 'where a folder has no real path, nginx logs what was in its memory in place of $request_filename, over HTTP/2 and HTTP/3 at times with no end',
    axes: multiplexed,
    when: ({ case: one, left }) => uses(one, /dav_methods/) && left.get('error log')?.includes('realpath()') === true,
    what: /^log \d+: |^lines of|^error log$/,
  },
  {
    name: 'a script that decides on a request that is given up',
    why: 'nginx ends it where a stream of HTTP/2 is reset, and over HTTP/3 makes the page that nobody gets',
    axes: multiplexed,
    when: ({ case: one, left, right }) =>
      one.client.cancel !== undefined &&
      uses(one, /js_access main\.askAccess/) &&
      [left, right].every((seen) => seen.get('responses') === '0') &&
      some(left, /^log \d+: \$status$/, '401'),
    what: /^log \d+: \$(status|sent_http_content_(type|length))$|^error log$/,
  },
  {
    name: 'the small letters of QPACK',
    why: 'nginx writes the entry "vary: accept-encoding" of the table that both sides have',
    axes: http3,
    when: (_compared, { left, right }) => left.replace('Accept-Encoding', 'accept-encoding') === right,
    what: /: header vary$/,
  },
  {
    name: 'the first field of HTTP/3',
    why: 'nginx asks the first server of an address whether the field behind the pseudo-headers may have such a name',
    axes: ['nginx-http3'],
    when: ({ case: one, left, right }) =>
      uses(one, /ignore_invalid_headers off|underscores_in_headers on/) &&
      anyRequest(one, ({ fields }) => fields[0]?.[0] === 'X_Under') &&
      left.get('requests to the backend') === right.get('requests to the backend'),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$/,
  },
  {
    name: 'the length of a request before another one',
    why: 'nginx takes the bytes of the next request off a length in which they were not, where it drops the body between them',
    axes: http1,
    when: ({ case: one }, { left, right }) =>
      one.client.pipelined === true && anyRequest(one, ({ body }) => body !== undefined) && (Number(right) < Number(left) || badBody(one)),
    what: /\$request_length$/,
  },
  {
    name: 'a certificate for a backend that cannot be loaded',
    told: 'before it connects. nginx connects first',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      [left, right].every((seen) => seen.get('error log')?.includes('cannot load certificate') === true) ||
      (uses(one, /_ssl_certificate %%DIR%%\/tls\/\$arg_x/) && anyRequest(one, ({ target }) => !/[?&]x=1(&|$)/.test(target))),
    what: /\$upstream_|^error log$|: upstream_|^requests? |^end$|^responses$|^lines of|^(response|log) [2-9]|^response \d+: (status|body|header (connection|content-length|server|x-seen|x-served))$|\$(status|(body_)?bytes_sent|sent_http_(connection|content_length))$/,
  },
  {
    name: 'a kept connection of TLS',
    told: 'go to requests that would have opened the same',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      uses(one, /_ssl_(name|certificate) [^;]*\$/) && left.get('request 1 to the backend') !== right.get('request 1 to the backend'),
    what: /^end$|^responses?|^log |^requests? |^error log$|^lines of/,
  },
  {
    name: 'a charset without a value',
    told: 'without a value leaves the response as it is',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      uses(one, /charset \$arg_x/) &&
      // A page for an error has no arguments.
      (uses(one, /error_page/) || anyRequest(one, ({ target }) => !target.includes('x='))) &&
      (right.get('responses') !== left.get('responses') || right.get('responses') === '0'),
    what: /^end$|^responses?|^lines of|\$(request_completion|body_bytes_sent|bytes_sent|gzip_ratio|sent_http_|status)|^error log$|^log [2-9]|^requests? |^session /,
  },
  {
    name: 'what JavaScript still waited for',
    why: 'njs logs that something was under way when a handler failed',
    axes: nginx,
    when: (_compared, { left, right }) => right.includes('pending events') && right.replace(/^.*pending events\n?/m, '').trim() === left,
    what: /^error log$/,
  },
  {
    name: 'the body of a HEAD by JavaScript',
    told: '`r.send()` sends no body in answer to HEAD',
    axes: nginx,
    when: ({ case: one }) => uses(one, /js_content main\.(pieces|announced)/) && anyRequest(one, ({ method }) => method === 'HEAD'),
    what: /^end$|^responses?|bytes_sent$|\$request_completion$|^lines of|^log [2-9]|^error log$|^requests? |: upstream_bytes_received$/,
  },
  {
    name: 'early hints where a script announces the length of its response',
    why: 'nginx sends no body then, logs that the header was sent already, and closes the connection',
    axes: nginx,
    when: ({ case: one, right }) => uses(one, /main\.announced/) && right.get('error log')?.includes('header already sent') === true,
    what: /./,
  },
  {
    name: 'what a request holds behind its response',
    told: '**`limit_conn`** does not refuse a client because of a request of the same HTTP/2 connection',
    axes: multiplexed,
    when: ({ case: one }) => uses(one, /limit_conn /) && uses(one, /post_action|mirror/),
    what: /^(?:response|log) [2-9]|^requests? |^error log$/,
  },
  {
    name: 'what may be an image and breaks off',
    why: 'nginx tells by the first piece of a response what is no image, sluice by sixteen bytes, which may not come; and what is sent by then differs',
    axes: [...nginx, 'buffering'],
    when: ({ case: one, right }) =>
      uses(one, /image_filter (?!off)/) && (BROKEN.has(one.answer.framing) || http2Backend(one) || right.get('responses') === '0'),
    what: /^(?!request 1 )/,
  },
  {
    name: 'a client that leaves behind a request that waits',
    told: 'A client that ends its side behind a pipelined request',
    axes: nginx,
    when: ({ case: one, right }) => one.client.requests.length > 1 && some(right, /\$status$/, '499'),
    what: /^log |^lines of|^error log$/,
  },
  {
    name: 'mirrors of a response that breaks off',
    told: 'beside a response that breaks off',
    axes: nginx,
    when: ({ case: one, left }) => uses(one, /mirror \//) && (breaksOff(one) || some(left, /: complete$/, 'false')),
    what: /^end$|^requests? |^lines of|^log [2-9]|\$(request_completion|status|sent_http_\w+)$/,
  },
  {
    name: 'a Location that nginx changes where it is',
    why: 'proxy_redirect makes the text shorter in place, and $upstream_http_location shows its old length',
    axes: nginx,
    when: ({ case: one }, { right }) => uses(one, /proxy_redirect /) && right.includes('\\x00'),
    what: /\$upstream_http_location$/,
  },
  {
    name: 'line ends in a header',
    told: 'do not end a header',
    axes: nginx,
    when: ({ case: one }) => uses(one, /X-Seen [^;]*\$request_body/) && anyRequest(one, ({ body }) => body?.text.includes('\r\n') === true),
    what: /^responses?|^end$/,
  },
  {
    name: 'when early data is asked for',
    why: 'nginx may read a body, and be done with the handshake, before it makes the head of the response',
    axes: ['nginx-early'],
    when: ({ case: one }) => uses(one, /ssl_early_data/) && anyRequest(one, ({ body }) => body !== undefined),
    what: /: header x-early$/,
  },
  {
    name: 'the status of a request that nginx never began',
    why: 'nginx logs the version of a pipelined request as its status where the connection ends before it',
    axes: nginx,
    when: ({ right }) => some(right, /\$status$/, '009'),
    what: /^log [2-9]|^lines of/,
  },
  {
    name: 'a slice that breaks off',
    why: 'nginx has sent what it had, or ends the response as if that were all; sluice may have sent nothing',
    axes: nginx,
    when: ({ case: one, left }) =>
      uses(one, /slice \d/) &&
      (some(left, /: complete$/, 'false') ||
        left.get('responses') === '0' ||
        (one.answer.ranges === true && one.answer.framing === 'long')),
    what: /^responses?|^log |^error log$/,
  },
  {
    name: 'UTF-8 that breaks off in the middle of a character',
    told: 'of UTF-8 that breaks off in the middle of a character',
    axes: nginx,
    when: ({ case: one }) =>
      /charset/i.test(JSON.stringify([one.parts, one.answer.fields])) && !isUtf8(Buffer.from(one.answer.body.text, 'latin1')),
    what: /: body$|\$(body_)?bytes_sent$/,
  },
  {
    name: 'the length that a script announced, with post_action',
    why: 'nginx logs the length that the script said, and not that of the response of post_action, which is logged otherwise',
    axes: nginx,
    when: ({ case: one }) => uses(one, /main\.announced/) && uses(one, /post_action/),
    what: /\$sent_http_content_length$/,
  },
  {
    name: 'post_action after a script whose subrequest was too long',
    why: 'nginx gives such a request up, without a status in the log',
    axes: nginx,
    when: ({ case: one, right }) => uses(one, /js-asked/) && uses(one, /post_action/) && some(right, /\$status$/, '000'),
    what: /^log |^requests? /,
  },
  {
    name: 'the end of a body in chunks over HTTP/3',
    why: 'nginx takes what is left of it for a malformed chunk when post_action begins',
    axes: http3,
    when: ({ case: one }, { left, right }) =>
      uses(one, /post_action/) &&
      linesWithout(right, /client sent invalid chunked body/) === linesWithout(left, /client sent invalid chunked body/),
    what: /^error log$/,
  },
  {
    name: 'a memcached key that is read with its answer',
    why: 'nginx reads no further than it needs to see that the answer is none',
    axes: nginx,
    when: ({ case: one }, difference) => uses(one, /memcached_pass/) && within(LONG_KEY, difference),
    what: /\$upstream_(bytes_received|response_length)$/,
  },
  {
    name: 'limits of sessions that others have',
    why: 'cases are played at the same time, and their sessions count together',
    axes: nginx,
    when: ({ case: one }, { left, right }) =>
      uses(one, /limit_conn sessions/) && linesWithout(right, /limiting connections/) === linesWithout(left, /limiting connections/),
    what: /^error log$/,
  },
  {
    name: 'the charset of a list in XML',
    why: 'in nginx, $sent_http_content_type has it once the head is written, and not in add_header',
    axes: nginx,
    when: ({ case: one }, { left, right }) => uses(one, /autoindex_format xml/) && left.replace('; charset=utf-8', '') === right,
    what: /: header x-seen$|\$sent_http_content_type$/,
  },
  {
    name: 'which request is early',
    why: 'nginx reads all that came early, and sluice what stands behind the end of the handshake in the same packets as what it is',
    axes: ['nginx-early'],
    when: ({ case: one }) => uses(one, /\$ssl_early_data/) && one.client.requests.length > 1,
    what: /^(?:response|log|request) [2-9]|^requests? |^error log$/,
  },
  {
    name: 'a page behind a page of post_action',
    why: 'what nginx logs of the page that nobody gets is without the padding for old browsers',
    axes: nginx,
    when: ({ case: one }, { left, right }) => uses(one, /post_action/) && Math.abs(Number(left) - Number(right)) === PADDING,
    what: /\$sent_http_content_length$/,
  },
  {
    name: 'a HEAD in slices',
    why: 'nginx ends the connection where the backend sends less than a slice',
    axes: http1,
    when: ({ case: one }) => uses(one, /\bslice \d/) && anyRequest(one, ({ method }) => method === 'HEAD'),
    what: /^end$|^responses?|\$request_completion$|bytes_sent$|^log [2-9]|^lines of/,
  },
  {
    name: 'a session in front of a response that breaks off',
    why: 'nginx counts nothing of what it passed on just before',
    axes: http1,
    when: ({ case: one }) => isFront(one) && (BROKEN.has(one.answer.framing) || one.answer.raw !== undefined),
    what: /^session \d+: (bytes_sent|upstream_bytes_received)$/,
  },
  {
    name: 'gzip of pieces, beside nginx',
    why: 'each server flushes what came with one read',
    axes: nginx,
    when: ({ case: one }) =>
      uses(one, /gzip on/) &&
      (http2Backend(one) || BROKEN.has(one.answer.framing) || one.answer.fields.some(([name]) => name === 'X-Accel-Buffering')),
    what: /\$(gzip_ratio|body_bytes_sent|bytes_sent)$/,
  },
  {
    name: 'what inflate() says of a broken stream',
    why: 'nginx calls it with other pieces',
    axes: nginx,
    when: (_compared, { left, right }) => left.replace(INFLATE, '') === right.replace(INFLATE, ''),
    what: /^error log$/,
  },
  {
    name: 'a client that ends its side, beside nginx',
    why: 'nginx takes the end for that of the client while a subrequest, a slice or a backend is awaited, unless the response is there by then',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      leaves(one) && (Number(right.get('responses')) < Number(left.get('responses')) || some(right, /\$request_completion$/, '')),
    what: /^(?!request 1 )/,
  },
  {
    name: 'browsers by several names',
    told: 'Of several `User-Agent` headers the first one says',
    axes: nginx,
    when: ({ case: one }) => anyRequest(one, ({ fields }) => fields.filter(([name]) => name === 'User-Agent').length > 1),
    what: /^end$|^responses?|^log |^lines of|^requests? /,
  },
  {
    name: 'errors that OpenSSL kept',
    why: 'nginx finds what it left in the queue of OpenSSL, such as by a look into a certificate, and logs that as an alert',
    axes: nginx,
    when: (_compared, { left, right }) =>
      right
        .split('\n')
        .filter((line) => !line.startsWith('[alert] ignoring stale global SSL error'))
        .join('\n') === left,
    what: /^error log$/,
  },
  {
    name: '$http_host of HTTP/3',
    told: '**`$http_host`** is what `:authority` says',
    axes: http3,
    when: ({ case: one }, { what, left, right }) =>
      uses(one, /\$http_host/) && (what.endsWith('_sent') || withoutHost(left) === withoutHost(right)),
    what: /: header x-seen$|to the backend$|\$upstream_bytes_sent$/,
  },
  {
    name: 'nginx that does not go on with SSI over HTTP/2',
    why: 'a page that is included for an error may leave the response, and those behind it, where they are',
    axes: multiplexed,
    when: ({ case: one, left, right }) => uses(one, /ssi on/) && left.get('end') === 'done' && right.get('end') === 'late',
    what: /^end$|^response|^requests? |^log |^lines of|^error log$/,
  },
  {
    name: 'a client that leaves once a response breaks off',
    why: 'nginx may still wait for the end of a body that it does not send, or for a subrequest',
    axes: nginx,
    when: ({ case: one, right }) => BROKEN.has(one.answer.framing) && some(right, /\$status$/, '499'),
    what: /\$(status|request_completion)$/,
  },
  {
    name: 'a HEAD of an image',
    why: 'nginx does not count a response as whole whose body it read and did not send',
    axes: nginx,
    when: ({ case: one }) => uses(one, /image_filter (?!off)/) && anyRequest(one, ({ method }) => method === 'HEAD'),
    what: /\$request_completion$/,
  },
  {
    name: 'a 304 that nobody asked for',
    why: 'nginx keeps what a backend says in the background, whoever it is for, and sends it to the next client',
    axes: nginx,
    when: ({ case: one }) => uses(one, /background_update on/) && one.answer.later?.status === 304,
    what: /^(?:response|log) [2-9]|^responses$|^end$/,
  },
  {
    name: 'warnings about a head from the cache',
    why: 'nginx says them each time that it reads the head, and sluice when it came',
    axes: nginx,
    when: ({ case: one }, difference) => uses(one, /_cache /) && sameLines(difference),
    what: /^error log$/,
  },
  {
    name: 'what was to be sent before an interim response',
    why: 'nginx forgets it when it has passed 103 on',
    axes: nginx,
    when: ({ case: one }) => one.answer.interim !== undefined,
    what: /: header (set-cookie|expires)$|\$bytes_sent$/,
  },
  {
    name: 'an update in the background of what a filter refuses',
    why: 'nginx does not ask for it if the stale response failed',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      uses(one, /background_update on/) &&
      uses(one, /image_filter (?!off)|gunzip on/) &&
      Number(right.get('requests to the backend')) < Number(left.get('requests to the backend')),
    what: /^requests? |^lines of|^log |^error log$|^(?:response) [2-9]|^responses$|^end$/,
  },
  {
    name: 'slices to which something is added',
    told: '**`slice` with a filter that adds to the body or changes it**',
    axes: nginx,
    when: ({ case: one }) =>
      uses(one, /\bslice \d/) &&
      (uses(one, /add_before_body/) ||
        (uses(one, /sub_filter|gzip on|ssi on|js_body_filter|add_after_body/) &&
          anyRequest(one, ({ fields }) => fields.some(([name]) => name === 'Range')))),
    what: /: body$|^responses?|^end$|^log |^lines of|^requests? |^error log$/,
  },
  {
    name: 'mirrors beside a HEAD of an image',
    why: 'the response does not count as whole, so that nginx ends the request before they have begun',
    axes: nginx,
    when: ({ case: one }) =>
      uses(one, /image_filter (?!off)/) && uses(one, /mirror \//) && anyRequest(one, ({ method }) => method === 'HEAD'),
    what: /^requests? |^error log$/,
  },
  {
    name: 'what stands behind a response on a kept connection',
    told: '**What is no head on a kept connection**',
    axes: nginx,
    when: ({ case: one }) => one.answer.framing === 'long' && uses(one, /ssi on|add_(before|after)_body|slice \d/),
    what: /: body$|\$(body_)?bytes_sent$|^requests? |^error log$/,
  },
  {
    name: "a session whose address is not this machine's",
    why: 'nginx does not tell whom it was for where a datagram could not be sent',
    axes: nginx,
    when: ({ case: one }) => isStream(one) && uses(one, /proxy_bind 192/),
    what: /^session \d+: (upstream_addr|bytes_received)$/,
  },
  {
    name: 'a part of what is packed',
    why: 'it cannot be unpacked: the head that nginx still holds back does not leave',
    axes: nginx,
    when: ({ case: one }) => uses(one, /gunzip on/) && one.answer.ranges === true && one.answer.body.gzip === true,
    what: /^responses?|^end$|^log |^lines of|^requests? |^error log$/,
  },
  {
    name: 'an address of a kept connection that is none',
    why: 'nginx looks at it for each request, and sluice for each connection',
    axes: nginx,
    when: (_, { left, right }) => linesWithout(left, /invalid local address/) === linesWithout(right, /invalid local address/),
    what: /^error log$/,
  },
  {
    name: 'a malformed body behind a HEAD of an image',
    why: 'the response does not count as whole, so that nginx logs what was wrong with the body behind it',
    axes: nginx,
    when: ({ case: one }) => uses(one, /image_filter (?!off)/) && anyRequest(one, ({ method }) => method === 'HEAD') && badBody(one),
    what: /^log \d+: \$status$/,
  },
  {
    name: 'parts of a page that are no images',
    why: 'nginx breaks the page off where a subrequest of it is refused by image_filter',
    axes: nginx,
    when: ({ case: one, right }) =>
      uses(one, /image_filter (?!off)/) &&
      uses(one, /ssi on/) &&
      (some(right, /: complete$/, 'false') || some(right, /\$request_completion$/, '')),
    what: /^responses?|^requests? |^log |^lines of|^error log$|^end$/,
  },
  {
    name: 'the charset of a response that breaks off',
    why: 'nginx names it beside its own error page, too, if a head broke off behind it',
    axes: nginx,
    when: ({ case: one }) => breaksOff(one) && one.answer.fields.some(([name]) => name === 'X-Accel-Charset'),
    what: /content[-_]type$|\$(body_)?bytes_sent$/,
  },
  {
    name: 'texts around an image',
    why: 'nginx sends them with the length of the image alone, so that the client takes the rest for another response',
    axes: nginx,
    when: ({ case: one }) => uses(one, /image_filter (?!off)/) && uses(one, /add_(before|after)_body/),
    what: /^responses?|^requests? |^log |^lines of|^end$/,
  },
  {
    name: 'a script whose response goes through filters in JavaScript, behind auth_request',
    why: 'nginx logs the response and does not send it, or half of it',
    axes: nginx,
    when: ({ case: one }) =>
      uses(one, /js_content main\.pieces/) && uses(one, /js_header_filter main\.longer/) && uses(one, /auth_request/),
    what: /^end$|^response|^log |^error log$/,
  },
  {
    name: 'a slice that nginx waits for',
    why: 'nginx does not go on behind a response that is no slice, where it has no length',
    axes: nginx,
    when: ({ case: one, left, right }) => uses(one, /slice \d/) && left.get('end') === 'closed' && right.get('end') === 'late',
    what: /^end$/,
  },
  {
    name: 'an exception in a header filter in JavaScript',
    why: 'the error page of sluice goes through the filter as well, and nginx sends the fields that were there',
    axes: nginx,
    when: ({ case: one, left }) => uses(one, /js_header_filter main\.header/) && some(left, /header x-filter$/, '500'),
    what: /^response \d+: header |\$sent_http_/,
  },
  {
    name: 'a second request behind a response of HTTP/0.9',
    why: 'nginx answers it within the first response, which has no end',
    axes: nginx,
    when: ({ case: one }) => headless(one.answer.raw) && one.client.requests.length > 1,
    what: /^responses?|^requests? |^log |^lines of|^error log$/,
  },
  {
    name: 'what a filter holds of a response that breaks off',
    why: 'how much it has let through by then depends on the pieces that came',
    axes: nginx,
    when: ({ case: one }, { left, right }) =>
      BROKEN.has(one.answer.framing) &&
      uses(one, /sub_filter|js_body_filter/) &&
      (/^\d+$/.test(left) || left.startsWith(right) || right.startsWith(left)),
    what: /^response \d+: body$|\$(body_)?bytes_sent$/,
  },
  {
    name: 'post_action after a body in chunks of HTTP/2 or HTTP/3',
    why: 'nginx tells the length to post_action only if the body was read',
    axes: multiplexed,
    when: ({ case: one }) => uses(one, /post_action/) && hasChunks(one),
    what: /^request \d+ to the backend$/,
  },
  {
    name: 'a backend of HTTP/2 that answers before it has the body',
    why: 'nginx counts a response as failed that it has passed on whole, where the body was not sent',
    axes: nginx,
    when: ({ case: one }, { left, right }) => http2Backend(one) && right === '502' && left === String(one.answer.status),
    what: /\$upstream_status$/,
  },
  {
    name: 'early data by the time of a subrequest',
    why: 'the handshake is over by then, or not',
    axes: ['nginx-early'],
    when: ({ case: one }) => uses(one, /\$ssl_early_data/) && uses(one, /ssi on|add_(before|after)_body|mirror|auth_request|js_access/),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$/,
  },
  {
    name: 'the length that a script announced, with the size of an image in its place',
    told: 'JavaScript that announces another length',
    axes: nginx,
    when: ({ case: one }) => uses(one, /main\.announced/) && uses(one, /image_filter size/),
    what: /^end$|^response|^log |^error log$/,
  },
  {
    name: 'variables that a subrequest had first',
    why: 'nginx remembers them for the main request, and counts what the connection has sent',
    axes: nginx,
    when: ({ case: one }) => uses(one, /log_subrequest on/) && uses(one, /js-asked|js-before|add_(before|after)_body/),
    what: /\$(content_length|sent_http_content_type|bytes_sent)$/,
  },
  {
    name: 'a session that another port answers and ends',
    why: 'how much of what the client sends behind its first request is read by then depends on time',
    axes: http1,
    when: ({ case: one }) => uses(one, /proxy_protocol on/) && uses(one, /%%DOOR%%/) && one.client.requests.length > 1,
    what: /^session \d+: /,
  },
  {
    name: 'realpath() of a path whose request is over',
    why: 'the log line is written if the variable is asked for, which depends on when the client leaves',
    axes: ['early'],
    when: (_compared, { left, right }) => withoutRealpaths(left) === withoutRealpaths(right),
    what: /^error log$/,
  },
  {
    name: 'what zlib packs a little less',
    why: 'the one in Node is made for speed and finds no repetitions of three bytes',
    axes: nginx,
    when: ({ case: one }, { left, right }) => uses(one, /gzip on/) && Math.abs(Number(left) / Number(right) - 1) < 0.1,
    what: /\$(gzip_ratio|body_bytes_sent|bytes_sent)$/,
  },
  {
    name: 'a built-in page that is packed',
    why: 'it has the name of the server, which is not always packed into as many bytes',
    axes: nginx,
    when: ({ case: one, left }) => uses(one, /gzip on/) && [...left].some(([what, text]) => /: body$/.test(what) && text.includes('<hr>')),
    what: /\$(gzip_ratio|body_bytes_sent|bytes_sent)$/,
  },
  {
    name: '$sent_http_connection of HTTP/3',
    why: 'there is no such field; nginx logs what HTTP/1 would have had',
    axes: http3,
    when: () => true,
    what: /\$sent_http_connection$/,
  },
  {
    name: 'the line of a malformed request of HTTP/3',
    why: 'nginx logs the line that it made before it looked at the path, and has read no more than that',
    axes: http3,
    when: ({ left, right }, { what }) => {
      const line = /^log \d+: /.exec(what)?.[0];
      return left.get(`${line}$status`) === '400' && right.get(`${line}$status`) === '400';
    },
    what: /^log \d+: \$(request|request_length|request_uri|document_uri|args|is_args)$/,
  },
  {
    name: 'gunzip without a body',
    told: 'that calls itself packed and has no body',
    axes: nginx,
    when: ({ case: one, left }) =>
      uses(one, /gunzip on/) &&
      one.answer.fields.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip') &&
      (some(left, /: status$/, '204') || some(left, /: status$/, '304')),
    what: /^end$|^responses?|^log |^lines of|^error log$|^requests? /,
  },
  {
    name: 'the end of a response without a status line',
    told: '**A response without a status line**',
    axes: nginx,
    when: ({ case: one }, { what, left, right }) =>
      headless(one.answer.raw) &&
      (what === 'error log'
        ? right.includes(left) && right.includes('sent more data')
        : (what === 'end' && left === 'closed' && right === 'late') || anyRequest(one, ({ method }) => method === 'HEAD')),
    what: /^error log$|^end$|^responses?|bytes_sent$|\$request_completion$/,
  },
  {
    name: 'a head that was not sent yet when a response broke off',
    told: 'it does so with any response that breaks off',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      breaksOff(one) &&
      uses(one, /ssi on|add_(before|after)_body|sub_filter/) &&
      Number(right.get('responses')) < Number(left.get('responses')),
    what: /^end$|^responses?|^log |^lines of|^requests? |^error log$/,
  },
  {
    name: 'what was not sent yet when a response broke off',
    told: 'it does so with any response that breaks off',
    axes: nginx,
    when: ({ axis, case: one, left, right }, { left: more, right: less }) =>
      breaksOff(one) &&
      (multiplexed.includes(axis.name) || uses(one, /ssi on|add_(before|after)_body|sub_filter/)) &&
      (more.startsWith(less) || Number(less) < Number(more)) &&
      [left, right].some((seen) => some(seen, /: complete$/, 'false')),
    what: /: body$|\$(body_bytes_sent|bytes_sent)$/,
  },
  {
    name: 'a response of nginx that never comes to its end',
    why: 'nginx waits for ever where a subrequest goes to a backend, or a request to one of gRPC, before the body of the request was read',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      uses(one, /grpc_pass|js-asked|add_(before|after)_body/) && right.get('end') === 'late' && left.get('end') !== 'late',
    what: /./,
  },
  {
    name: 'a connection of nginx that early data stops',
    why: 'nginx does not go on where it discards a long body that began as early data, nor where a response breaks off behind early data',
    axes: ['nginx-early'],
    when: ({ case: one, left, right }) =>
      (right.get('end') === 'late' && left.get('end') !== 'late') ||
      (one.client.slow === true && Number(right.get('responses')) < Number(left.get('responses'))),
    what: /./,
  },
  {
    name: 'a response of nginx over TLS that breaks off',
    why: 'nginx does not go on sending what the filters have of it, and waits until the client leaves',
    axes: ['nginx-tls', 'nginx-early', ...multiplexed],
    when: ({ case: one, left, right }) =>
      breaksOff(one) && uses(one, /ssi on|sub_filter|gunzip on/) && right.get('end') === 'late' && left.get('end') !== 'late',
    what: /./,
  },
  {
    name: 'the body of a subrequest to gRPC',
    why: 'nginx tells its length and sends nothing, where an earlier request of the page has sent it',
    axes: nginx,
    when: ({ case: one }, { left, right }) =>
      http2Backend(one) && anyRequest(one, ({ body }) => body !== undefined) && right.endsWith('\n\n') && left.startsWith(right),
    what: /^request \d+ to the backend$/,
  },
  {
    name: 'a malformed body beside a subrequest',
    why: 'nginx gives up a request whose body is seen to be malformed while a subrequest is awaited, with what of the response was not sent yet',
    axes: http1,
    when: ({ case: one, left, right }) =>
      badBody(one) &&
      uses(one, /add_(before|after)_body|ssi on/) &&
      right.get('end') === 'closed' &&
      Number(right.get('responses')) < Number(left.get('responses')),
    what: /^end$|^responses?|^log |^lines of|^error log$|^requests? /,
  },
  {
    name: 'a body without buffers beside subrequests',
    why: 'nginx sends backends of subrequests what it has no more of such a body ("writev() failed (14: Bad address)"), and ends the connection',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      uses(one, /request_buffering off/) &&
      uses(one, /ssi on|add_(before|after)_body/) &&
      anyRequest(one, ({ body }) => body !== undefined) &&
      Number(right.get('responses')) < Number(left.get('responses')),
    what: /^end$|^responses?|^log |^lines of|^error log$|^requests? /,
  },
  {
    name: 'a client that waits for the end with its body in hand',
    why: 'nginx ends its side only once it has waited for the body for five seconds',
    axes: http1,
    when: ({ case: one, left, right }) => one.client.waits === true && right.get('end') === 'late' && left.get('end') === 'closed',
    what: /^end$/,
  },
  {
    name: 'a flood of the own frames of nginx',
    why: 'nginx takes what it sends itself for a flood, which pieces of one byte are from some 60 KB on',
    axes: ['nginx-http2'],
    when: ({ case: one, left, right }) => uses(one, /http2_chunk_size 1;/) && right.get('end') === 'closed' && left.get('end') === 'done',
    what: /./,
  },
  {
    name: 'a backend that makes room for each piece of a body',
    why: 'nginx counts what it says of its windows as the head of the response, which becomes too long with many small pieces',
    axes: nginx,
    when: ({ case: one, right }) =>
      http2Backend(one) && uses(one, /client_body_buffer_size 8;/) && right.get('error log')?.includes('too big header') === true,
    what: /./,
  },
  {
    name: 'limit_except and what makes the response',
    told: '**`limit_except`**',
    axes: nginx,
    when: ({ case: one, right }) =>
      uses(one, /limit_except/) &&
      uses(one, /js_content|empty_gif|stub_status|memcached_pass/) &&
      ['404', '405'].some((status) => some(right, /^log \d+: \$status$/, status)),
    what: /^end$|^responses?|^requests? |^log |^error log$/,
  },
  {
    name: 'a cookie of sticky in early hints',
    why: 'nginx puts all fields into them that the response has so far',
    axes: nginx,
    when: ({ case: one }) => uses(one, /sticky cookie/) && uses(one, /early_hints/),
    what: /: interim$|bytes_sent$/,
  },
  {
    name: 'a script whose response is too large an image',
    why: 'nginx lets it go on, and it fails with what it does next',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      uses(one, /js_content/) && [left, right].every((seen) => seen.get('error log')?.includes('image filter: too big response') === true),
    what: /^error log$/,
  },
  {
    name: 'gzip_no_buffer with what is added',
    why: 'nginx sends the head of the packed body several times',
    axes: nginx,
    when: ({ case: one }) => uses(one, /gzip_no_buffer on/) && uses(one, /add_(before|after)_body/),
    what: /: body$|bytes_sent$/,
  },
  {
    name: 'a long header of a request behind another one',
    why: 'nginx reads both into one buffer, and wants a large one for what does not fit behind the first',
    axes: http1,
    when: ({ case: one, right }) =>
      uses(one, /large_client_header_buffers \d+ 512/) && one.client.requests.length > 1 && some(right, /^response [2-9]: status$/, '400'),
    what: /^end$|^responses?|^requests? |^log |^lines of|^error log$/,
  },
  {
    name: 'the body of what SSI includes over HTTP/2',
    why: 'nginx has no length of a body without one that it has not read before, and leaves the body out',
    axes: multiplexed,
    when: ({ case: one }) => uses(one, /ssi on/) && hasChunks(one),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$/,
  },
  {
    name: '$sent_http_connection of a kept connection',
    told: '**`$sent_http_connection`**',
    axes: http1,
    when: ({ left, right }) => some([...left, ...right], /\$sent_http_connection$/, 'keep-alive'),
    what: /\$sent_http_connection$/,
  },
  {
    name: 'interim responses of backends',
    told: '**Interim responses** (1xx)',
    axes: nginx,
    // 103 is the one that both know.
    when: ({ case: one }) =>
      one.answer.interim?.some((text) => !text.startsWith('HTTP/1.1 103')) || one.answer.raw?.startsWith('HTTP/1.1 101') === true,
    // What the client asked, and what the backend was asked first, is the same.
    what: /^(?!request 1 to the backend$|log 1: \$(request|request_uri|host|http_\w+|scheme|server_name|server_protocol|http2)$)/,
  },
  {
    name: 'a malformed response',
    told: '**A malformed chunk**',
    axes: nginx,
    when: ({ case: one }) => one.answer.framing === 'bad-chunk',
    what: /^end$|^response|: (body|complete)$|bytes_sent$|\$upstream_|^error log$|\$request_completion$|^requests? |^lines of|^log [2-9]/,
  },
  {
    name: 'a subrequest of JavaScript with a malformed chunk',
    told: '**A malformed chunk**',
    axes: nginx,
    when: ({ case: one, right }) =>
      one.answer.framing === 'bad-chunk' &&
      uses(one, /js-asked/) &&
      (right.get('responses') === '0' || some(right, /^log \d+: \$status$/, '000')),
    what: /^log \d+: \$/,
  },
  {
    name: 'Accept-Ranges twice',
    told: 'the `Accept-Ranges` of the backend',
    axes: nginx,
    when: ({ case: one }) => one.answer.fields.some(([name]) => name === 'Accept-Ranges'),
    what: /header accept-ranges$|\$bytes_sent$/,
  },
  {
    name: 'a body in chunks that nobody reads',
    told: '**`$content_length`** of a body in chunks',
    axes: http1,
    when: ({ case: one, left }) => hasChunks(one) && some(left, /\$content_length$/, '-'),
    what: /\$content_length$/,
  },
  {
    name: 'the connection after 412',
    told: 'After a 412 the connection is kept',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      [...left, ...right].some(([what, text]) => /^response \d+: status$/.test(what) && text === '412') ||
      (uses(one, /error_page [^;]*\b412\b/) && anyRequest(one, ({ fields }) => fields.some(([name]) => /^If-(Match|Unmod)/.test(name)))),
    what: /^end$|\$request_completion$|^responses$|^response [2-9]|^log [2-9]|^lines of|^error log$|^requests? /,
  },
  {
    name: 'the connection after what is no image',
    told: 'So it is after the 415 and the `{}` of `image_filter`',
    axes: nginx,
    when: ({ case: one, left }) =>
      uses(one, /image_filter /) &&
      (some(left, /[: $]status$/, '415') ||
        some(left, /^response \d+: body$/, '{}\r\n') ||
        some(left, /\$sent_http_content_type$/, 'application/json')),
    what: /^end$|\$request_completion$|^responses$|^response [2-9]|^log [2-9]|^lines of|^error log$|^requests? /,
  },
  {
    name: 'the size of a page that is too large',
    why: 'nginx refuses a built-in page that is longer than image_filter_buffer, and tells its size nevertheless, as if it had not',
    axes: nginx,
    when: ({ case: one, left }) =>
      uses(one, /image_filter (size|resize).*image_filter_buffer 10;/) && some(left, /: status$|\$status$/, '415'),
    what: /^end$|^responses?|^log |^lines of|^error log$|^requests? /,
  },
  {
    name: 'the name of a backend whose response was no image',
    why: 'nginx forgets what it knew of a request where a filter answers in place of its response',
    axes: nginx,
    when: ({ case: one }, { right }) => uses(one, /image_filter /) && right === '-',
    what: /\$proxy_host$/,
  },
  {
    name: 'no arguments',
    why: 'nginx logs a "-" or nothing for the arguments of a URI without any, as its memory has it',
    axes: nginx,
    when: (_compared, { left, right }) => left === '-' && right === '',
    what: /\$args$/,
  },
  {
    name: 'the file of a body after the response',
    told: '`post_action` gets the request body',
    axes: nginx,
    when: ({ right }) => /pread\(\) "[^"]*client_body_temp[^"]*" failed \(9: /.test(right.get('error log') ?? ''),
    what: /^request|^error log$|^log \d+: \$(status|sent_http_content_|upstream_|body_bytes_sent|bytes_sent|request_completion)/,
  },
  {
    name: 'records of FastCGI',
    why: 'how many records a body takes depends on the pieces in which it came',
    when: ({ case: one }) => uses(one, /fastcgi_pass/) && anyRequest(one, ({ body }) => body !== undefined),
    what: /\$upstream_bytes_sent$/,
  },
  {
    name: 'more than was announced',
    why: 'nginx counts what comes behind the announced end if it came with it',
    axes: nginx,
    when: ({ case: one }) => one.answer.framing === 'long',
    what: /\$upstream_(response_length|bytes_received)$/,
  },
  {
    name: 'HPACK',
    why: 'header sections have other bytes, for the same fields',
    axes: multiplexed,
    when: () => true,
    what: /\$bytes_sent$/,
  },
  {
    name: '100 Continue without a body',
    told: '`100 Continue`** is not sent for a request without a body',
    axes: http1,
    when: ({ case: one }) => anyRequest(one, ({ fields, body }) => body === undefined && fields.some(([name]) => name === 'Expect')),
    what: /: interim$|\$(body_)?bytes_sent$/,
  },
  {
    name: 'variables in proxy_pass',
    told: '`proxy_pass` with variables**',
    axes: nginx,
    when: ({ case: one }) => uses(one, /proxy_pass http:\/\/%%GROUP%%[^;]*\$/),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$/,
  },
  {
    name: 'a response of HTTP/2 that breaks off',
    told: '**A response of an HTTP/2 backend that is not as long as it says',
    axes: nginx,
    when: ({ case: one }) => http2Backend(one) && ['short', 'long', 'bad-chunk'].includes(one.answer.framing),
    what: /^end$|^responses?|^error log$|\$(request_completion|body_bytes_sent|bytes_sent|status|sent_http_|upstream_)|^requests? .*to the backend$|^lines of/,
  },
  {
    name: 'a key of a cache that does not fit into the buffer',
    told: 'A key of a cache may be of any length',
    axes: nginx,
    when: ({ case: one, right }) => uses(one, /_cache /) && (right.get('error log') ?? '').includes('is not enough for cache key'),
    what: /./,
  },
  {
    name: 'the length of a 204',
    told: '**`Content-Length` of a 204**',
    axes: http1,
    when: ({ left }) => [...left].some(([what, text]) => /\$status$|: status$/.test(what) && text === '204'),
    what: /content[-_]length$|\$bytes_sent$|^session \d+: (bytes_sent|upstream_bytes_received)$/,
  },
  {
    name: 'a body that was dropped',
    told: 'that was dropped, or that was passed on to a backend',
    axes: nginx,
    when: ({ case: one }, { left }) =>
      anyRequest(one, ({ body }) => body !== undefined) && (/content-length: 0\b/i.test(left) || /^[\d ,:]+$/.test(left)),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$|: header x-seen$|\$bytes_sent$/,
  },
  {
    name: 'a line that was cut',
    why: 'nginx knows of a protocol once the letters HTTP came',
    axes: nginx,
    when: (_compared, { left, right }) => left === '-' && right === '',
    what: /\$server_protocol$/,
  },
  {
    name: 'post_action that is never logged',
    why: 'nginx writes no line for some requests with post_action whose body failed, or that had a mirror',
    axes: nginx,
    when: ({ case: one, left, right }) => uses(one, /post_action/) && linesOf(right) < linesOf(left),
    what: /^log |^lines of|^error log$/,
  },
  {
    name: 'post_action beside a mirror, of what is no image',
    why: 'nginx writes its line before its request has gone out, or before it is answered',
    axes: nginx,
    when: ({ case: one }) => uses(one, /image_filter (?!off)/) && uses(one, /"mirror \//) && uses(one, /post_action/),
    what: /\$upstream_/,
  },
  {
    name: 'the end of a range with trailers',
    why: 'nginx sends them behind the last byte of the range, before it knows that the response breaks off',
    axes: nginx,
    when: ({ case: one }) =>
      breaksOff(one) && uses(one, /add_trailer/) && anyRequest(one, ({ fields }) => fields.some(([name]) => name === 'Range')),
    what: /^end$|: complete$/,
  },
  {
    name: 'post_action after a body that nobody read',
    why: 'nginx waits for a body that it has dropped, and never asks',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      uses(one, /post_action/) &&
      anyRequest(one, ({ body }) => body !== undefined) &&
      askedFor(left, '/post-action') > askedFor(right, '/post-action'),
    what: /^requests? |^log |^error log$/,
  },
  {
    name: 'an interim response that is never followed',
    told: '**Interim responses** (1xx)',
    axes: nginx,
    when: ({ case: one, right }) => one.answer.interim !== undefined && linesOf(right) === 0,
    what: /^log /,
  },
  {
    name: 'the status of hints',
    why: 'nginx takes 103 for the status of a response of gRPC or HTTP/2',
    axes: nginx,
    when: (_compared, { right }) => /\b103\b/.test(right),
    what: /\$upstream_status$|: header x-seen$/,
  },
  {
    name: 'a limit_rate that is none, of a head from a backend',
    why: 'nginx does not come to look at limit_rate where a head is alone, and something came behind it',
    axes: nginx,
    when: ({ case: one, left }, difference) =>
      uses(one, /limit_rate \$choice/) &&
      (headless(one.answer.raw) || anyRequest(one, ({ method }) => method === 'HEAD') || some(left, /: status$/, '304')) &&
      linesWithout(difference.left, TOLD_OF_HEADS) === linesWithout(difference.right, TOLD_OF_HEADS),
    what: /^error log$/,
  },
  {
    name: 'where a backend of HTTP/2 leaves',
    why: 'it counts what it says of settings and windows, of which it hears others from nginx',
    axes: nginx,
    when: ({ case: one }) => http2Backend(one) && one.answer.leave !== undefined,
    what: /^end$|^responses?|^error log$|^log /,
  },
  {
    name: 'limit_rate of what is not sent',
    why: 'nginx looks at limit_rate when it sends a response',
    axes: nginx,
    when: ({ case: one }, { left, right }) => uses(one, /limit_rate /) && (right === '0' || (left === '0' && uses(one, /post_action/))),
    what: /\$limit_rate$/,
  },
  {
    name: 'a script that sends through a header filter',
    told: '`js_header_filter` beside `r.send()`',
    axes: nginx,
    when: ({ case: one }) => uses(one, /js_header_filter/) && uses(one, /js_content main\.(pieces|late)/),
    what: /^end$|^response|^log |^lines of|^error log$|^requests? /,
  },
  {
    name: 'few bytes of an image at first',
    why: 'nginx takes less than 16 bytes in its first buffer for no image',
    axes: nginx,
    when: ({ case: one, left, right }) =>
      uses(one, /image_filter (?!off)/) && one.answer.bytewise === true && some(right, /status$/, '415') && !some(left, /status$/, '415'),
    what: /^end$|^response|^log |^lines of|^error log$|^requests? /,
  },
  {
    name: 'a malformed body that HEAD leaves unread',
    why: 'nginx answers nothing where it comes behind the head, to a client that has waited for 100',
    axes: nginx,
    when: ({ case: one, right }) => badBody(one) && one.client.waits === true && some(right, /\$status$/, '000'),
    what: /^end$|^responses?|^log |^lines of|^error log$/,
  },
  {
    name: 'the body of a request to gRPC, as a variable',
    why: 'nginx has what came of it last in memory, since it does not buffer it',
    axes: nginx,
    when: ({ case: one }) => uses(one, /grpc_pass/) && uses(one, /X-Seen [^;]*\$request_body/),
    what: /: header x-seen$|\$bytes_sent$/,
  },
  {
    name: 'the status of what was no image, with post_action',
    why: 'nginx logs that of the page which image_filter puts in place of another one, whose own status post_action finds',
    axes: nginx,
    when: ({ case: one, right }) => uses(one, /post_action/) && uses(one, /image_filter (?!off)/) && some(right, /\$status$/, '415'),
    what: /\$(status|(body_)?bytes_sent|sent_http_content_(type|length))$/,
  },
  {
    name: 'the reset after 412',
    why: 'nginx closes the connection, and what a client still sends then resets it before the response was read',
    axes: nginx,
    when: ({ case: one, left }) => one.client.pipelined === true && one.client.slow === true && some(left, /: status$/, '412'),
    what: /^end$|^responses?|\$request_completion$/,
  },
  {
    name: 'what a backend sent before its reset',
    why: 'the system drops what was not read by then',
    axes: nginx,
    when: ({ case: one }) => one.answer.leave?.how === 'reset',
    what: /^response \d+: (body|complete)$|\$(body_)?bytes_sent$|\$upstream_(response_length|bytes_received)$/,
  },
  {
    name: 'PUT behind a mirror',
    why: 'nginx fails a PUT whose body `mirror` has read, for it is not in a file, or in one without a name',
    axes: nginx,
    when: ({ case: one, right }) =>
      uses(one, /dav_methods/) && uses(one, /"mirror /) && /must be in a file|chmod\(\)/.test(right.get('error log') ?? ''),
    what: /^end$|^response|^log |^lines of|^error log$|^requests? /,
  },
  {
    name: 'a response of CGI that ends too early',
    why: 'nginx takes it for whole, or keeps its connection although bytes are missing',
    axes: nginx,
    when: ({ case: one, left }) => uses(one, /(fastcgi|scgi|uwsgi)_pass/) && breaksOff(one) && left.get('end') === 'closed',
    what: /^end$|^response \d+: complete$|\$(body_)?bytes_sent$|^error log$/,
  },
  {
    name: 'a request behind a response of CGI that ends too early',
    why: 'nginx answers it within the first response, to whose length bytes are missing',
    axes: http1,
    when: ({ case: one, left, right }) =>
      uses(one, /(fastcgi|scgi|uwsgi)_pass/) && breaksOff(one) && one.client.requests.length > 1 && linesOf(right) > linesOf(left),
    what: /^responses?|^lines of|^log [2-9]|^requests? |^error log$/,
  },
  {
    name: 'how far a response of CGI came that ends too early',
    why: 'filters have let through more of it or less, or all, where nginx takes it for whole',
    axes: nginx,
    when: ({ case: one }, { left, right }) =>
      uses(one, /(fastcgi|scgi|uwsgi)_pass/) && breaksOff(one) && (left.startsWith(right) || right.startsWith(left)),
    what: /^response \d+: body$/,
  },
  {
    name: 'the type of a 204',
    told: '**`Content-Type` of a 204**',
    axes: multiplexed,
    when: ({ left }) => [...left].some(([what, text]) => /: status$/.test(what) && text === '204'),
    what: /content[-_]type$/,
  },
  {
    name: 'subrequests in the log',
    why: 'nginx logs a request that waited for its subrequests with what was sent and done until then, and these with what the connection has sent',
    axes: nginx,
    when: ({ case: one }) => uses(one, /log_subrequest/),
    what: /\$((body_)?bytes_sent|request_completion|sent_http_(content_length|transfer_encoding))$/,
  },
  {
    name: 'a body that failed',
    told: '**A request body that failed**',
    axes: nginx,
    when: ({ case: one }) => badBody(one) || uses(one, /client_max_body_size/),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$|\$content_length$|^requests to the backend$|: header x-seen$/,
  },
];
