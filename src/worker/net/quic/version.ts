// What is different about the versions of QUIC: RFC 9000 and 9001, and RFC 9369.
import { createCipheriv } from 'node:crypto';
import { AES_128_GCM, expandLabel, extract, type LabelPrefix, PacketKeys, type Suite, suiteOf } from '../openssl/packet-keys.js';

/** Types of packets with long headers, as version 1 numbers them. */
export const Type = { INITIAL: 0, EARLY: 1, HANDSHAKE: 2, RETRY: 3 } as const;

/** A version of QUIC. */
export interface QuicVersion {
  readonly number: number;
  readonly prefix: LabelPrefix;
  /** What the two bits of a long header's type say, and the bits of each type. */
  readonly types: readonly number[];
  readonly bits: readonly number[];
  readonly salt: Buffer;
  readonly retryKey: Buffer;
  readonly retryNonce: Buffer;
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

export const VERSION_1: QuicVersion = {
  number: 1,
  prefix: 'quic',
  types: [Type.INITIAL, Type.EARLY, Type.HANDSHAKE, Type.RETRY],
  bits: [0, 1, 2, 3],
  salt: hex('38762cf7f55934b34d179ae6a4c80cadccbb7f0a'),
  retryKey: hex('be0c690b9f66575a1d766b54e368c84e'),
  retryNonce: hex('461599d35d632bf2239825bb'),
};

export const VERSION_2: QuicVersion = {
  number: 0x6b3343cf,
  prefix: 'quicv2',
  types: [Type.RETRY, Type.INITIAL, Type.EARLY, Type.HANDSHAKE],
  bits: [1, 2, 3, 0],
  salt: hex('0dede3def700a6db819381be6e269dcbf9bd2ed9'),
  retryKey: hex('8fb4b01b56ac48e260fbcbcead7ccc92'),
  retryNonce: hex('d86969bc2d7c6d9990efb04a'),
};

/** The versions that are spoken, best first. */
export const VERSIONS: readonly QuicVersion[] = [VERSION_1, VERSION_2];

/** The version of this number; undefined for one that is not spoken. */
export function versionOf(number: number): QuicVersion | undefined {
  return number === 1 ? VERSION_1 : number === VERSION_2.number ? VERSION_2 : undefined;
}

/** The keys of Initial packets. `client`: what the client encrypts with. */
export function initialKeys(
  version: QuicVersion,
  destination: Uint8Array,
): { readonly client: InitialMaker; readonly server: InitialMaker } {
  const secret = extract(version.salt, destination);
  const make =
    (label: string): InitialMaker =>
    (seals) =>
      new PacketKeys(suiteOf(AES_128_GCM) as Suite, expandLabel(false, secret, label, 32), seals, version.prefix);
  return { client: make('client in'), server: make('server in') };
}

type InitialMaker = (seals: boolean) => PacketKeys;

/** The tag of a Retry packet, for the packet behind the client's first destination and its length. */
export function retryTag({ retryKey, retryNonce }: QuicVersion, pseudo: Uint8Array): Buffer {
  const cipher = createCipheriv('aes-128-gcm', retryKey, retryNonce);
  cipher.setAAD(pseudo);
  cipher.final();
  return cipher.getAuthTag();
}
