// Protection of QUIC's packets (RFC 9001) by contexts of OpenSSL's, in memory whose addresses stay: a packet costs a seventh of what
// node:crypto takes.
import type { Region } from '../../../shared/net/uring/memory.js';
import { keepBytes } from '../../bytes/keep.js';
import { CipherContexts, ContextUser } from './cipher-contexts.js';
import { type QuicCalls, quicCalls, quicMemory } from './quic-library.js';

/** A cipher suite of TLS 1.3 that QUIC may use. */
export interface Suite {
  readonly id: number;
  readonly sha384: boolean;
  readonly keyLength: number;
  readonly aead: CipherContexts;
  readonly header: CipherContexts;
  /** The name of the header's cipher begins with ChaCha20. */
  readonly chacha: boolean;
  /** How many packets one key may protect, and how many that are not authentic may come (RFC 9001, 6.6). */
  readonly sealMost: number;
  readonly forgedMost: number;
}

export const AES_128_GCM = 0x1301;
const [AES_256_GCM, CHACHA20_POLY1305] = [0x1302, 0x1303];
/** Bytes that a packet is longer than its text. */
export const TAG = 16;
/** As much of a packet as its header's mask is made of. */
export const SAMPLE = 16;
/** How many masks can be made at a time. */
export const MASKS_MOST = 64;
const NONCE = 12;
const [CTRL_IV_LENGTH, CTRL_GET_TAG] = [9, 0x10];
/** OSSL_PARAM_OCTET_STRING, and where struct OSSL_PARAM has its parts: a name, a type, an address, a length. */
const OCTETS = 5;
const [PARAM_TYPE, PARAM_DATA, PARAM_LENGTH] = [8, 16, 24];

/** The memory that all keys use: lengths that nobody reads, keys on their way to OpenSSL, masks, zeros, a nonce, what says where
 * a packet's tag is, HMAC's input and output. */
interface Scratch extends QuicCalls {
  readonly region: Region;
  readonly base: number;
  readonly mask: Buffer;
  readonly masks: Buffer;
  readonly nonce: Buffer;
  /** The address of a tag, as two words. */
  readonly tag: Uint32Array;
  readonly suites: ReadonlyMap<number, Suite>;
}

const [LENGTH, KEY, MASK, ZERO, LEFT, NONCE_AT, TAG_NAME, TAG_PARAM, HMAC_KEY, HMAC_DATA, HMAC_OUT, MASKS, SCRATCH] = [
  0, 64, 128, 192, 256, 320, 352, 384, 512, 576, 768, 1024, 2048,
];

let scratch: Scratch | undefined;

function memory(): Scratch {
  if (scratch === undefined) {
    const calls = quicCalls();
    const region = quicMemory(SCRATCH);
    const { evp } = calls;
    const contexts = (name: string, configure: (context: number) => void): CipherContexts => {
      const cipher = evp.fetch(0, name, 0);
      if (cipher === 0) {
        throw new Error(`OpenSSL has no ${name}`);
      }
      return new CipherContexts(evp, (context) => {
        evp.init(context, cipher, 0, 0, 1, 0);
        configure(context);
      });
    };
    const aead = (name: string): CipherContexts => contexts(name, (context) => evp.control(context, CTRL_IV_LENGTH, NONCE, 0));
    const header = (name: string): CipherContexts => contexts(name, (context) => evp.setPadding(context, 0));
    const all: readonly Suite[] = [
      suite(AES_128_GCM, false, 16, aead('AES-128-GCM'), header('AES-128-ECB')),
      suite(AES_256_GCM, true, 32, aead('AES-256-GCM'), header('AES-256-ECB')),
      suite(CHACHA20_POLY1305, false, 32, aead('ChaCha20-Poly1305'), header('ChaCha20')),
    ];
    scratch = {
      ...calls,
      region,
      base: region.address(0, SCRATCH),
      mask: region.bytes.subarray(MASK, MASK + SAMPLE),
      masks: region.bytes.subarray(MASKS, MASKS + MASKS_MOST * SAMPLE),
      nonce: region.bytes.subarray(NONCE_AT, NONCE_AT + NONCE),
      tag: tagParameter(region),
      suites: new Map(all.map((each) => [each.id, each])),
    };
  }
  return scratch;
}

function suite(id: number, sha384: boolean, keyLength: number, aead: CipherContexts, header: CipherContexts): Suite {
  const chacha = id === CHACHA20_POLY1305;
  return { id, sha384, keyLength, aead, header, chacha, sealMost: 2 ** 23, forgedMost: chacha ? 2 ** 36 : 2 ** 52 };
}

/** Writes a list of parameters that has a tag's alone; returns where its address goes. */
function tagParameter(region: Region): Uint32Array {
  const { bytes } = region;
  bytes.write('tag\0', TAG_NAME, 'latin1');
  const words = (at: number): Uint32Array => new Uint32Array(bytes.buffer, bytes.byteOffset + at, 2);
  setAddress(words(TAG_PARAM), region.address(TAG_NAME, 4));
  bytes.writeUInt32LE(OCTETS, TAG_PARAM + PARAM_TYPE);
  bytes.writeUInt32LE(TAG, TAG_PARAM + PARAM_LENGTH);
  return words(TAG_PARAM + PARAM_DATA);
}

function setAddress(words: Uint32Array, address: number): void {
  words[0] = address % 0x100000000;
  words[1] = Math.floor(address / 0x100000000);
}

/** The suite of this number; undefined for one that QUIC does not have. */
export function suiteOf(id: number): Suite | undefined {
  return memory().suites.get(id);
}

function hmac(sha384: boolean, key: Uint8Array, data: Uint8Array): Buffer {
  const { evp, region, base } = memory();
  if (key.length > HMAC_DATA - HMAC_KEY || data.length > HMAC_OUT - HMAC_DATA) {
    throw new Error('a secret or a label is too long');
  }
  region.bytes.set(key, HMAC_KEY);
  region.bytes.set(data, HMAC_DATA);
  const digest = sha384 ? evp.sha384 : evp.sha256;
  if (evp.hmac(digest, base + HMAC_KEY, key.length, base + HMAC_DATA, data.length, base + HMAC_OUT, base + LENGTH) === 0) {
    throw new Error('HMAC() failed');
  }
  return Buffer.from(region.bytes.subarray(HMAC_OUT, HMAC_OUT + (sha384 ? 48 : 32)));
}

/** HKDF-Extract with SHA-256. */
export const extract = (salt: Uint8Array, secret: Uint8Array): Buffer => hmac(false, salt, secret);

/** HKDF-Expand-Label (RFC 8446, 7.1), of no more bytes than the hash has. */
export function expandLabel(sha384: boolean, secret: Uint8Array, label: string, length: number): Buffer {
  const text = `tls13 ${label}`;
  const info = Buffer.alloc(5 + text.length);
  info[1] = length;
  info[2] = text.length;
  info.write(text, 3, 'latin1');
  info[4 + text.length] = 1;
  return hmac(sha384, secret, info).subarray(0, length);
}

/** What the labels of a version of QUIC begin with. */
export type LabelPrefix = 'quic' | 'quicv2';

/** Puts a key into a context: so many bytes of some memory. */
function putKey(context: number, from: Buffer, at: number, length: number, encrypts: number): void {
  const { evp, base, region } = memory();
  from.copy(region.bytes, KEY, at, at + length);
  evp.init(context, 0, base + KEY, 0, encrypts, 0);
  region.bytes.fill(0, KEY, KEY + length);
}

/** Makes the mask of headers, which outlives updates of the other key. */
class HeaderKey extends ContextUser {
  readonly #suite: Suite;
  /** The memory of the packets' first keys, and where in it this one begins. */
  readonly #memory: Buffer;
  readonly #at: number;
  #users = 1;

  constructor(suite: Suite, memory: Buffer, at: number) {
    super();
    this.#suite = suite;
    this.#memory = memory;
    this.#at = at;
  }

  prepare(context: number): void {
    putKey(context, this.#memory, this.#at, this.#suite.keyLength, 1);
  }

  #lent(): number {
    if (this.#users === 0) {
      throw new Error('keys that were freed');
    }
    this.used = true;
    return this.context === 0 ? this.#suite.header.lend(this) : this.context;
  }

  make(sample: number): void {
    const { evp, base } = memory();
    const context = this.#lent();
    if (this.#suite.chacha) {
      evp.init(context, 0, 0, sample, 1, 0);
      evp.cipher(context, base + MASK, base + ZERO, 5);
    } else {
      evp.cipher(context, base + MASK, sample, SAMPLE);
    }
  }

  /** Makes masks of `count` samples, `behind` bytes behind each of these places. */
  makeAll(region: Region, places: Uint32Array, behind: number, count: number): void {
    const { evp, base, masks } = memory();
    const context = this.#lent();
    if (this.#suite.chacha) {
      for (let i = 0; i < count; i++) {
        evp.init(context, 0, 0, region.address(places[i]! + behind, SAMPLE), 1, 0);
        evp.cipher(context, base + MASKS + i * SAMPLE, base + ZERO, 5);
      }
      return;
    }
    if (count === 1) {
      evp.cipher(context, base + MASKS, region.address(places[0]! + behind, SAMPLE), SAMPLE);
      return;
    }
    const { bytes } = region;
    for (let i = 0; i < count; i++) {
      const [from, to] = [places[i]! + behind, i * SAMPLE];
      for (let k = 0; k < SAMPLE; k++) {
        masks[to + k] = bytes[from + k]!;
      }
    }
    evp.cipher(context, base + MASKS, base + MASKS, count * SAMPLE);
  }

  share(): this {
    this.#users++;
    return this;
  }

  free(): void {
    if (--this.#users === 0) {
      this.#suite.header.giveBack(this);
      this.#memory.fill(0, this.#at, this.#at + this.#suite.keyLength);
    }
  }
}

/** The keys of one direction at one level of encryption. They are freed once, and not used afterwards. */
export class PacketKeys extends ContextUser {
  readonly suite: Suite;
  readonly #prefix: LabelPrefix;
  readonly #seals: boolean;
  readonly #stays: boolean;
  readonly #header: HeaderKey;
  /** The part of nonces that is always the same, the key, the secret that the next one is made of, and the headers' key with the first. */
  readonly #memory: Buffer;
  readonly #scratch: Scratch;
  #freed = false;
  /** How many packets were sealed, or found not to be authentic. */
  sealed = 0;
  forged = 0;

  /**
   * `seals`: the keys are for sending. `stays`: they are used for as long as the connection is there. `header`: that of the keys before an
   * update.
   */
  constructor(suite: Suite, secret: Uint8Array, seals: boolean, prefix: LabelPrefix, stays = false, header?: HeaderKey) {
    super();
    this.#scratch = memory();
    this.suite = suite;
    this.#prefix = prefix;
    this.#seals = seals;
    this.#stays = stays;
    const { sha384, keyLength } = suite;
    const expand = (label: string, length: number): Buffer => expandLabel(sha384, secret, `${prefix} ${label}`, length);
    const parts = [expand('iv', NONCE), expand('key', keyLength), secret];
    const all = Buffer.concat(header === undefined ? [...parts, expand('hp', keyLength)] : parts);
    this.#memory = stays ? keepBytes(all) : all;
    this.#header = header?.share() ?? new HeaderKey(suite, this.#memory, this.#memory.length - keyLength);
  }

  prepare(context: number): void {
    putKey(context, this.#memory, NONCE, this.suite.keyLength, this.#seals ? 1 : 0);
  }

  /** A context that has the key. */
  #lent(): number {
    if (this.#freed) {
      throw new Error('keys that were freed');
    }
    this.used = true;
    return this.context === 0 ? this.suite.aead.lend(this) : this.context;
  }

  /** The first five bytes of the mask for a header, whose sample begins there; good until the next call. */
  mask(region: Region, sampleAt: number): Uint8Array {
    this.#header.make(region.address(sampleAt, SAMPLE));
    return this.#scratch.mask;
  }

  /** The masks for up to {@link MASKS_MOST} headers, each {@link SAMPLE} bytes behind the one before; good until the next call. */
  masks(region: Region, places: Uint32Array, behind: number, count: number): Uint8Array {
    if (!(count <= MASKS_MOST)) {
      throw new Error('too many masks');
    }
    this.#header.makeAll(region, places, behind, count);
    return this.#scratch.masks;
  }

  #setNonce(number: number): number {
    const { nonce: bytes, base } = this.#scratch;
    const iv = this.#memory;
    const low = number >>> 0;
    bytes[0] = iv[0]!;
    bytes[1] = iv[1]!;
    bytes[2] = iv[2]!;
    bytes[3] = iv[3]!;
    bytes[8] = iv[8]! ^ (low >>> 24);
    bytes[9] = iv[9]! ^ ((low >>> 16) & 255);
    bytes[10] = iv[10]! ^ ((low >>> 8) & 255);
    bytes[11] = iv[11]! ^ (low & 255);
    const high = Math.floor(number / 0x100000000);
    bytes[4] = iv[4]! ^ (high >>> 24);
    bytes[5] = iv[5]! ^ ((high >>> 16) & 255);
    bytes[6] = iv[6]! ^ ((high >>> 8) & 255);
    bytes[7] = iv[7]! ^ (high & 255);
    return base + NONCE_AT;
  }

  /**
   * Encrypts `textAt..end` of a packet that begins at `from`; the tag follows at `end`, where there is room for it. `number`: the
   * packet's.
   */
  seal(number: number, region: Region, from: number, textAt: number, end: number): void {
    const base = lies(region, from, textAt, end);
    const { evp } = this.#scratch;
    const context = this.#lent();
    const text = base + (textAt - from);
    evp.init(context, 0, 0, this.#setNonce(number), 1, 0);
    evp.cipher(context, 0, base, textAt - from);
    if (end > textAt) {
      evp.cipher(context, text, text, end - textAt);
    }
    evp.final(context, this.#scratch.base + LEFT, this.#scratch.base + LENGTH);
    evp.control(context, CTRL_GET_TAG, TAG, base + (end - from));
    this.sealed++;
  }

  /** Decrypts `textAt..end`, behind which the tag is, in place. Returns false for a packet that is not authentic. */
  open(number: number, region: Region, from: number, textAt: number, end: number): boolean {
    const base = lies(region, from, textAt, end);
    const { evp, tag } = this.#scratch;
    const context = this.#lent();
    const text = base + (textAt - from);
    setAddress(tag, base + (end - from));
    evp.init(context, 0, 0, this.#setNonce(number), 0, this.#scratch.base + TAG_PARAM);
    evp.cipher(context, 0, base, textAt - from);
    if (end > textAt) {
      evp.cipher(context, text, text, end - textAt);
    }
    if (evp.final(context, this.#scratch.base + LEFT, this.#scratch.base + LENGTH) === 1) {
      return true;
    }
    this.forged++;
    return false;
  }

  /** The keys after an update (RFC 9001, 6). */
  next(): PacketKeys {
    const { sha384, keyLength } = this.suite;
    const at = NONCE + keyLength;
    const length = sha384 ? 48 : 32;
    const secret = expandLabel(sha384, this.#memory.subarray(at, at + length), `${this.#prefix} ku`, length);
    return new PacketKeys(this.suite, secret, this.#seals, this.#prefix, this.#stays, this.#header);
  }

  free(): void {
    if (!this.#freed) {
      const { sha384, keyLength } = this.suite;
      this.#freed = true;
      this.suite.aead.giveBack(this);
      this.#memory.fill(0, 0, NONCE + keyLength + (sha384 ? 48 : 32));
      this.#header.free();
    }
  }
}

/** Where a packet lies. Throws {@link RingError} unless all of it, with its tag, is in the region. */
function lies(region: Region, from: number, textAt: number, end: number): number {
  if (!(textAt > from && end >= textAt)) {
    throw new Error('a packet without a header');
  }
  return region.address(from, end - from + TAG);
}
