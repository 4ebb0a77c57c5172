import type { Case } from './case.js';
import type { Compared, Difference } from './differences.js';

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

const anyRequest = (one: Case, is: (request: Case['client']['requests'][number]) => boolean): boolean => one.client.requests.some(is);
const uses = (one: Case, text: RegExp): boolean => one.parts.some((part) => text.test(JSON.stringify(part)));
/** Whether the client ends its side before it has the response. */
const leaves = (one: Case): boolean => one.client.leave !== undefined || anyRequest(one, ({ body }) => body?.framing === 'short');
const http2Backend = (one: Case): boolean => uses(one, /grpc_pass|proxy_http_version 2;/);
const badBody = (one: Case): boolean => anyRequest(one, ({ body }) => body?.framing.startsWith('bad') === true);

/** What a backend says is no head of HTTP/1. */
const headless = (raw: string | undefined): boolean => raw !== undefined && raw !== '' && !/^HTTP\/1\.\d \d{3}[ \r\n]/.test(raw);

/** Whether something of such a name was seen with this text. */
const some = (seen: Iterable<readonly [string, string]>, name: RegExp, text: string): boolean =>
  [...seen].some(([what, value]) => name.test(what) && value === text);

/** A request to a backend without the fields that say how long it is. */
const unframed = (text: string): string => text.replace(/^(content-length|transfer-encoding): .*\r?\n/gim, '');
const linesOf = (seen: Compared['left']): number => Number(seen.get('lines of the access log'));
const askedFor = (seen: Compared['left'], target: string): number =>
  [...seen].filter(([what, text]) => /^request \d+ to the backend$/.test(what) && text.includes(target)).length;

const CLOSING =
  /^end$|^responses$|: header (connection|keep-alive)$|\$(sent_http_connection|content_length|bytes_sent|request_length|body_bytes_sent|pipe|request_completion|connection_requests)$|^error log$|^log [2-9]|^response [2-9]|^lines of/;

/** Why two runs of one server may differ. */
const between: readonly Rule[] = [
  {
    name: 'a malformed body that nobody reads',
    why: 'the response says whether the connection is kept before or after the malformed chunk came',
    when: ({ case: one }) => badBody(one),
    what: CLOSING,
  },
  {
    name: 'the length of a body that nobody reads',
    why: '$request_length counts what was read when the line is written',
    when: ({ case: one }) => anyRequest(one, ({ body }) => body !== undefined),
    what: /\$request_length$/,
  },
  {
    name: 'the end of a body in chunks that nobody reads',
    why: '$content_length is 0 once the end of the body has come, and nothing before',
    when: ({ case: one, left, right }) =>
      anyRequest(one, ({ body }) => body !== undefined && body.framing !== 'length') && some([...left, ...right], /\$content_length$/, '-'),
    what: /\$content_length$/,
  },
  {
    name: 'what is there of a line that is no request',
    why: '$request has what came of the line until it could not be one any more',
    axes: ['pieces'],
    when: ({ left, right }) => some(left, /\$status$/, '400') && some(right, /\$status$/, '400'),
    what: /\$request$/,
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
    when: ({ left, right }) => !(left.get('log 1: $upstream_bytes_received') === right.get('log 1: $upstream_bytes_received')),
    what: /\$upstream_(bytes_received|response_length)$/,
  },
  {
    name: 'sizes of chunks',
    why: 'bytes of chunked responses are counted with their framing, which depends on the pieces',
    when: ({ left }) => [...left].some(([what, text]) => /header transfer-encoding$/.test(what) && text === 'chunked'),
    what: /\$(body_)?bytes_sent$/,
  },
  {
    name: 'HTTP/1 ends at a response of 400',
    why: 'a malformed request ends the connection of HTTP/1, and only the stream of HTTP/2',
    axes: ['http2'],
    when: ({ left, right }) => Number(left.get('responses')) < Number(right.get('responses')),
    what: /^responses$|^response [2-9]|^log [2-9]|^lines of|^request/,
  },
  {
    name: 'the line of a request that was refused',
    why: 'HTTP/2 has no line but what is made of a request that could be read',
    axes: ['http2'],
    when: ({ left }, { what }) => {
      const line = /^log \d+: /.exec(what)?.[0];
      return left.get(`${line}$status`) === '400' && left.get(`${line}$request_uri`) === '-';
    },
    what: /^log \d+: \$request$/,
  },
  {
    name: 'a response without a status line',
    told: '**A response without a status line**',
    axes: ['http2', 'nginx-http2'],
    when: ({ case: one }) => headless(one.answer.raw) && uses(one, /proxy_pass/),
    what: /^responses?|^end$|^log \d+: \$(status|upstream_|sent_http_|content_|server_protocol|http2|body_bytes|bytes_|request_completion|uri|args|pipe)|^lines of|^error log$|^requests? /,
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
    when: ({ case: one, left, right }) => leaves(one) && some(left, /^log 1: \$status$/, '499') && some(right, /^log 1: \$status$/, '499'),
    what: /to the backend$|\$upstream_|^error log$|\$sent_http_/,
  },
  {
    name: 'a client that ends its side',
    why: 'who reads on is not told from who is gone, but by what comes first, the end or the response',
    when: ({ case: one, left, right }) =>
      leaves(one) && ['499', '400'].some((status) => some([...left, ...right], /^log \d+: \$status$/, status)),
    what: /./,
  },
  {
    name: 'the end of a client behind TLS',
    why: 'a close_notify does not say that the client is gone',
    axes: ['tls'],
    when: ({ case: one }) => leaves(one),
    what: /./,
  },
  {
    name: 'a trailer that says what was sent',
    why: 'it is made when the end of the body is known, and how much was sent by then is a matter of pieces',
    when: ({ case: one }) => uses(one, /add_trailer/),
    what: /: trailers$|\$sent_trailer_x_trailer$|bytes_sent$/,
  },
  {
    name: 'gzip of pieces',
    why: 'without buffers each piece is flushed for itself',
    axes: ['buffering'],
    when: ({ case: one }) => uses(one, /gzip on/),
    what: /\$gzip_ratio$/,
  },
  {
    name: 'a 101 of CGI',
    told: 'A 101 that nobody asked for is an error.',
    axes: ['http2'],
    when: ({ case: one }) => one.answer.raw?.startsWith('HTTP/1.1 101') === true,
    what: /./,
  },
  {
    name: 'the length of a body that is already there',
    why: 'a body without a length that came as a whole is passed on with its length, though request buffering is off',
    when: ({ case: one }, { what, left, right }) =>
      uses(one, /request_buffering off|grpc_pass/) &&
      anyRequest(one, ({ body }) => body !== undefined && body.framing !== 'length') &&
      (!what.startsWith('request ') || unframed(left) === unframed(right)),
    what: /to the backend$|\$content_length$|\$upstream_bytes_sent$/,
  },
  {
    name: 'bytes behind a head without a body',
    why: 'as in nginx, those behind a 204 or 304 are counted and told for clients of HTTP/1 alone',
    axes: ['http2'],
    when: ({ left }) => some(left, /: status$/, '204') || some(left, /: status$/, '304'),
    what: /^error log$|\$upstream_response_length$/,
  },
  {
    name: 'the number of headers',
    why: 'Host is a header of HTTP/1; what HTTP/2 has for it is none',
    axes: ['http2'],
    when: ({ case: one, left }) => uses(one, /max_headers/) && some(left, /: status$/, '400'),
    what: /./,
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
    axes: ['http2'],
    when: ({ case: one }) => uses(one, /add_trailer/),
    what: /content[-_]length$/,
  },
];

const nginx = ['nginx', 'nginx-http2'];

/** Where sluice and nginx differ on purpose. */
const beside: readonly Rule[] = [
  {
    name: '$sent_http_connection of a kept connection',
    told: '**`$sent_http_connection`**',
    axes: ['nginx'],
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
    what: /^end$|^response|: (body|complete)$|bytes_sent$|\$upstream_|^error log$|\$request_completion$/,
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
    axes: ['nginx'],
    when: ({ case: one, left }) =>
      anyRequest(one, ({ body }) => body !== undefined && body.framing !== 'length') && some(left, /\$content_length$/, '-'),
    what: /\$content_length$/,
  },
  {
    name: 'the connection after 412',
    told: 'After a 412 the connection is kept',
    axes: nginx,
    when: ({ left, right }) => [...left, ...right].some(([what, text]) => /^response \d+: status$/.test(what) && text === '412'),
    what: /^end$|\$request_completion$|^responses$|^response [2-9]|^log [2-9]|^lines of|^error log$|^requests? /,
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
    axes: ['nginx-http2'],
    when: () => true,
    what: /\$bytes_sent$/,
  },
  {
    name: '100 Continue without a body',
    told: '`100 Continue`** is not sent for a request without a body',
    axes: ['nginx'],
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
    name: 'the length of a 204',
    told: '**`Content-Length` of a 204**',
    axes: ['nginx'],
    when: ({ left }) => [...left].some(([what, text]) => /\$status$|: status$/.test(what) && text === '204'),
    what: /content[-_]length$|\$bytes_sent$/,
  },
  {
    name: 'a body that was dropped',
    told: 'that was dropped, or that was passed on to a backend',
    axes: nginx,
    when: ({ case: one }, { left }) =>
      anyRequest(one, ({ body }) => body !== undefined) && (/content-length: 0\b/i.test(left) || /^\d+$/.test(left)),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$/,
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
    why: 'nginx logs 103 as the status of a response of gRPC',
    axes: nginx,
    when: (_compared, { right }) => /\b103\b/.test(right),
    what: /\$upstream_status$/,
  },
  {
    name: 'limit_rate of what is not sent',
    why: 'nginx looks at limit_rate when it sends a response',
    axes: nginx,
    when: ({ case: one }, { left, right }) => uses(one, /limit_rate /) && (right === '0' || (left === '0' && uses(one, /post_action/))),
    what: /\$limit_rate$/,
  },
  {
    name: 'the type of a 204',
    told: '**`Content-Type` of a 204**',
    axes: ['nginx-http2'],
    when: ({ left }) => [...left].some(([what, text]) => /: status$/.test(what) && text === '204'),
    what: /content[-_]type$/,
  },
  {
    name: 'subrequests in the log',
    why: 'nginx logs a request that waited for its subrequests with what was sent and done until then',
    axes: nginx,
    when: ({ case: one }) => uses(one, /log_subrequest/),
    what: /\$(body_bytes_sent|request_completion)$/,
  },
  {
    name: 'a body that failed',
    told: '**A request body that failed**',
    axes: nginx,
    when: ({ case: one }) => badBody(one) || uses(one, /client_max_body_size/),
    what: /^request \d+ to the backend$|\$upstream_bytes_sent$|\$content_length$|^requests to the backend$/,
  },
];

export const rules: readonly Rule[] = [...between, ...beside];

/** The rule that explains a difference; undefined for one without a name. */
export const ruleOf = (difference: Difference, compared: Compared): Rule | undefined =>
  rules.find(
    (rule) => (rule.axes?.includes(compared.axis.name) ?? true) && rule.what.test(difference.what) && rule.when(compared, difference),
  );
