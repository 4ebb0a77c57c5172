import type { Pos } from '../../shared/config/language/ast.js';
import type { ZoneRef } from '../../shared/zone/kind.js';
import type { SealedZone } from '../fleet/settings.js';
import type { AcmeZone } from './acme-zone.js';
import type { Identifier } from './identifier.js';
import type { KeyKind } from './key-kind.js';

/** The ways in which a CA finds out that a name is ours. */
export type ChallengeType = 'http-01' | 'tls-alpn-01' | 'dns-01';

/** The CA of our own that `https internal` names. */
export interface InternalIssuer {
  readonly kind: 'internal';
  readonly name: string;
  readonly statePath: string;
}

/** Files of its root certificate, and of the key, in its folder. */
export const INTERNAL_PAIR = 'root';
export const INTERNAL_ROOT: string = `${INTERNAL_PAIR}.crt`;

export type Issuer = AcmeIssuer | InternalIssuer;

/** What `acme_issuer NAME { ... }` says. Paths are complete. */
export interface AcmeIssuer {
  readonly kind: 'acme';
  readonly name: string;
  readonly pos: Pos;
  /** URL of the CA's directory. */
  readonly uri: string;
  /** The account's key in PEM, from a file that the configuration names; or the kind of key that is made. */
  readonly accountKey: KeyKind | string;
  readonly challenge: ChallengeType;
  /** The program that puts records for `dns-01` into DNS; empty for the other challenges. */
  readonly dnsHook: string;
  readonly commonName: boolean;
  /** URLs. */
  readonly contacts: readonly string[];
  /** `key` is in base64url. */
  readonly externalAccount: { readonly kid: string; readonly key: string } | undefined;
  readonly preferredChain: string;
  readonly profile: { readonly name: string; readonly required: boolean } | undefined;
  /** Certificates in PEM that the CA's server is checked against; undefined for those of the system. */
  readonly authorities: string | undefined;
  readonly verify: boolean;
  /** Folder for what is to outlive a restart; undefined for none. */
  readonly statePath: string | undefined;
  readonly acceptTerms: boolean;
  /** How many names that the configuration does not have may get certificates, when a script asks for them; 0 for none. */
  readonly onDemand: number;
}

/** One certificate that servers want, from one issuer. */
export interface Order {
  /** Names the certificate in files and in log lines. */
  readonly id: string;
  /** Names the order in the zone, which is one for all issuers. */
  readonly zoneId: string;
  readonly issuer: Issuer;
  readonly identifiers: readonly Identifier[];
  readonly key: KeyKind;
}

export type AcmeZoneRef = ZoneRef<AcmeZone, SealedZone | undefined>;
