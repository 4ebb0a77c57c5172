import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { decodeBase64url } from './base64url.js';
import { type Json, type JsonObject, textMember } from './json.js';

/** What a key is for. */
export type KeyUse = 'sig' | 'enc';

/** Shorter moduli are no longer safe: RFC 7518 asks for 2048 bits at least. */
const MIN_RSA_BITS = 2048;
/** Longer ones make each verification a piece of work. */
const MAX_RSA_BITS = 16384;

/** One JSON Web Key, made ready for use. */
export class Key {
  readonly type: 'oct' | 'RSA' | 'EC' | 'OKP';
  /** The curve of EC and OKP; empty for others. */
  readonly curve: string;
  readonly id: string | undefined;
  /** The only algorithm that it may be used with; undefined where the key does not say. */
  readonly algorithm: string | undefined;
  /** The public key, or the shared one. */
  readonly open: KeyObject;
  /** What decrypts: the private key, or the shared one; undefined where only the public one is known. */
  readonly secret: KeyObject | undefined;
  readonly #use: string | undefined;
  readonly #operations: readonly Json[] | undefined;

  constructor(type: Key['type'], members: JsonObject, open: KeyObject, secret: KeyObject | undefined) {
    this.type = type;
    this.curve = type === 'EC' || type === 'OKP' ? (textMember(members.get('crv')) ?? '') : '';
    this.id = textMember(members.get('kid'));
    this.algorithm = textMember(members.get('alg'));
    this.open = open;
    this.secret = secret;
    this.#use = textMember(members.get('use'));
    const operations = members.get('key_ops');
    this.#operations = Array.isArray(operations) ? operations : undefined;
  }

  /** Whether `use` and `key_ops` let it verify signatures, or decrypt. */
  mayBeUsedFor(use: KeyUse): boolean {
    if (this.#use !== undefined && this.#use !== use) {
      return false;
    }
    const operations = this.#operations;
    return (
      operations === undefined ||
      (use === 'sig'
        ? operations.includes('verify')
        : ['decrypt', 'unwrapKey', 'deriveKey', 'deriveBits'].some((one) => operations.includes(one)))
    );
  }
}

/** Members that make public keys; all others are left out. */
const PUBLIC_MEMBERS = { RSA: ['n', 'e'], EC: ['crv', 'x', 'y'], OKP: ['crv', 'x'] } as const;
/** Members that make private keys of them. */
const PRIVATE_MEMBERS = { RSA: ['d', 'p', 'q', 'dp', 'dq', 'qi'], EC: ['d'], OKP: ['d'] } as const;
const CURVES: Readonly<Record<'EC' | 'OKP', readonly string[]>> = { EC: ['P-256', 'P-384', 'P-521'], OKP: ['Ed25519', 'Ed448'] };

/** Makes a key of a JSON Web Key; a text says why it cannot be used. */
export function readKey(members: JsonObject): Key | string {
  const type = members.get('kty');
  if (type === 'oct') {
    return readShared(members);
  }
  if (type !== 'RSA' && type !== 'EC' && type !== 'OKP') {
    return 'its type ("kty") is not known';
  }
  if (type !== 'RSA' && !CURVES[type].includes(textMember(members.get('crv')) ?? '')) {
    return 'its curve ("crv") is not known';
  }
  try {
    const jwk = pick(type, PUBLIC_MEMBERS[type], members);
    const open = createPublicKey({ key: jwk, format: 'jwk' });
    const weakness = type === 'RSA' ? weaknessOf(open) : undefined;
    if (weakness !== undefined) {
      return weakness;
    }
    const whole = members.has('d') ? { ...jwk, ...pick(type, PRIVATE_MEMBERS[type], members) } : undefined;
    // A private part that is incomplete leaves the public key usable.
    return new Key(type, members, open, whole === undefined ? undefined : privateKey(whole));
  } catch {
    return 'it is not well formed';
  }
}

function privateKey(jwk: JsonWebKey): KeyObject | undefined {
  try {
    return createPrivateKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function readShared(members: JsonObject): Key | string {
  const bytes = decodeBase64url(textMember(members.get('k')) ?? '');
  if (bytes === undefined || bytes.length === 0) {
    return 'its value ("k") is empty or no base64url';
  }
  // Whoever knows the public key could sign with it.
  if (bytes.includes('-----BEGIN')) {
    return 'its value ("k") is a public key or a certificate, and no secret';
  }
  const key = createSecretKey(bytes);
  return new Key('oct', members, key, key);
}

function pick(type: string, names: readonly string[], members: JsonObject): JsonWebKey {
  const jwk: JsonWebKey = { kty: type };
  for (const name of names) {
    const value = textMember(members.get(name));
    if (value !== undefined) {
      jwk[name] = value;
    }
  }
  return jwk;
}

function weaknessOf(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS) {
    return `its modulus has ${modulusLength} bits`;
  }
  return publicExponent < 3n || publicExponent % 2n === 0n ? 'its exponent ("e") is not safe' : undefined;
}
