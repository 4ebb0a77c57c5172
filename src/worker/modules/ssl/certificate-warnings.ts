import type { X509Certificate } from 'node:crypto';
import type { Pos } from '../../../shared/config/language/ast.js';
import type { Identity } from '../../tls/identity.js';
import type { TlsSettings } from '../../tls/settings.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long before its end a certificate is worth a warning. */
const SOON_MS = 14 * DAY_MS;

interface Warning {
  readonly text: string;
  /** Of the certificate's directive. */
  readonly pos: Pos | undefined;
}

/** What users would stumble over, though the configuration works: certificates out of date, chains incomplete or out of order. */
export function certificateWarnings(settings: TlsSettings, identities: readonly Identity[], now = Date.now()): Warning[] {
  return identities.flatMap(({ chain }, i) => {
    const path = settings.certificates![i]!;
    const name = path.startsWith('data:') ? 'data:' : path;
    const texts = [...dates(name, chain.certificates, now), ...order(name, chain.certificates)];
    return texts.map((text) => ({ text, pos: settings.certificatePlaces[i] }));
  });
}

function dates(name: string, [leaf]: readonly X509Certificate[], now: number): string[] {
  const [from, to] = [Date.parse(leaf!.validFrom), Date.parse(leaf!.validTo)];
  if (now < from) {
    return [`certificate "${name}" is not valid before ${leaf!.validFrom}`];
  }
  if (now > to) {
    return [`certificate "${name}" expired on ${leaf!.validTo}`];
  }
  if (to - now < SOON_MS) {
    const days = Math.floor((to - now) / DAY_MS);
    const left = days === 0 ? 'in less than a day' : `in ${days} day${days === 1 ? '' : 's'}`;
    return [`certificate "${name}" expires on ${leaf!.validTo}, ${left}`];
  }
  return [];
}

function order(name: string, chain: readonly X509Certificate[]): string[] {
  for (let i = 1; i < chain.length; i++) {
    if (chain[i - 1]!.checkIssued(chain[i]!)) {
      continue;
    }
    return [`certificate ${i + 1} in "${name}" did not issue the one before it, clients may not find the chain`];
  }
  const last = chain[chain.length - 1]!;
  const hasIssuer = last.subject !== last.issuer && /CA Issuers/.test(last.infoAccess ?? '');
  return chain.length === 1 && hasIssuer ? [`the chain of certificate "${name}" is incomplete, intermediate certificates are missing`] : [];
}

/** The names of a server that its certificates do not cover. */
export function uncoveredNames<N extends { readonly text: string }>(certificates: readonly X509Certificate[], names: readonly N[]): N[] {
  return names.filter(({ text }) => !certificates.some((certificate) => certificate.checkHost(text) !== undefined));
}
