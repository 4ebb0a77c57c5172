import { createPrivateKey, createPublicKey, createSecretKey } from 'node:crypto';
import { decryptJwe } from '../../jose/jwe.js';
import { verifyJws } from '../../jose/jws.js';
import { Key } from '../../jose/key.js';
import { KeySet } from '../../jose/key-set.js';
import { ProviderFailure } from './failure.js';
import { claimsOf } from './session.js';
import type { ProviderSettings } from './settings.js';

/** The parts of an encrypted token. */
const ENCRYPTED_PARTS = 5;
const TENANT = '{tenantid}';
const TENANT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether tokens are signed with the secret that both sides know. */
export const isShared = (algorithm: string | undefined): boolean => algorithm?.startsWith('HS') === true;

/** Opens the envelopes of a provider's tokens, and checks signatures by the client's secret. What fails throws {@link ProviderFailure}. */
export class ProviderTokens {
  readonly #decryption: KeySet | undefined;
  readonly #secret: KeySet | undefined;

  constructor({ decryptionKeys, clientSecret, idTokenAlgorithm }: ProviderSettings) {
    this.#decryption = decryptionKeys.length === 0 ? undefined : new KeySet(decryptionKeys.map(decryptionKey), []);
    if (isShared(idTokenAlgorithm)) {
      const key = createSecretKey(Buffer.from(clientSecret!, 'latin1'));
      this.#secret = new KeySet([new Key('oct', new Map([['alg', idTokenAlgorithm!]]), key, key)], []);
    }
  }

  /** The signed token in an encrypted one. Where tokens come encrypted, one that is not is refused: anybody on the way may have read it. */
  open(token: string, what: string): Promise<string> {
    const sets = this.#decryption;
    return new Promise((resolve, reject) => {
      const refuse = (why: string): void => reject(new ProviderFailure('invalid', `the ${what} ${why}`));
      if (sets === undefined) {
        resolve(token);
      } else if (token.split('.', ENCRYPTED_PARTS + 1).length !== ENCRYPTED_PARTS) {
        refuse('is not encrypted');
      } else {
        decryptJwe(token, [sets], (jwe) =>
          typeof jwe === 'string' ? refuse(`is refused: ${jwe}`) : resolve(jwe.plaintext.toString('latin1')),
        );
      }
    });
  }

  /** Checks the signature of a token by the client's secret. */
  checkShared(token: string, what: string): void {
    const jws = verifyJws(token, [this.#secret!]);
    if (typeof jws === 'string') {
      throw new ProviderFailure('invalid', `the ${what} is refused: ${jws}`);
    }
  }

  /** The answer of the token endpoint with the ID token out of its envelope; its other texts stay as they are. */
  async openAnswer(response: Response): Promise<{ readonly response: Response; readonly idToken: string }> {
    const { status, headers } = response;
    const text = await response.text();
    const answer = objectOf(text);
    const sent = answer?.id_token;
    if (status !== 200 || answer === undefined || typeof sent !== 'string') {
      return { response: new Response(text, { status, headers }), idToken: '' };
    }
    const idToken = await this.open(sent, 'ID token');
    return { response: new Response(JSON.stringify({ ...answer, id_token: idToken }), { status, headers }), idToken };
  }
}

function decryptionKey(pem: string): Key {
  const secret = createPrivateKey(pem);
  return new Key('RSA', new Map(), createPublicKey(pem), secret);
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const headerOf = (token: string): Record<string, unknown> => objectOf(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) ?? {};

/** What the header of a token says that it is signed with, whoever says so. */
export function tokenAlgorithm(token: string): string {
  const { alg } = headerOf(token);
  return typeof alg === 'string' ? alg : '';
}

/**
 * Whether metadata is that of the issuer that is configured. Entra ID's addresses for several tenants, `common` and `organizations`, say
 * that the issuer of a token has the tenant's id in this place.
 */
export function isIssuerOf(found: string, configured: string): boolean {
  return (
    found === configured ||
    (found.includes(TENANT) && found === configured.replace(/\/(?:common|organizations)\/(?=v2\.0$)/, `/${TENANT}/`))
  );
}

/** The issuer that a token must have: with several tenants that of its own. Its signature, by the keys of all, is checked besides. */
export function issuerFor(issuer: string, token: string): string {
  if (token === '' || !issuer.includes(TENANT)) {
    return issuer;
  }
  const { tid } = claimsOf(token);
  if (typeof tid !== 'string' || !TENANT_ID.test(tid)) {
    throw new ProviderFailure('invalid', 'the token does not say of which tenant it is (tid)');
  }
  return issuer.replace(TENANT, tid);
}

/** Some keys of Entra ID are for the tokens of one tenant alone, such as that of private accounts: each says whose tokens it signs. */
export function checkKeyIssuer(issuer: string, token: string, keys: readonly object[]): void {
  if (!issuer.includes(TENANT)) {
    return;
  }
  const { kid } = headerOf(token);
  for (const key of keys as readonly { readonly kid?: unknown; readonly issuer?: unknown }[]) {
    if ((kid === undefined || key.kid === kid) && typeof key.issuer === 'string' && issuerFor(key.issuer, token) !== claimsOf(token).iss) {
      throw new ProviderFailure('invalid', 'the token is signed with the key of another tenant');
    }
  }
}

/** Whether an address that a browser brings is that of the provider, or of one of its tenants. */
export function mayBeIssuer(given: string, configured: string): boolean {
  const id = /\/([0-9a-f-]{36})\/v2\.0$/i.exec(given)?.[1] ?? '';
  return given === configured || (TENANT_ID.test(id) && isIssuerOf(given.replace(id, TENANT), configured));
}
