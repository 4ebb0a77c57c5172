import { createHash, createHmac } from 'node:crypto';
import { type Feature, ourFeature } from './feature.js';

const SECRET = 'a secret of thirty-two bytes....';
const base64url = (text: string): string => Buffer.from(text).toString('base64url');
const unsigned = `${base64url('{"alg":"HS256"}')}.${base64url('{"sub":"somebody","role":"admin"}')}`;

/** A token that keys in `keys.json` have signed. */
export const TOKEN = `${unsigned}.${createHmac('sha256', SECRET).update(unsigned).digest('base64url')}`;
/** The key whose hash is in `api-keys`. */
export const API_KEY = 'a-key-of-a-program';

/** The module of functions that nginx's JavaScript does not have. */
const OUR_SCRIPT = `
async function echo(request) {
  const text = await request.text();
  return new Response(request.method + ' ' + new URL(request.url).pathname + ' ' + text.length + '\\n', { headers: { 'X-Own': 'of fetch' } });
}
function streamed(request) {
  return new Response(request.body ?? 'no body\\n', { status: 201 });
}
function pieces() {
  let count = 0;
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode('piece ' + count++ + '\\n'));
      if (count > 5) {
        controller.close();
      }
    },
  });
  return new Response(body, { headers: { 'Content-Type': 'text/plain' } });
}
function node(req, res) {
  let length = 0;
  req.on('data', (piece) => (length += piece.length));
  req.on('end', () => {
    res.setHeader('X-Node', req.method);
    res.writeHead(req.url.includes('x=1') ? 404 : 200, { 'Content-Type': 'text/plain' });
    res.write('node ' + length + ' ');
    res.end(req.url + '\\n');
  });
}
function nodeAtOnce(req, res) {
  res.statusCode = 413;
  res.end('without the body\\n');
}
function route(r) {
  if (r.uri.endsWith('.txt')) {
    r.rewrite('/at/page.html', { args: 'from=js' });
  } else if (r.args.x === 'word') {
    r.return(403, 'of a route\\n');
  }
}
async function lateRoute(r) {
  await new Promise((done) => setTimeout(done, 1));
  r.rewrite('/at/file.txt', { break: true });
}
export default { echo, streamed, pieces, node, nodeAtOnce, route, lateRoute };
`;

/** Files for what follows. */
export const ourFiles: Readonly<Record<string, string>> = {
  'ours.js': OUR_SCRIPT,
  'keys.json': JSON.stringify({ keys: [{ kty: 'oct', alg: 'HS256', k: base64url(SECRET) }] }),
  'api-keys': `program:${createHash('sha256').update(API_KEY).digest('hex')}\n`,
};

/** Content by what nginx does not have. */
export const ourHandlers: readonly Feature[] = [
  ourFeature('our-js', (r) => ({
    location: r.oneOf([
      'js_content ours.echo fetch;',
      'js_content ours.streamed fetch;',
      'js_content ours.pieces fetch;',
      'node_handler ours.node;',
      'node_handler ours.nodeAtOnce;',
    ]),
  })),
  ourFeature('our-cache', (r) => ({
    location: `proxy_pass http://%%GROUP%%; proxy_cache proxy; proxy_cache_valid any 1h; proxy_cache_key "$host$request_method$uri$is_args$args"; ${r.oneOf(['cache_status_header on;', 'proxy_cache_tag $upstream_http_x_own $uri;', 'proxy_cache_purge $arg_x;', 'proxy_cache_purge PURGE from 127.0.0.1;'])}`,
  })),
];

/** The same on top of others. */
export const ourModifiers: readonly Feature[] = [
  ourFeature('our-compression', (r) => ({
    location: `${r.oneOf(['zstd on; zstd_types *; zstd_min_length 0;', 'brotli on; brotli_types *; brotli_min_length 0;', 'zstd on; zstd_types *; brotli on; brotli_types *;'])} ${r.oneOf(['', 'gzip_vary on;', 'zstd_comp_level 3;'])}`,
  })),
  ourFeature('our-jwt', (r) => ({
    location: `auth_jwt ${r.oneOf(['closed', '"" token=$arg_x'])}; auth_jwt_key_file %%DIR%%/keys.json; add_header X-Sub $jwt_claim_sub always; ${r.oneOf(['', 'auth_require $jwt_claim_role error=404;', 'auth_require $jwt_claim_none;'])}`,
  })),
  ourFeature('our-key', (r) => ({
    location: `auth_api_key programs${r.oneOf(['', ' key=$http_x_own'])}; auth_api_key_file %%DIR%%/api-keys; add_header X-Program $api_key_name always;`,
  })),
  ourFeature('our-route', (r) => ({ [r.oneOf(['location', 'server'])]: `js_rewrite ours.${r.oneOf(['route', 'lateRoute'])};` })),
  ourFeature('limits', () => ({ location: 'limit_req zone=few; limit_req_retry_after on;' })),
];
