import { isUtf8 } from 'node:buffer';
import { In } from '../../shared/config/context.js';
import { inherit, own } from '../../shared/config/define.js';
import { parseSize } from '../../shared/config/language/units.js';
import type { SealedZone } from '../fleet/settings.js';
import { type Context, defineScope } from '../module.js';
import { ACME_ZONE, ACME_ZONE_BYTES, acmeZone } from './acme-zone.js';
import { type Identifier, NameError, parseIdentifiers } from './identifier.js';
import { type KeyKind, parseKeyKind, USUAL_KEY } from './key-kind.js';
import { readIssuer } from './read-issuer.js';
import type { AcmeIssuer, AcmeZoneRef, Issuer } from './settings.js';

/** What an `http` block says about CAs. */
export interface AcmeSettings {
  issuers: ReadonlyMap<string, AcmeIssuer>;
  /** As `acme_shared_zone` names it; see {@link zoneOf}. */
  zone: AcmeZoneRef | undefined;
}

/** What `acme_certificate` says. */
export interface CertificateLine {
  readonly issuer: string;
  /** Empty: those of `server_name`. */
  readonly identifiers: readonly Identifier[];
  readonly key: KeyKind;
}

/** What `https` says about certificates. */
export interface AutomaticCertificate {
  /** The name of the issuer; empty: the only one there is, or else {@link fallback}. */
  readonly issuer: string;
  readonly fallback: Issuer;
}

/** What a server says about its certificate. */
export interface CertificateSettings {
  line: CertificateLine | undefined;
  automatic: AutomaticCertificate | null;
}

/** The issuers that give certificates for names which the configuration does not have. */
export const onDemandIssuers = ({ issuers }: Readonly<AcmeSettings>): AcmeIssuer[] =>
  [...issuers.values()].filter(({ onDemand }) => onDemand > 0);

/** Whether there is such an issuer. */
export const givesOnDemand = (settings: Readonly<AcmeSettings>): boolean => onDemandIssuers(settings).length > 0;

const MIN_ZONE_BYTES = 8 * 4096;

/** `acme_issuer` and `acme_shared_zone`. nginx-acme: AcmeMainConfig. */
export const acmeScope = defineScope<AcmeSettings>({
  fields: { issuers: own<ReadonlyMap<string, AcmeIssuer>>(new Map()), zone: own<AcmeZoneRef | undefined>(undefined) },
  directives: {
    // nginx-acme. Syntax: acme_issuer name { ... }
    acme_issuer: {
      in: In.HTTP,
      args: 1,
      block: 'entries',
      set(conf, node, ctx) {
        const name = node.args[0]!;
        if (conf.issuers?.has(name)) {
          ctx.reject('is duplicate', { arg: 0 });
        }
        conf.issuers = new Map([...(conf.issuers ?? []), [name, readIssuer(node, ctx)]]);
      },
    },
    // nginx-acme. Syntax: acme_shared_zone zone=name:size [sync]; the parameter is ours.
    acme_shared_zone: { in: In.HTTP, args: [1, 2], set: readZone },
  },
});

/** The zone of all issuers. */
export const zoneOf = ({ zone }: Readonly<AcmeSettings>): AcmeZoneRef =>
  zone ?? { name: ACME_ZONE, kind: acmeZone, bytes: ACME_ZONE_BYTES, data: undefined };

function readZone(conf: Partial<AcmeSettings>, _node: unknown, ctx: Context): void {
  if (conf.zone !== undefined) {
    ctx.reject('is duplicate');
  }
  const argument = ctx.node.args[0]!;
  if (!argument.startsWith('zone=')) {
    ctx.fail('"acme_shared_zone" must have "zone" parameter', { arg: 0 });
  }
  const value = argument.slice('zone='.length);
  const [name, size] = value.split(/:(.*)/s) as [string, string | undefined];
  const bytes = size === undefined ? undefined : parseSize(size);
  if (bytes === undefined) {
    ctx.fail(`acme_shared_zone: invalid zone size "${value}"`, { arg: 0 });
  }
  if (bytes < MIN_ZONE_BYTES) {
    ctx.fail(`acme_shared_zone: zone ${name} is too small`, { arg: 0 });
  }
  const parameter = ctx.node.args[1];
  if (parameter !== undefined && parameter !== 'sync') {
    ctx.fail(`invalid parameter "${parameter}"`, { arg: 1 });
  }
  const data = parameter === undefined ? undefined : { sync: true, sealed: true, said: '"sync" of "acme_shared_zone"' };
  conf.zone = ctx.zone(acmeZone, name, { bytes, data: data as SealedZone | undefined });
}

/** `acme_certificate`. nginx-acme: AcmeServerConfig. */
export const certificateScope = defineScope<CertificateSettings>({
  fields: { line: own<CertificateLine | undefined>(undefined), automatic: inherit<AutomaticCertificate | null>(null) },
  directives: {
    // nginx-acme. Syntax: acme_certificate issuer [identifier ...] [key=alg[:size]];
    acme_certificate: {
      in: In.SERVER,
      args: { min: 1 },
      set(conf, _node, ctx) {
        if (conf.line !== undefined) {
          ctx.reject('is duplicate');
        }
        conf.line = readLine(ctx);
      },
    },
  },
});

function readLine(ctx: Context): CertificateLine {
  const [issuer, ...others] = ctx.node.args as [string, ...string[]];
  if (issuer === '') {
    ctx.reject('"issuer" is missing', { arg: 0 });
  }
  let key = USUAL_KEY;
  const identifiers: Identifier[] = [];
  for (const [i, text] of others.entries()) {
    const fail = (reason: string): never => ctx.fail(`acme_certificate: ${reason}`, { arg: i + 1 });
    if (text.startsWith('key=')) {
      const kind = parseKeyKind(text.slice('key='.length));
      key = typeof kind === 'object' ? kind : kind === undefined ? ctx.reject('invalid "key" value', { arg: i + 1 }) : fail(kind);
      continue;
    }
    if (text === '' || !isUtf8(Buffer.from(text, 'latin1'))) {
      ctx.reject('invalid value', { arg: i + 1 });
    }
    try {
      identifiers.push(...parseIdentifiers(text));
    } catch (error) {
      if (!(error instanceof NameError)) {
        throw error;
      }
      fail(`invalid server name: ${error.message}`);
    }
  }
  return { issuer, identifiers, key };
}
