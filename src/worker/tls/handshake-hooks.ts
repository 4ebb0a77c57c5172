import type { ClientHello } from './client-hello.js';
import type { Ends } from './tls-address.js';

/** A certificate with those that follow it, and its key, in PEM. One object stands for the same texts for as long as it is in use. */
export interface GivenIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** What was decided about a hello. */
export interface HandshakeDecision {
  /** The description of the alert that refuses the handshake; undefined where it goes on. */
  readonly refused: number | undefined;
  /** What takes the place of the server's own certificates; undefined where they are used. */
  readonly identity: GivenIdentity | undefined;
}

/** A decision that takes time. */
export interface HandshakeWait {
  /** Calls back later, and once. Returns what gives the waiting up. */
  wait(done: (decision: HandshakeDecision) => void): () => void;
}

/** Decides about the hellos of a server. */
export interface HandshakeHooks {
  ask(hello: ClientHello, ends: Ends): HandshakeDecision | HandshakeWait;
}
