import type { AcmeZone } from '../acme/acme-zone.js';
import { challengeServerName, type Identifier } from '../acme/identifier.js';
import type { AcmeIssuer } from '../acme/settings.js';
import { challengeRecord } from './ca-words.js';
import { makeChallengeCertificate } from './client.js';
import { runDnsHook } from './dns-hook.js';

/** Puts the answer to one challenge where the CA looks for it. Resolves, once it is there, to what takes it away again. */
export type Solve = (identifier: Identifier, token: string, answer: string, key: string) => Promise<() => Promise<void>>;

/** How the challenges of an issuer are answered; `key` is the private key of the certificate that is asked for. */
export function solverOf({ challenge, dnsHook }: AcmeIssuer, zone: AcmeZone): Solve {
  switch (challenge) {
    case 'http-01':
      return async (_identifier, token, answer) => {
        await new Promise<void>((done) => zone.setHttpAnswer(token, answer, done));
        return async () => zone.dropHttpAnswer(token);
      };
    case 'tls-alpn-01':
      return async (identifier, _token, answer, key) => {
        const name = challengeServerName(identifier);
        const chain = await makeChallengeCertificate(identifier, answer, key);
        await new Promise<void>((done) => zone.setAlpnAnswer(name, { chain, key }, done));
        return async () => zone.dropAlpnAnswer(name);
      };
    case 'dns-01':
      return async ({ value }, _token, answer) => {
        const record = challengeRecord(value);
        await runDnsHook(dnsHook, 'present', record, answer);
        return () => runDnsHook(dnsHook, 'cleanup', record, answer);
      };
  }
}
