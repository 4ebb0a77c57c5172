import { createHash, randomUUID } from 'node:crypto';
import { signatureOf, type TestKey } from './tokens.js';

/** A request that tests sign, and how. */
export interface ToSign {
  readonly method?: string;
  readonly path: string;
  readonly authority?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Names as they stand in the list, with quotes and parameters where they begin with one. */
  readonly components?: readonly string[];
  /** Parameters in place of the usual ones; undefined takes one away. */
  readonly params?: Readonly<Record<string, string | number | undefined>>;
  readonly label?: string;
  /** Values in place of those of the request. */
  readonly values?: Readonly<Record<string, string>>;
}

const USUAL = ['@method', '@authority', '@path', '@query'];

export const digestOf = (body: string | Buffer, name = 'sha-256'): string =>
  `${name}=:${createHash(name.replace('-', '')).update(body).digest('base64')}:`;

/** The headers of a signed request. */
export function signed(key: TestKey, request: ToSign): Record<string, string> {
  const { method = 'GET', path, authority = 'localhost', body, label = 'sig', values = {}, params = {} } = request;
  const headers: Record<string, string> = {
    ...(body === undefined ? {} : { 'content-digest': digestOf(body) }),
    ...Object.fromEntries(Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])),
  };
  const names = request.components ?? [...USUAL, ...(body === undefined ? [] : ['content-digest'])];
  const mark = path.indexOf('?');
  const known: Record<string, string> = {
    '"@method"': method,
    '"@authority"': authority,
    '"@path"': mark === -1 ? path : path.slice(0, mark),
    '"@query"': mark === -1 ? '?' : path.slice(mark),
    '"@target-uri"': `http://${authority}${path}`,
    '"@request-target"': path,
    '"@scheme"': 'http',
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`"${name}"`, value])),
    ...values,
  };
  const said = { created: Math.floor(Date.now() / 1000), keyid: key.jwk.kid, nonce: randomUUID(), ...params };
  const quoted = names.map((name) => (name.startsWith('"') ? name : `"${name}"`));
  const input = `(${quoted.join(' ')})${Object.entries(said)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `;${name}=${typeof value === 'number' ? value : `"${value}"`}`)
    .join('')}`;
  const base = `${quoted.map((name) => `${name}: ${known[name]}\n`).join('')}"@signature-params": ${input}`;
  return {
    ...headers,
    'signature-input': `${label}=${input}`,
    signature: `${label}=:${signatureOf(key, Buffer.from(base, 'latin1')).toString('base64')}:`,
  };
}
