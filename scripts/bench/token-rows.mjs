// Rows about JSON Web Tokens, signed with RS256. The key and the tokens are made when a row is measured: a private key has no place in
// the repository. nginx has no auth_jwt; beside it stands what its users write with njs and WebCrypto.
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** More tokens than a worker remembers of one set of keys, in turn: each is new whenever it comes. */
const MANY = 6000;

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
let made;

function keys() {
  if (made === undefined) {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    made = {
      secret: createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      jwk: { ...publicKey.export({ format: 'jwk' }), kid: 'bench' },
    };
  }
  return made;
}

function token(n) {
  const claims = { iss: 'https://login.example.com/', aud: 'orders-api', sub: `user-${n}`, exp: 4_000_000_000, scope: 'read write' };
  const data = `${encode({ alg: 'RS256', typ: 'JWT', kid: 'bench' })}.${encode(claims)}`;
  return `${data}.${sign('sha256', Buffer.from(data), keys().secret).toString('base64url')}`;
}

const njs = {
  http: 'js_import bench from %%BENCH%%/handlers.js; js_preload_object jwks from %%DIR%%/jwks.json;',
  server: 'location / { js_content bench.rs256; }',
};
const checked = (where) => `location / { auth_jwt x ${where}; auth_jwt_key_file %%DIR%%/jwks.json; empty_gif; }`;
const prepare = (dir) => writeFileSync(`${dir}/jwks.json`, JSON.stringify({ keys: [keys().jwk] }));
/** @type {Record<string, string> | undefined} */
let headers;
/** The same token with each request. */
const repeated = {
  optional: true,
  paths: ['/'],
  get headers() {
    headers ??= { Authorization: `Bearer ${token(0)}` };
    return headers;
  },
};
/** @type {string[] | undefined} */
let paths;

/** @type {any[]} */
export const tokenRows = [
  Object.defineProperties(
    { name: 'jwt-none', what: 'a small answer to a request with a token that nobody looks at', server: 'location / { empty_gif; }' },
    Object.getOwnPropertyDescriptors(repeated),
  ),
  Object.defineProperties(
    {
      name: 'jwt',
      what: 'auth_jwt: a token that was seen before; nginx: njs with WebCrypto',
      server: checked(''),
      prepare,
      only: { nginx: njs },
    },
    Object.getOwnPropertyDescriptors(repeated),
  ),
  {
    name: 'jwt-new',
    what: 'auth_jwt: a new token with each request; nginx: njs with WebCrypto',
    optional: true,
    server: checked('token=$arg_t'),
    prepare,
    only: { nginx: njs },
    get paths() {
      paths ??= Array.from({ length: MANY }, (_, n) => `/?t=${token(n)}`);
      return paths;
    },
  },
];
