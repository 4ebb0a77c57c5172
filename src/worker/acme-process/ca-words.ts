import { isIP } from 'node:net';
import { formatAddress, parseAddress } from '../../shared/address/address.js';
import type { Identifier } from '../acme/identifier.js';
import { caWords } from './problem.js';

// What a CA sends goes to programs, into requests and to clients. A CA that is hostile, or was broken into, names what it likes.

/** Characters of base64url, as RFC 8555 has them, and no more than any CA uses. */
const TOKEN = /^[\w-]{1,256}$/;
/** Names of records that may go to a program. */
const RECORD_NAME = /^[\w-]+(?:\.[\w-]+)*$/;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const LONGEST_CHAIN = 16;

/** The token of a challenge. @throws Error for what is none. */
export function checkToken(token: unknown): string {
  if (typeof token !== 'string' || !TOKEN.test(token)) {
    throw new Error(`the CA sent an invalid token "${caWords(token).slice(0, 80)}"`);
  }
  return token;
}

/**
 * The identifier among those of the order that the CA wants validated; it leaves out `*.`. @throws Error for one that nobody has ordered.
 */
export function orderedIdentifier(ordered: readonly Identifier[], asked: Identifier | undefined): Identifier {
  const value = plain(asked);
  const found = ordered.find((own) => own.type === asked?.type && plain(own) === value);
  if (found === undefined) {
    throw new Error(`the CA wants "${caWords(asked?.value).slice(0, 80)}" validated, which was not ordered`);
  }
  return found;
}

function plain(identifier: Identifier | undefined): string {
  const value = String(identifier?.value);
  return isIP(value) === 0 ? value.toLowerCase().replace(/^\*\./, '') : formatAddress(parseAddress(value)!);
}

/** The full name of the record for a name, as a program gets it. @throws Error for a name that no record can have. */
export function challengeRecord(name: string): string {
  const zone = name.replace(/^\*\./, '');
  if (!RECORD_NAME.test(zone)) {
    throw new Error(`"${name}" cannot be validated with DNS`);
  }
  return `_acme-challenge.${zone}.`;
}

/** Checks an address that the CA has sent: it must be as safe as that of its directory. @throws Error */
export function checkUrl(url: unknown, directory: string): void {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  const secure = parsed?.protocol === 'https:';
  if (!secure && !(parsed?.protocol === 'http:' && new URL(directory).protocol === 'http:')) {
    throw new Error(`the CA sent an invalid address "${caWords(url).slice(0, 200)}"`);
  }
}

/** The certificates in a chain, without whatever stands between them. @throws Error for none or too many. */
export function certificatesOf(chain: string): string {
  const certificates = chain.match(CERTIFICATE) ?? [];
  if (certificates.length === 0 || certificates.length > LONGEST_CHAIN) {
    throw new Error(certificates.length === 0 ? 'the CA sent no certificate' : 'the CA sent too many certificates');
  }
  return `${certificates.join('\n')}\n`;
}
