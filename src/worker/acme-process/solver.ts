import type { AcmeZone } from '../acme/acme-zone.js';
import { challengeServerName, type Identifier } from '../acme/identifier.js';
import type { AcmeIssuer } from '../acme/settings.js';
import { challengeRecord } from './ca-words.js';
import { makeChallengeCertificate } from './client.js';
import { runDnsHook } from './dns-hook.js';

/** The answer to a challenge, where the CA looks for it. */
export interface PlacedAnswer {
  /** Puts the answer back if it was lost, as with a zone that came to harm. Resolves to whether it was. */
  restore(): Promise<boolean>;
  /** Whether a machine that the CA may have asked has come since, and did not have the answer. */
  missed(): Promise<boolean>;
  takeAway(): Promise<void>;
}

/** Puts the answer to one challenge where the CA looks for it. Resolves once it is there. */
export type Solve = (identifier: Identifier, token: string, answer: string, key: string) => Promise<PlacedAnswer>;

/** The other machines that a CA may ask; see {@link FleetLead}. */
export interface OtherMachines {
  spread(): Promise<ReadonlySet<string>>;
  hasGrown(machines: ReadonlySet<string>): Promise<boolean>;
}

/** How the challenges of an issuer are answered; `others`: undefined where the CA asks this machine alone. */
export function solverOf({ challenge, dnsHook }: AcmeIssuer, zone: AcmeZone, others: OtherMachines | undefined): Solve {
  switch (challenge) {
    case 'http-01':
      return (_identifier, token, answer) =>
        inZone(zone, others, {
          put: (done) => zone.setHttpAnswer(token, answer, done),
          isThere: () => zone.httpAnswer(token) === answer,
          drop: () => zone.dropHttpAnswer(token),
        });
    case 'tls-alpn-01':
      return async (identifier, _token, answer, key) => {
        const name = challengeServerName(identifier);
        const chain = await makeChallengeCertificate(identifier, answer, key);
        return inZone(zone, others, {
          put: (done) => zone.setAlpnAnswer(name, { chain, key }, done),
          isThere: () => zone.alpnAnswer(name)?.chain === chain,
          drop: () => zone.dropAlpnAnswer(name),
        });
      };
    case 'dns-01':
      return async ({ value }, _token, answer) => {
        const record = challengeRecord(value);
        await runDnsHook(dnsHook, 'present', record, answer);
        return { restore: async () => false, missed: async () => false, takeAway: () => runDnsHook(dnsHook, 'cleanup', record, answer) };
      };
  }
}

/** What is done with one answer in the zone. */
interface ZoneAnswer {
  put(done: () => void): void;
  isThere(): boolean;
  drop(): void;
}

async function inZone(zone: AcmeZone, others: OtherMachines | undefined, { put, isThere, drop }: ZoneAnswer): Promise<PlacedAnswer> {
  let have: ReadonlySet<string> | undefined;
  const place = async (): Promise<void> => {
    await new Promise<void>(put);
    have = await others?.spread();
  };
  await place();
  return {
    restore: async () => {
      zone.look();
      const lost = !isThere();
      if (lost) {
        await place();
      }
      return lost;
    },
    missed: async () => have !== undefined && (await others!.hasGrown(have)),
    takeAway: async () => drop(),
  };
}
