import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { formatAddress, parseAddress } from '../../shared/address/address.js';
import type { KeyKind } from './key-kind.js';

/** What a certificate is for: a name in DNS, which may begin with `*.`, or an address. */
export interface Identifier {
  readonly type: 'dns' | 'ip';
  readonly value: string;
}

/** What is wrong with a name, in nginx-acme's words. */
export class NameError extends Error {}

/** The characters of names that nginx takes for hosts. */
const LABEL = /^[0-9A-Za-z\-_~%!$&'()+,;=]$/;

/**
 * Reads what is written for a certificate: a name, an address, or `.NAME` for a name with and without `www.`. Throws {@link NameError}.
 */
export function parseIdentifiers(text: string): Identifier[] {
  if (isIP(text) !== 0) {
    return [{ type: 'ip', value: formatAddress(parseAddress(text)!) }];
  }
  checkName(text);
  const name = text.toLowerCase();
  return (name.startsWith('.') ? [`www${name}`, name.slice(1)] : [name]).map((value) => ({ type: 'dns', value }));
}

function checkName(text: string): void {
  let before: 'start' | 'label' | 'dot' | 'wildcard' = 'start';
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    const code = text.charCodeAt(i);
    const unexpected = (): never => {
      throw new NameError(`unexpected character '${char}' at position ${i}`);
    };
    if (code <= 0x20 || code >= 0x7f) {
      throw new NameError(`invalid character ${code.toString(16)} at position ${i}`);
    }
    if (char === '*' && before === 'start') {
      before = 'wildcard';
    } else if (char === '.' && before !== 'dot') {
      before = 'dot';
    } else if (before === 'wildcard' || !LABEL.test(char)) {
      unexpected();
    } else {
      before = 'label';
    }
  }
  if (before !== 'label') {
    throw new NameError('does not end with a label');
  }
}

/** A name for log lines and files that stands for one list of identifiers and kind of key. */
export function orderId(identifiers: readonly Identifier[], key: KeyKind): string {
  const first = identifiers.find(({ type }) => type === 'dns') ?? identifiers[0]!;
  const hash = createHash('sha256').update(JSON.stringify([identifiers.map(({ type, value }) => [type, value]), key.algorithm, key.size]));
  return `${first.value.replace('*', '_')}-${hash.digest('hex').slice(0, 16)}`;
}

/** How a CA that checks an address by TLS-ALPN-01 names it in its hello (RFC 8738). */
export function challengeServerName({ type, value }: Identifier): string {
  if (type === 'dns') {
    return value;
  }
  if (isIP(value) === 4) {
    return `${value.split('.').reverse().join('.')}.in-addr.arpa`;
  }
  const { a, b, c, d } = parseAddress(value)!;
  const nibbles = [a, b, c, d].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  return `${[...nibbles].reverse().join('.')}.ip6.arpa`;
}
