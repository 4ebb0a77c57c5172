import { EMPTY } from '../bytes/empty.js';
/** One element of a DER encoding. */
export interface DerElement {
  /** The identifier byte. */
  readonly tag: number;
  readonly content: Buffer;
  /** The whole element. */
  readonly whole: Buffer;
}

/** Splits a sequence of DER elements. Malformed input gives the elements before the fault. */
export function derElements(bytes: Buffer): DerElement[] {
  const all: DerElement[] = [];
  for (let at = 0; at + 2 <= bytes.length; ) {
    let start = at + 2;
    let length = bytes[at + 1]!;
    if (length >= 0x80) {
      const digits = length & 0x7f;
      if (digits === 0 || digits > 4 || start + digits > bytes.length) {
        break;
      }
      length = bytes.readUIntBE(start, digits);
      start += digits;
    }
    if (start + length > bytes.length) {
      break;
    }
    all.push({ tag: bytes[at]!, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) });
    at = start + length;
  }
  return all;
}

/** The dotted form of an object identifier. */
export function oidText(content: Buffer): string {
  const arcs: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) {
      continue;
    }
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(value / 40));
      arcs.push(first, value - first * 40);
    } else {
      arcs.push(value);
    }
    value = 0;
  }
  return arcs.join('.');
}

/** Subject and issuer of a certificate, as DER. */
export function certificateNames(certificate: Buffer): { readonly subject: Buffer; readonly issuer: Buffer } {
  const [outer] = derElements(certificate);
  const [tbs] = derElements(outer!.content);
  const fields = derElements(tbs!.content).filter(({ tag }) => tag !== 0xa0);
  // Serial number, signature algorithm, issuer, validity, subject.
  return { issuer: fields[2]!.content, subject: fields[4]!.content };
}

/** The id of a session in OpenSSL's form of it. */
export function sessionId(session: Buffer): Buffer {
  const [outer] = derElements(session);
  const fields = outer === undefined ? [] : derElements(outer.content);
  return fields[3]?.tag === 4 ? fields[3].content : EMPTY;
}
