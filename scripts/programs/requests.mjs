// The requests to a program: those of its row, and for each location of its configuration some that any program might get.

/** A token that any program may decode: {"alg":"HS256","typ":"JWT"}, {"sub":"alice","iss":"nginx","exp":4102444800,"name":"Alice"}. */
export const token =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZSIsImlzcyI6Im5naW54IiwiZXhwIjo0MTAyNDQ0ODAwLCJuYW1lIjoiQWxpY2UifQ.PJJ4HyFlmGVPCc1AjZrLj_9JwfnzHHl8F5Vf1bYxqBY';

const get = (path, headers = {}) => ({ method: 'GET', path, headers, body: '' });
const post = (path, type, body) => ({ method: 'POST', path, headers: { 'Content-Type': type }, body });

/** What every location is asked. */
const asked = (path) => [
  get(path),
  get(`${path}?name=J%C3%B6rg%20D&foo=%D0%BF%D1%80&id=1&token=abc&a=1&a=2`),
  get(path, {
    Authorization: `Bearer ${token}`,
    Cookie: `session=abc; token=${token}; foo=bar`,
    'X-Request-Id': 'r1',
    Accept: 'application/json',
  }),
  post(path, 'application/json', '{"name":"Alice","items":[1,2,{"a":"é"}],"password":"x"}'),
  post(path, 'application/x-www-form-urlencoded', 'name=Alice&token=abc&text=a%2Bb'),
  { method: 'DELETE', path, headers: {}, body: '' },
];

/** The requests of a row, with ports and names for the report. */
export function requestsOf(row, conf) {
  const found = [];
  const text = conf.replaceAll(/#[^\n]*/g, '');
  if (row.auto !== false) {
    for (const block of text.split(/\bserver\s*\{/).slice(1)) {
      const listen = [...block.matchAll(/\blisten\s+(?:[\w.*]+:|\[::\]:)?(\d+)([^;]*);/g)].filter(
        (match) => !/ssl|quic|proxy_protocol/.test(match[2]),
      );
      const port = block.includes('listen') ? listen[0]?.[1] : '80';
      const host = /\bserver_name\s+([\w.-]+)/.exec(block)?.[1] ?? 'localhost';
      if (port === undefined || /\bjs_(?:filter|preread|access)\b/.test(block.split('location')[0])) {
        continue;
      }
      for (const match of block.matchAll(/\blocation\s+(=|\^~)?\s*"?(\/[^\s"{]*)"?\s*\{/g)) {
        const paths = match[1] === '=' ? [match[2]] : [match[2], `${match[2].replace(/\/?$/, '/')}some/page.html`];
        found.push(...paths.flatMap(asked).map((request) => ({ ...request, port: Number(port), host })));
      }
    }
  }
  for (const request of row.requests ?? []) {
    found.push({
      method: 'GET',
      headers: {},
      body: '',
      host: 'localhost',
      port: row.port ?? 80,
      ...(typeof request === 'string' ? { path: request } : request),
    });
  }
  return found.map((request) => ({
    ...request,
    name:
      request.name ??
      `${request.method ?? 'raw'} ${request.port}${request.path ?? ''} ${JSON.stringify(request.headers ?? '').slice(0, 40)}${request.body ? ` ${request.body.slice(0, 40)}` : ''}`,
  }));
}
