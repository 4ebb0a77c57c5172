// Tracing: otel_exporter, otel_trace, otel_trace_context and what the collector gets.
import t from 'tap';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { configMessage } from '../support/config-message.js';
import { startFastcgi } from '../support/fastcgi-responder.js';
import { Http2Client, request } from '../support/http2-client.js';
import { answer, startHttp2Origin } from '../support/http2-origin.js';
import { startOrigin } from '../support/origin.js';
import { type CollectedSpan, startCollector } from '../support/otel-collector.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { type Server, serverConf, startServer } from '../support/server.js';
import { waitFor } from '../support/wait.js';

const skip = againstNginx && 'nginx has the module from elsewhere';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

/** The frame: spans leave at once. */
const exporter = (endpoint: string, more = ''): string => `otel_exporter { endpoint ${endpoint}; interval 5ms; ${more} }`;
const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) {
    throw new Error(`no span "${name}" among ${spans.map((span) => span.name).join(', ')}`);
  }
  return found;
};

/** Says which worker answers, and is not traced. */
const PID = 'location = /pid { otel_trace off; return 200 $pid; }';

/** Loads a configuration that has {@link PID}, and returns the id of the new worker once it answers. */
async function reloadTo(s: Server, conf: string): Promise<string> {
  const old = new Set(s.workers().map(String));
  await s.reload(conf);
  return waitFor(async () => {
    const { text } = await httpGet(s, '/pid');
    return !old.has(text) && text;
  });
}

t.test('a request through two servers is one trace', { skip }, async (t) => {
  for (const [protocol, scheme, path] of [
    ['grpc', '', ''],
    ['http', 'http://', '/v1/traces'],
  ] as const) {
    await t.test(protocol, async (t) => {
      const collector = await startCollector(t, { protocol });
      const conf = (name: string): string =>
        `${exporter(`${scheme}127.0.0.1:${collector.port}${path}`, `header X-Token "its value";`)}
        otel_service_name ${name}; otel_resource_attr where "café"; otel_trace on; otel_trace_context propagate;`;
      const inner = await startServer(t, {
        conf: `load_module modules/ngx_otel_module.so;\n${serverConf('location /o { return 503; }', conf('inner'))}`,
      });
      const outer = await startServer(t, {
        conf: serverConf(
          `location ~ ^/out { otel_span_name "asked $arg_a"; otel_span_attr about "$request_method $arg_a"; otel_span_attr n 5;
             otel_span_attr http.request.header.host $http_host;
             proxy_pass http://127.0.0.1:${inner.port(0)}; }`,
          conf('outer'),
        ),
      });
      const before = BigInt(Date.now()) * 1_000_000n;
      const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'a=1,b=2', 'User-Agent': 'test' };
      t.equal((await httpGet(outer, '/out?a=x', headers)).status, 503);
      const spans = await collector.received(3);
      const request = named(spans, 'asked x');
      const attempt = named(spans, `upstream 127.0.0.1:${inner.port(0)}`);
      const answer = named(spans, '/o');
      t.strictSame(new Set(spans.map(({ traceId }) => traceId)), new Set([TRACE]));
      t.equal(request.parentId, PARENT);
      t.equal(attempt.parentId, request.spanId);
      t.equal(answer.parentId, request.spanId, 'as in nginx');
      t.equal(request.kind, 2);
      t.equal(attempt.kind, 3);
      t.strictSame([request.state, answer.state], ['a=1,b=2', 'a=1,b=2']);
      t.strictSame([request.status, attempt.status, answer.status], [2, 2, 2]);
      t.strictSame(request.resource, { where: 'café', 'service.name': 'outer' });
      t.equal(answer.resource['service.name'], 'inner');
      t.equal(request.scope, 'sluice');
      const { 'net.sock.peer.port': port, 'http.response_content_length': sent, ...rest } = request.attributes;
      t.ok(Number(port) > 0 && Number(sent) > 100);
      t.strictSame(rest, {
        'http.method': 'GET',
        'http.target': '/out?a=x',
        'http.route': '^/out',
        'http.scheme': 'http',
        'http.flavor': '1.1',
        'http.user_agent': 'test',
        'http.request_content_length': 0,
        'http.status_code': 503,
        'net.host.name': 'localhost',
        'net.host.port': outer.port(0),
        'net.sock.peer.addr': '127.0.0.1',
        about: 'GET x',
        n: '5',
        'http.request.header.host': ['localhost'],
      });
      t.match(attempt.attributes, { 'http.status_code': 503, 'net.peer.name': '127.0.0.1', 'net.peer.port': inner.port(0) });
      t.ok(Number(attempt.attributes['sluice.upstream.bytes_received']) > 100);
      t.ok(Number(attempt.attributes['sluice.upstream.bytes_sent']) > 20);
      t.strictSame(
        attempt.events.map(({ name }) => name),
        ['connected', 'response head'],
      );
      // The worker's clock may stand for a while on a busy machine.
      const slack = 10_000_000_000n;
      t.ok(before - slack <= request.start && request.start <= attempt.start + slack && attempt.end <= request.end + slack);
      const [batch] = collector.batches;
      t.equal(batch!.headers['x-token'], 'its value');
      t.match(batch!.headers['user-agent'], /^sluice\//);
      if (protocol === 'http') {
        t.equal(batch!.headers[':path'], path);
      }
    });
  }
});

t.test('ways to the collector', { skip }, async (t) => {
  const { ca, rsa } = certs();
  const trust = `trusted_certificate ${ca.cert};`;
  const conf = (endpoint: string, more: string): string =>
    serverConf(`location / { return 204; } ${PID}`, `${exporter(endpoint, more)} otel_trace on;`);
  const s = await startServer(t, { conf: conf('127.0.0.1:1', '') });
  for (const [protocol, scheme, path, more] of [
    ['grpc', 'HTTP://', '/', ''],
    ['grpc', 'https://', '', trust],
    ['http', 'http://', '', 'protocol http/json;'],
    ['http', 'https://', '/some/where?key=1', trust],
  ] as const) {
    const collector = await startCollector(t, { protocol, ...(scheme === 'https://' ? { tls: rsa } : {}) });
    await reloadTo(s, conf(`${scheme}127.0.0.1:${collector.port}${path}`, more));
    await httpGet(s, '/a?b');
    const [span] = await collector.received(1);
    t.match(span, { name: '/', status: 0, attributes: { 'http.target': '/a?b' }, resource: { 'service.name': 'unknown_service:nginx' } });
    if (protocol === 'http') {
      t.equal(collector.batches[0]!.headers[':path'], path === '' ? '/v1/traces' : path);
    }
  }
  const strangers = await startCollector(t, { protocol: 'grpc', tls: rsa });
  await reloadTo(s, conf(`https://127.0.0.1:${strangers.port}`, ''));
  await httpGet(s, '/');
  await s.logged(/OTel export failure: .*(certificate|issuer)/);
});

t.test('the context', { skip }, async (t) => {
  const collector = await startCollector(t, { protocol: 'grpc' });
  const origin = await startOrigin(t, { body: 'ok' });
  const mode = (name: string): string => `location /${name} { otel_trace_context ${name}; proxy_pass http://127.0.0.1:${origin.port}; }`;
  const s = await startServer(t, {
    conf: serverConf(
      `add_header ids "$otel_trace_id $otel_span_id $otel_parent_id $otel_parent_sampled" always;
      ${['extract', 'inject', 'propagate', 'ignore'].map(mode).join('\n')}
      location /sampled { otel_trace $otel_parent_sampled; otel_trace_context propagate; proxy_pass http://127.0.0.1:${origin.port}; }`,
      exporter(`127.0.0.1:${collector.port}`),
    ),
  });
  const ask = async (path: string, headers: Record<string, string>) => {
    const count = origin.requests.length;
    const answer = await http(s, requestText('GET', path, headers));
    const sent = await origin.received(count + 1);
    const [trace = '', span = '', parent = '', sampled = ''] = (answer.header('ids') ?? '').split(' ');
    return { trace, span, parent, sampled, passed: sent.header('traceparent'), state: sent.header('tracestate') };
  };
  const sent = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'a=1' };
  let seen = await ask('/ignore', sent);
  t.match(seen, { trace: /^[0-9a-f]{32}$/, span: /^[0-9a-f]{16}$/, parent: '', sampled: '0', passed: sent.traceparent, state: 'a=1' });
  t.not(seen.trace, TRACE);
  seen = await ask('/extract', sent);
  t.match(seen, { trace: TRACE, parent: PARENT, sampled: '1', passed: sent.traceparent, state: 'a=1' });
  seen = await ask('/inject', sent);
  t.not(seen.trace, TRACE);
  t.match(seen, { parent: '', passed: `00-${seen.trace}-${seen.span}-00`, state: undefined });
  seen = await ask('/propagate', sent);
  t.match(seen, { trace: TRACE, parent: PARENT, sampled: '1', passed: `00-${TRACE}-${seen.span}-00`, state: 'a=1' });
  seen = await ask('/sampled', { ...sent, traceparent: `00-${TRACE}-${PARENT}-00` });
  t.match(seen, { sampled: '0', passed: `00-${TRACE}-${seen.span}-00` });
  for (const traceparent of [
    '',
    'x',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-`,
    `00-${TRACE}-${PARENT}-0`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE}-${PARENT}-0g`,
    `01-${TRACE}-${PARENT}-01`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE.slice(1)}-${PARENT}-01`,
    `00-${TRACE}0-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.replace('a', 'z')}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01\r\ntraceparent: 00-${TRACE}-${PARENT}-01`,
  ]) {
    seen = await ask('/sampled', { traceparent, tracestate: 'a=1' });
    t.match(seen, { parent: '', sampled: '0', passed: `00-${seen.trace}-${seen.span}-00`, state: undefined }, traceparent);
    t.not(seen.trace, TRACE, traceparent);
  }
  seen = await ask('/sampled', sent);
  t.match(seen, { sampled: '1', passed: `00-${TRACE}-${seen.span}-01` });
  const spans = await collector.received(2);
  t.equal(spans.length, 2, 'the sampled request and its attempt alone');
  t.equal(named(spans, '/sampled').spanId, seen.span);
});

t.test('attempts, subrequests and redirects', { skip }, async (t) => {
  const collector = await startCollector(t, { protocol: 'grpc' });
  const origin = await startOrigin(t, ({ target }) => ({ status: target === '/auth' ? 204 : 200, body: 'ok' }));
  const bad = await startOrigin(t, { status: 502 });
  const s = await startServer(t, {
    conf: serverConf(
      `location /retry { proxy_pass http://u; proxy_next_upstream http_502; }
      location /all { auth_request /auth; mirror /mirror; proxy_pass http://127.0.0.1:${origin.port}; }
      location = /auth { otel_trace off; proxy_pass http://127.0.0.1:${origin.port}/auth; }
      location = /mirror { proxy_pass http://127.0.0.1:${origin.port}/mirror; }
      location /moved { error_page 404 = /elsewhere; return 404; }
      location /elsewhere { otel_trace off; otel_span_attr here yes; return 200 "$otel_trace_id"; }
      location /rewritten { rewrite ^ /elsewhere last; }
      location /off { otel_trace off; error_page 404 = /retry; return 404; }
      location /alone { otel_upstream_spans off; proxy_pass http://127.0.0.1:${origin.port}; }`,
      `${exporter(`127.0.0.1:${collector.port}`)} otel_trace on;
      upstream u { server 127.0.0.1:${bad.port}; server 127.0.0.1:${origin.port} backup; }`,
    ),
  });
  await httpGet(s, '/retry');
  let spans = await collector.received(3);
  const request = named(spans, '/retry');
  const [first, second] = [bad, origin].map(({ port }) => named(spans, `upstream 127.0.0.1:${port}`)) as [CollectedSpan, CollectedSpan];
  t.strictSame([first.parentId, second.parentId], [request.spanId, request.spanId]);
  t.not(first.spanId, second.spanId);
  t.strictSame([first.attributes['http.status_code'], second.attributes['http.status_code'], request.status], [502, 200, 0]);

  await httpGet(s, '/all');
  spans = (await collector.received(7)).slice(3);
  const all = named(spans, '/all');
  const children = spans.filter((span) => span !== all);
  t.strictSame(children.map(({ attributes }) => attributes['sluice.subrequest'] ?? '').sort(), ['', '/auth', '/mirror']);
  t.ok(children.every(({ parentId, traceId }) => parentId === all.spanId && traceId === all.traceId));

  for (const path of ['/moved', '/rewritten']) {
    const count = collector.spans().length;
    const { text } = await httpGet(s, path);
    const span = (await collector.received(count + 1)).at(-1)!;
    t.equal(span.traceId, text, path);
    t.match(span, { name: '/elsewhere', attributes: { here: 'yes', 'http.target': path } }, path);
  }
  const count = collector.spans().length;
  await httpGet(s, '/off');
  await httpGet(s, '/alone');
  t.equal((await collector.received(count + 1)).at(-1)!.name, '/alone');
  t.equal(collector.spans().length, count + 1, 'a redirect does not switch tracing on');
});

t.test('other protocols', { skip }, async (t) => {
  const collector = await startCollector(t, { protocol: 'grpc' });
  const fastcgi = await startFastcgi(t, ({ param }) => `Content-Type: text/plain\r\n\r\n${param('HTTP_TRACEPARENT')}`);
  const grpc = await startHttp2Origin(t);
  const s = await startServer(t, {
    conf: serverConf(
      `http2 on;
      location /php { fastcgi_pass 127.0.0.1:${fastcgi.port}; fastcgi_param REQUEST_METHOD $request_method; }
      location /grpc { grpc_pass 127.0.0.1:${grpc.port}; }`,
      `${exporter(`127.0.0.1:${collector.port}`)} otel_trace on; otel_trace_context inject;`,
    ),
  });
  const { text } = await httpGet(s, '/php');
  const [, trace = '', id = ''] = text.split('-');
  let spans = await collector.received(2);
  t.match(named(spans, '/php'), { traceId: trace, spanId: id });
  t.match(named(spans, `upstream 127.0.0.1:${fastcgi.port}`), { traceId: trace, parentId: id, attributes: { 'http.status_code': 200 } });

  const client = await Http2Client.connect(t, s.port(0));
  client.request(1, request('POST', '/grpc', ['content-type', 'application/grpc'], ['te', 'trailers']), 'x');
  const asked = await grpc.received(1);
  answer(asked, { headers: [['content-type', 'application/grpc']], trailers: [['grpc-status', '0']] });
  spans = (await collector.received(4)).slice(2);
  const call = named(spans, '/grpc');
  t.equal(asked.fields.get('traceparent'), `00-${call.traceId}-${call.spanId}-01`);
  t.match(call, { kind: 2, attributes: { 'http.flavor': '2.0', 'http.method': 'POST', 'http.status_code': 200 } });
  t.match(named(spans, `upstream 127.0.0.1:${grpc.port}`), { traceId: call.traceId, parentId: call.spanId });
});

t.test('decisions of caches and limits are events', { skip }, async (t) => {
  const collector = await startCollector(t, { protocol: 'http' });
  const origin = await startOrigin(t, { headers: { 'Cache-Control': 'max-age=100' }, body: 'ok' });
  const s = await startServer(t, {
    conf: serverConf(
      `location /cached { limit_conn conns 5; limit_req zone=reqs burst=5 nodelay; proxy_cache c; proxy_pass http://127.0.0.1:${origin.port}; }
      location /refused { limit_req zone=one; empty_gif; }`,
      `${exporter(`http://127.0.0.1:${collector.port}/v1/traces`)} otel_trace on;
      limit_conn_zone $server_name zone=conns:1m; limit_req_zone $server_name zone=reqs:1m rate=1r/s;
      limit_req_zone $uri zone=one:1m rate=1r/m; proxy_cache_path %%DIR%%/cache keys_zone=c:1m;`,
    ),
  });
  const events = async (path: string): Promise<string[]> => {
    const count = collector.spans().length;
    await httpGet(s, path);
    await waitFor(() =>
      collector
        .spans()
        .slice(count)
        .some((span) => span.kind === 2),
    );
    const span = collector
      .spans()
      .slice(count)
      .find(({ kind }) => kind === 2)!;
    return span.events.map(({ name, attributes }) => `${name} ${Object.values(attributes).join(' ')}`).sort();
  };
  t.strictSame(await events('/cached'), ['cache MISS not in cache', 'limit_conn PASSED', 'limit_req PASSED']);
  t.strictSame(await events('/cached'), ['cache HIT', 'limit_conn PASSED', 'limit_req PASSED']);
  t.strictSame(await events('/refused'), ['limit_req PASSED']);
  t.strictSame(await events('/refused'), ['limit_req REJECTED one']);
});

t.test('a collector that is of no use', { skip }, async (t) => {
  const traced = (endpoint: string): string =>
    serverConf(
      `location / { return 204; } ${PID}`,
      `otel_exporter { endpoint ${endpoint}; interval 5ms; batch_size 2; batch_count 1; } otel_trace on;`,
    );
  const s = await startServer(t, { conf: traced('127.0.0.1:1') });
  const requests = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      t.equal((await httpGet(s, '/')).status, 204);
    }
  };
  // Old workers have their say, too, while they end.
  const said = (text: string, worker: string): number =>
    s
      .log()
      .split('\n')
      .filter((line) => line.includes(`] ${worker}#`) && line.includes(text)).length;
  // Nobody listens.
  await requests(10);
  await s.logged(/\[error\] .*OTel export failure: .*ECONNREFUSED/);

  const refusing = await startCollector(t, { protocol: 'http', behaviour: 'refuse' });
  const refused = await reloadTo(s, traced(`http://127.0.0.1:${refusing.port}/v1/traces`));
  await requests(1);
  await s.logged(/OTel export failure: 400 Bad Request/);
  // The batch is off the books: the next one goes out.
  await requests(1);
  await waitFor(() => refusing.calls() >= 2);
  t.equal(said('OTel export failure', refused), 1, 'said once a minute');

  const resetting = await startCollector(t, { protocol: 'http', behaviour: 'reset' });
  await reloadTo(s, traced(`http://127.0.0.1:${resetting.port}/v1/traces`));
  await requests(1);
  await waitFor(() => resetting.calls() >= 1);

  const silent = await startCollector(t, { protocol: 'grpc', behaviour: 'silence' });
  const left = await reloadTo(s, traced(`127.0.0.1:${silent.port}`));
  await requests(1);
  await waitFor(() => silent.calls() === 1);
  await requests(20);
  await waitFor(() => said('OTel dropped records', left) > 0);
  t.equal(said('OTel dropped records', left), 1, 'said once a minute');
  await s.stop('QUIT');
  t.match(s.log(), /\[notice\] .*OTel dropped records: 21$/m, 'the one under way is lost, too');
});

t.test('spans that wait leave with the worker', { skip }, async (t) => {
  const collector = await startCollector(t, { protocol: 'grpc' });
  const s = await startServer(t, {
    conf: serverConf(
      'location / { return 204; }',
      `otel_exporter { endpoint 127.0.0.1:${collector.port}; interval 1h; batch_size 3; } otel_trace on;`,
    ),
  });
  // A worker that leaves waits for a second, in which a busy machine may not start a thread: a full batch has started it.
  const ask = async (before: number): Promise<void> => {
    for (let i = 0; i < 4; i++) {
      await httpGet(s, '/');
    }
    t.equal((await collector.received(before + 3)).length, before + 3, 'a full batch does not wait');
  };
  await ask(0);
  await s.reload();
  await collector.received(4);
  await ask(4);
  await s.stop('QUIT');
  await collector.received(8);
  await s.start();
  await ask(8);
  await s.stop('TERM');
  t.equal((await collector.received(12)).length, 12);
});

t.test('what -t says', { skip }, async (t) => {
  for (const [conf, message] of [
    ['otel_trace on;', '"otel_exporter" block is missing in %%FILE%%:10'],
    ['otel_exporter { }', '"otel_exporter" requires "endpoint" in %%FILE%%:5'],
    ['otel_exporter { endpoint https://; }', '"otel_exporter" requires "endpoint" in %%FILE%%:5'],
    ['otel_exporter { endpoint a:1; } otel_exporter { endpoint a:1; }', '"otel_exporter" directive is duplicate in %%FILE%%:5'],
    ['otel_exporter { endpoint a b; }', 'invalid number of arguments in "endpoint" directive of "otel_exporter" in %%FILE%%:5'],
    ['otel_exporter { endpoint a:1; endpoint b:1; }', '"endpoint" directive of "otel_exporter" is duplicate in %%FILE%%:5'],
    ['otel_exporter { endpoint a:1; interval x; }', '"interval" directive of "otel_exporter" invalid value in %%FILE%%:5'],
    ['otel_exporter { endpoint a:1; batch_size x; }', '"batch_size" directive of "otel_exporter" invalid value in %%FILE%%:5'],
    ['otel_exporter { endpoint a:1; header a:b c; }', '"header" directive of "otel_exporter" has invalid header name in %%FILE%%:5'],
    ['otel_exporter { endpoint a:1; header a "\t"; }', '"header" directive of "otel_exporter" has invalid header value in %%FILE%%:5'],
    ['otel_exporter { endpoint a:1; other 1; }', 'unknown directive "other" in "otel_exporter" in %%FILE%%:5'],
    [
      'otel_exporter { endpoint a:1; trusted_certificate /no/such; }',
      'failed to open "/no/such" (2: No such file or directory) in %%FILE%%:5',
    ],
    [
      'otel_exporter { endpoint http://a:1/b; protocol grpc; }',
      '"endpoint" of "otel_exporter" has a path, "/b", which the protocol "grpc" does not know in %%FILE%%:5',
    ],
    ['otel_trace_context some;', 'invalid value "some" in %%FILE%%:5'],
    ['otel_exporter { endpoint a:1; } otel_trace $no_such;', 'unknown "no_such" variable'],
    ['otel_trace_context inject;', undefined],
    ['otel_exporter { endpoint a:1; } otel_trace $otel_parent_sampled;', undefined],
  ] as const) {
    t.equal(
      await configMessage(t, `events {}\nhttp {\naccess_log off;\n\n${conf}\n\nserver {\nlisten unix:%%DIR%%/s;\n}\n}\n`),
      message,
      conf,
    );
  }
});
