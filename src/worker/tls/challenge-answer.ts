import { constants } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { runtimePart } from '../task/protocol-runtime.js';

/** The protocol that a CA names to see the answer to its TLS-ALPN-01 challenge (RFC 8737). */
export const CHALLENGE_PROTOCOL = 'acme-tls/1';

/** Finds the certificate, with its key, that answers a challenge for a server name. */
export type ChallengeAnswers = (serverName: string) => { readonly chain: string; readonly key: string } | undefined;

/** Who knows the answers; nobody in most configurations. */
export const challengeAnswers = runtimePart<{ find: ChallengeAnswers | undefined }>(() => ({ find: undefined }));

/** The context for such a handshake: nothing in the servers' settings applies to it. */
export function challengeContext({ chain, key }: { readonly chain: string; readonly key: string }): SecureContext {
  return createSecureContext({ cert: chain, key, ca: [], minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET });
}
