import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomFillSync } from 'node:crypto';
import { Family } from '../../../shared/net/socket-addresses.js';
import { keepBytes } from '../../bytes/keep.js';
import { latin1 } from '../../bytes/latin1.js';
import { SpentTokens } from './spent-tokens.js';

const IV = 12;
const TAG = 16;
/** The kind, the time, a hash of the address, and the length of an ID. */
const BODY = 1 + 8 + 20 + 1;
const LONGEST_ID = 20;
/** For so many milliseconds. nginx: NGX_QUIC_RETRY_TOKEN_LIFETIME, NGX_QUIC_NEW_TOKEN_LIFETIME. */
const RETRY_LIFETIME = 3000;
const NEW_LIFETIME = 600_000;
const RETRY = 1;
const NEW = 2;

/** What a token of ours says. */
export interface AddressToken {
  /** Now, and from this address. */
  readonly valid: boolean;
  /** The token came with Retry, and this was the client's destination before; undefined for a token of an earlier connection. */
  readonly originalDestination: Buffer | undefined;
  /** What {@link AddressTokens.spend} is given once a connection has come of it; empty for one of Retry, which lives for seconds. */
  readonly name: string;
}

/** Tokens by which clients show that they are at their address, and those that say that a connection is no more. */
export class AddressTokens {
  readonly #key: Buffer;
  readonly #resetKey: Buffer;
  readonly #spent = new SpentTokens(NEW_LIFETIME);

  /** `secret`: workers of one host have the same, so that tokens of one are good for all. */
  constructor(secret: Buffer) {
    const derive = (label: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', label, 32));
    this.#key = derive('sluice quic address validation');
    this.#resetKey = derive('sluice quic stateless reset');
  }

  /** A token for a Retry packet; it names the port, too. */
  retry(peer: Buffer, originalDestination: Buffer): Buffer {
    return this.#make(RETRY, peer, originalDestination);
  }

  /** A token for a later connection from the same address. */
  later(peer: Buffer): Buffer {
    return this.#make(NEW, peer, Buffer.alloc(0));
  }

  #make(kind: number, peer: Buffer, id: Buffer): Buffer {
    const iv = randomFillSync(Buffer.alloc(IV));
    const body = Buffer.alloc(BODY + id.length);
    body[0] = kind;
    body.writeDoubleBE(Date.now(), 1);
    body.set(addressHash(kind, peer), 9);
    body[29] = id.length;
    body.set(id, BODY);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv);
    const text = cipher.update(body);
    cipher.final();
    return Buffer.concat([iv, text, cipher.getAuthTag()]);
  }

  /** Reads a token of ours; undefined for any other. */
  read(token: Buffer, peer: Buffer): AddressToken | undefined {
    if (token.length < IV + BODY + TAG || token.length > IV + BODY + LONGEST_ID + TAG) {
      return undefined;
    }
    let body: Buffer;
    try {
      const cipher = createDecipheriv('aes-256-gcm', this.#key, token.subarray(0, IV));
      cipher.setAuthTag(token.subarray(-TAG));
      body = Buffer.concat([cipher.update(token.subarray(IV, -TAG)), cipher.final()]);
    } catch {
      return undefined;
    }
    const kind = body[0]!;
    const now = Date.now();
    const age = now - body.readDoubleBE(1);
    const lifetime = kind === RETRY ? RETRY_LIFETIME : NEW_LIFETIME;
    const fits = addressHash(kind, peer).equals(body.subarray(9, 29)) && body[29] === body.length - BODY;
    const originalDestination = kind === RETRY ? keepBytes(body.subarray(BODY)) : undefined;
    const name = kind === RETRY ? '' : latin1(token, 0, IV);
    const valid = fits && age >= 0 && age <= lifetime && (kind === RETRY || this.#spent.isFresh(name, now));
    return { valid, originalDestination, name };
  }

  /** A connection has come of a token: it is good for no other one here. */
  spend(name: string): void {
    this.#spent.spend(name);
  }

  /** Says by its presence that a connection is no more. */
  reset(id: Uint8Array): Buffer {
    return createHmac('sha256', this.#resetKey).update(id).digest().subarray(0, TAG);
  }
}

function addressHash(kind: number, peer: Buffer): Buffer {
  const hash = createHash('sha1');
  hash.update(peer[0] === Family.INET6 ? peer.subarray(8, 24) : peer.subarray(4, 8));
  if (kind === RETRY) {
    hash.update(peer.subarray(2, 4));
  }
  return hash.digest();
}
