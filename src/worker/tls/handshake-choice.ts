import type { SecureContext } from 'node:tls';
import { ERROR, INFO, type Level } from '../../shared/log/level.js';
import { type HostParts, validateHost } from '../http/syntax/host.js';
import type { ClientTask } from '../task/client-task.js';
import type { TlsFailure } from '../task/tls-terminator.js';
import { CHALLENGE_PROTOCOL, type ChallengeAnswers, challengeAnswers, challengeContext } from './challenge-answer.js';
import type { ClientHello } from './client-hello.js';
import type { GivenIdentity, HandshakeDecision, HandshakeWait } from './handshake-hooks.js';
import { NoCertificateYet, TlsFileError } from './pem.js';
import type { QuicContext } from './quic-context.js';
import { type ServerTls, tlsSlot } from './server-tls.js';
import {
  type Ends,
  type OfferedProtocols,
  offeredProtocols,
  type ProvisionalTask,
  type TlsAddress,
  type TlsServer,
} from './tls-address.js';

const CHALLENGE_PROTOCOLS = offeredProtocols([CHALLENGE_PROTOCOL]);

/** A fatal alert of TLS with this description. */
const alert = (description: number): Buffer => Buffer.from([21, 3, 3, 0, 2, 2, description]);
const INTERNAL_ERROR = 80;
const UNRECOGNIZED_NAME = 112;
const NOT_YET = 'SSL_do_handshake() failed (SSL: error:0A000179:SSL routines::cert cb error)';
const REJECTED = 'handshake rejected';
const MAX_FRAGMENT = 16384;

/** What a handshake runs with. `C`: how its context is told. */
export interface Choice<S, C = SecureContext> {
  /** The server that the client named in its hello, or the address's default server. */
  readonly server: S;
  /** The name in the hello, in lower case and without a trailing dot, when a server answers to it. */
  readonly serverName: string | undefined;
  /** Whose context this is. */
  readonly tls: ServerTls;
  readonly context: C;
  /** The client is asked for a certificate. */
  readonly verify: boolean;
  /** What ALPN offers; undefined where it is not answered. */
  readonly protocols: OfferedProtocols | undefined;
  /** The handshake answers a challenge of a CA, and the connection ends with it. */
  readonly challenge: boolean;
  /** Some script has given the certificate. */
  readonly given: boolean;
  /** The longest record that is sent, in bytes; 0 where that is as long as can be. */
  readonly maxFragment: number;
}

/** Why no handshake is begun, and what the client is told: by an alert, whose description is beside it. */
export interface HandshakeRefusal {
  readonly alert: Buffer;
  readonly description: number;
  readonly failure: TlsFailure;
}

const refusal = (description: number, level: Level, message: string): HandshakeRefusal => ({
  alert: alert(description),
  description,
  failure: { level, message },
});

/**
 * Chooses server and context for a hello, or tells what has to be waited for. `task`: what the connection is for, where that has begun;
 * `decision`: what was decided about the hello, where that was waited for. nginx: ngx_http_ssl_servername,
 * ngx_http_ssl_certificate.
 */
export function choose<S extends TlsServer>(
  address: TlsAddress<S>,
  ends: Ends,
  hello: ClientHello | undefined,
  task: ClientTask | undefined,
  decision: HandshakeDecision | undefined,
): Choice<S> | HandshakeRefusal | HandshakeWait {
  const fallback = address.defaultServer;
  const find = fallback.http && challengeAnswers(fallback.http).find;
  if (find !== undefined && hello?.protocols.includes(CHALLENGE_PROTOCOL)) {
    return chooseForChallenge(fallback, hello.serverName ?? '', find);
  }
  return chooseFor(address, ends, hello, task, decision, contextFor);
}

const contextFor = (tls: ServerTls, task: () => ClientTask, given: GivenIdentity | undefined): SecureContext =>
  given === undefined ? tls.contextFor(task) : tls.givenContext(given);

const quicContextFor = (tls: ServerTls, task: () => ClientTask, given: GivenIdentity | undefined): QuicContext =>
  given === undefined ? tls.quicContext(task) : tls.givenQuicContext(given);

/** Chooses for a handshake over QUIC, which answers no challenge of a CA. What would have to be waited for is refused. */
export function chooseQuic<S extends TlsServer>(
  address: TlsAddress<S>,
  ends: Ends,
  hello: ClientHello | undefined,
): Choice<S, QuicContext> | HandshakeRefusal {
  const choice = chooseFor(address, ends, hello, undefined, undefined, quicContextFor);
  return 'wait' in choice ? refusal(INTERNAL_ERROR, INFO, 'a script takes time, for which no handshake over QUIC waits') : choice;
}

function chooseFor<S extends TlsServer, C>(
  address: TlsAddress<S>,
  ends: Ends,
  hello: ClientHello | undefined,
  task: ClientTask | undefined,
  decided: HandshakeDecision | undefined,
  contextOf: (tls: ServerTls, task: () => ClientTask, given: GivenIdentity | undefined) => C,
): Choice<S, C> | HandshakeRefusal | HandshakeWait {
  let provisional: ProvisionalTask<S> | undefined;
  const taskFor = (server: S): ClientTask => {
    provisional ??= address.provisional(ends, hello, task);
    provisional.use(server);
    return provisional.task;
  };
  const fallback = address.defaultServer;
  const name = hello?.serverName;
  const host = name === undefined || address.single ? undefined : hostOf(name);
  const asked = host === undefined ? undefined : address.find(host, address.patterns ? taskFor(fallback) : null);
  const server = asked ?? fallback;
  const own = server.conf(tlsSlot);
  const tls = own.ready ? own : fallback.conf(tlsSlot);
  let given: GivenIdentity | undefined;
  if (own.hooks !== undefined && hello !== undefined) {
    const decision = decided ?? own.hooks.ask(hello, ends);
    if ('wait' in decision) {
      return decision;
    }
    if (decision.refused !== undefined) {
      return refusal(decision.refused, INFO, REJECTED);
    }
    given = decision.identity;
  }
  // The server that answers to the name decides, also where the handshake runs with the certificates of the default one.
  if ((given === undefined && own.settings.rejectHandshake) || !tls.ready) {
    return refusal(UNRECOGNIZED_NAME, INFO, REJECTED);
  }
  try {
    return {
      server,
      serverName: asked === undefined ? undefined : host,
      tls,
      context: contextOf(tls, () => taskFor(server), given),
      given: given !== undefined,
      protocols: address.protocols(server),
      verify: (own.ready ? own : tls).settings.verify !== 'off',
      challenge: false,
      maxFragment: own.settings.bufferSize < MAX_FRAGMENT ? Math.max(512, own.settings.bufferSize) : 0,
    };
  } catch (error) {
    if (error instanceof NoCertificateYet) {
      return refusal(INTERNAL_ERROR, INFO, NOT_YET);
    }
    const message = error instanceof TlsFileError ? error.message : `SSL_CTX_new() failed (SSL: ${(error as Error).message})`;
    return refusal(INTERNAL_ERROR, ERROR, message);
  }
}

/** Whichever server the CA has come to, and whatever that server demands of its clients. nginx-acme: acme_ssl_cert_cb. */
function chooseForChallenge<S extends TlsServer>(server: S, name: string, find: ChallengeAnswers): Choice<S> | HandshakeRefusal {
  const answer = find(name.toLowerCase());
  if (answer === undefined) {
    return refusal(UNRECOGNIZED_NAME, INFO, `no challenge waits for an answer by ${CHALLENGE_PROTOCOL} for "${name}"`);
  }
  const tls = server.conf(tlsSlot).bare();
  const context = challengeContext(answer);
  return {
    server,
    serverName: undefined,
    tls,
    context,
    protocols: CHALLENGE_PROTOCOLS,
    verify: false,
    challenge: true,
    given: false,
    maxFragment: 0,
  };
}

/** What is logged of a handshake that answered a challenge. */
export const CHALLENGE_ANSWERED: TlsFailure = { level: INFO, message: `a challenge was answered by ${CHALLENGE_PROTOCOL}` };

function hostOf(name: string): string | undefined {
  const parts: HostParts = { host: '', port: 0 };
  return validateHost(name, parts) ? parts.host : undefined;
}
