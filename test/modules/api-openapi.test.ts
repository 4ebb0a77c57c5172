import { readFileSync } from 'node:fs';
import t from 'tap';
import { endpoints } from '../../src/worker/status/api.js';
import { againstNginx } from '../support/binary.js';
import { certs } from '../support/certs.js';
import { startOrigin } from '../support/origin.js';
import { http, httpGet, requestText } from '../support/raw-client.js';
import { startServer } from '../support/server.js';

const skip = againstNginx && 'ours';

interface Schema {
  // biome-ignore lint/style/useNamingConvention: the name is JSON Schema's
  readonly $ref?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>>;
}

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** What of a value is not as the schema says; empty when all is. */
function wrong(value: unknown, schema: Schema, at: string): string[] {
  if (schema.$ref !== undefined) {
    return wrong(value, document.components.schemas[schema.$ref.replace('#/components/schemas/', '')]!, at);
  }
  const type = Array.isArray(value) ? 'array' : typeof value;
  if (schema.type !== (type === 'number' && schema.type === 'integer' && Number.isInteger(value) ? 'integer' : type)) {
    return [`${at} is of type ${type}, not ${schema.type}`];
  }
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return [`${at} is ${JSON.stringify(value)}`];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => wrong(item, schema.items!, `${at}[${i}]`));
  }
  if (type !== 'object') {
    return [];
  }
  const object = value as Record<string, unknown>;
  return [
    ...(schema.required ?? []).filter((name) => !Object.hasOwn(object, name)).map((name) => `${at}.${name} is missing`),
    ...Object.entries(object).flatMap(([name, item]) => {
      const known = schema.properties?.[name] ?? schema.additionalProperties;
      return known === undefined || known === false
        ? [`${at}.${name} is not described`]
        : known === true
          ? []
          : wrong(item, known, `${at}.${name}`);
    }),
  ];
}

t.test('the check finds what is not as described', { skip }, async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'], additionalProperties: false };
  t.strictSame(wrong({ a: 1 }, schema, 'x'), []);
  t.strictSame(wrong({ a: '1', b: 2 }, schema, 'x'), ['x.a is of type string, not integer', 'x.b is not described']);
  t.strictSame(wrong([{}], { type: 'array', items: schema }, 'x'), ['x[0].a is missing']);
});

t.test('the description has the routes of the API, and no others', { skip }, async (t) => {
  const routes = new Map<string, string[]>([
    ['/', ['get']],
    ['/{version}', ['get']],
  ]);
  for (const [path, { one, reset }] of endpoints) {
    const methods = reset === undefined ? ['get'] : ['delete', 'get'];
    routes.set(`/{version}/${path}`, methods);
    if (one === undefined) {
      routes.set(`/{version}/${path}/{name}`, methods);
    }
  }
  for (const [block, path] of ['http', 'stream'].flatMap((block) => [[block, `/{version}/${block}`]] as const)) {
    routes.set(path, ['get']);
    routes.set(`${path}/keyvals`, ['get']);
    routes.set(`${path}/keyvals/{name}`, ['delete', 'get', 'patch', 'post']);
    routes.set(`${path}/upstreams/{name}/servers`, ['get', 'post']);
    routes.set(`${path}/upstreams/{name}/servers/{id}`, ['delete', 'get', 'patch']);
    t.ok(block);
  }
  routes.set('/{version}/http/caches/{name}/purge', ['post']);
  routes.set('/{version}/js', ['get']);
  const described = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.keys(operations)
      .filter((word) => word !== 'parameters')
      .sort(),
  ]);
  t.strictSame(Object.fromEntries([...described].sort()), Object.fromEntries([...routes].sort()));
});

t.test('what the API answers is as it is described', { skip }, async (t) => {
  const origin = await startOrigin(t, () => ({ body: 'origin' }));
  const { rsa } = certs();
  const s = await startServer(t, {
    conf: `worker_processes 2; events {} http {
      access_log off;
      js_import app from app.js;
      proxy_cache_path cache keys_zone=one:1m max_size=10m;
      limit_req_zone $uri zone=req:1m rate=100r/s;
      limit_conn_zone $uri zone=conn:1m;
      keyval_zone zone=pairs:1m timeout=1h; keyval $uri $pair zone=pairs;
      upstream app { zone app 64k; server 127.0.0.1:${origin.port}; }
      server {
        listen 127.0.0.1:%%PORT_0%%; server_name localhost; resolver 127.0.0.1:1 status_zone=names;
        listen 127.0.0.1:%%PORT_1%% ssl; ssl_certificate ${rsa.cert}; ssl_certificate_key ${rsa.key};
        location /api { api write=on; }
        location /app { status_zone app; proxy_pass http://app; proxy_cache one; limit_req zone=req; limit_conn conn 10; }
        location /js { js_content app.hello; }
      }
    }
    stream {
      limit_conn_zone $remote_addr zone=sessions:1m;
      keyval_zone zone=others:1m; keyval $remote_addr $other zone=others;
      upstream tcp { zone tcp 64k; server 127.0.0.1:${origin.port}; }
      server { listen 127.0.0.1:%%PORT_2%%; status_zone tcp; limit_conn sessions 10; proxy_pass tcp; }
    }`,
    files: { 'app.js': 'export default { hello(r) { r.return(204); } };' },
  });
  await httpGet(s, '/app');
  await httpGet(s, '/js');
  const ask = async (method: string, path: string, body = ''): Promise<{ status: number; body: unknown }> => {
    const { status, text } = await http(s, requestText(method, `/api/9${path}`, { Connection: 'close' }, body));
    return { status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const check = async (method: string, route: string, path: string, body?: string): Promise<void> => {
    const answer = await ask(method.toUpperCase(), path, body);
    const described = document.paths[`/{version}${route}`]?.[method]?.responses[answer.status];
    t.ok(described, `${method} ${path} may be answered ${answer.status}`);
    const schema = described?.content?.['application/json']?.schema;
    t.equal(answer.body === undefined, schema === undefined, `${method} ${path}`);
    if (schema !== undefined) {
      t.strictSame(wrong(answer.body, schema, path), [], `${method} ${path}`);
    }
  };
  await check('get', '', '');
  for (const route of ['/http', '/stream', '/js', '/http/keyvals', '/stream/keyvals']) {
    await check('get', route, route);
  }
  for (const [path, { one, all }] of endpoints) {
    await check('get', `/${path}`, `/${path}`);
    if (one === undefined) {
      const found = (await ask('GET', `/${path}`)).body as object;
      const names = Object.keys(found);
      t.ok(names.length > 0, `the configuration has ${path}`);
      for (const name of names) {
        await check('get', `/${path}/{name}`, `/${path}/${encodeURIComponent(name)}`);
      }
      await check('get', `/${path}/{name}`, `/${path}/none`);
      t.ok(all);
    }
  }
  const servers = '/upstreams/{name}/servers';
  for (const [block, group] of [
    ['http', 'app'],
    ['stream', 'tcp'],
  ]) {
    const path = `/${block}/upstreams/${group}/servers`;
    await check('get', `/${block}${servers}`, path);
    await check('get', `/${block}${servers}/{id}`, `${path}/0`);
    await check('post', `/${block}${servers}`, path, '{"server":"127.0.0.1:1","down":true}');
    await check('patch', `/${block}${servers}/{id}`, `${path}/0`, '{"weight":2}');
    await check('patch', `/${block}${servers}/{id}`, `${path}/0`, '{"weight":0}');
    await check('patch', `/${block}${servers}/{id}`, `${path}/77`, '{"weight":1}');
    await check('delete', `/${block}${servers}/{id}`, `${path}/0`);
  }
  for (const [path, name] of [
    ['/http/keyvals', 'pairs'],
    ['/stream/keyvals', 'others'],
  ]) {
    await check('post', `${path}/{name}`, `${path}/${name}`, '{"a":"b"}');
    await check('post', `${path}/{name}`, `${path}/${name}`, '{"a":"b"}');
    await check('get', `${path}/{name}`, `${path}/${name}`);
    await check('get', path!, path!);
    await check('patch', `${path}/{name}`, `${path}/${name}`, '{"a":null}');
    await check('delete', `${path}/{name}`, `${path}/${name}`);
  }
  await check('delete', '/http/server_zones/{name}', '/http/server_zones/localhost');
  await check('delete', '/http/requests', '/http/requests');
});
