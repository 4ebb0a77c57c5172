import { randomFillSync } from 'node:crypto';
import type { SocketAddress } from '../../../shared/net/socket.js';
import { addressAt, Family } from '../../../shared/net/socket-addresses.js';
import { keepBytes } from '../../bytes/keep.js';
import { sameBytes } from '../../bytes/same-bytes.js';
import type { PeerId } from './connection-ids.js';
import { PathMarks } from './ecn.js';

/** So often is a challenge sent. */
const CHALLENGES = 3;
/** More than that nobody asks for at a time; what asks more often is not answered. */
const MOST_RESPONSES = 4;
export const CHALLENGE = 8;
const NONE: readonly Buffer[] = [];

/** Where a client is, and where it sends to (RFC 9000, 8 and 9). */
export class Path {
  /** The client's address, in the kernel's form. */
  readonly peer: Buffer;
  /** The address that the client sends to, in the form in which a datagram can leave from it; undefined for the socket's own. */
  readonly local: Buffer | undefined;
  #remote: SocketAddress | undefined = undefined;
  /** The client has shown that it gets what is sent there. */
  validated = false;
  /** Until then, three times what came is sent. */
  received = 0;
  sent = 0;
  /** What PATH_RESPONSE has to say; undefined while nobody asks. */
  challenge: Buffer | undefined = undefined;
  #challenges = 0;
  /** When another challenge is sent, or it is given up. */
  challengeAt = Number.POSITIVE_INFINITY;
  /** A challenge is to leave. */
  challenges = false;
  readonly marks = new PathMarks();
  /** The ID that the client is sent to here; undefined for none yet, and for the path in use, whose ID is the connection's. */
  peerId: PeerId | undefined = undefined;
  /** Our ID that the client sent to last on this path, a character for a byte. */
  ownId = '';
  /** Challenges of the client that are to be answered. */
  responses: readonly Buffer[] = NONE;

  constructor(peer: Buffer, local: Buffer | undefined) {
    this.peer = keepBytes(peer);
    this.local = local === undefined ? undefined : keepBytes(local);
  }

  get remoteAddress(): SocketAddress {
    this.#remote ??= addressAt(this.peer, 0);
    return this.#remote;
  }

  /** Whether a datagram came on this path. */
  is(peer: Buffer, local: Buffer | undefined): boolean {
    const own = this.local;
    return (
      sameAddress(this.peer, peer) &&
      (local === undefined || own === undefined || (local.length === own.length && sameBytes(own, local, own.length)))
    );
  }

  /** Only the port is another one, as after a translator of addresses has forgotten a connection. */
  sharesAddress(other: Path): boolean {
    const [at, length] = place(this.peer);
    return this.peer[0] === other.peer[0] && this.peer.compare(other.peer, at, at + length, at, at + length) === 0;
  }

  /** How many bytes may be sent before the client has shown that it is there. */
  get allowance(): number {
    return this.validated ? Number.POSITIVE_INFINITY : 3 * this.received - this.sent;
  }

  /** Begins to ask whether the client is there; `timeout` in milliseconds. */
  ask(now: number, timeout: number): void {
    this.challenge = randomFillSync(Buffer.alloc(CHALLENGE));
    this.#challenges = 0;
    this.askAgain(now, timeout);
  }

  /** Asks once more. Returns false when that was done often enough. */
  askAgain(now: number, timeout: number): boolean {
    if (this.#challenges === CHALLENGES) {
      this.challenge = undefined;
      this.challengeAt = Number.POSITIVE_INFINITY;
      return false;
    }
    this.challengeAt = now + timeout * 2 ** this.#challenges++;
    this.challenges = true;
    return true;
  }

  /** The client asks whether the server is there. */
  asked(data: Buffer): void {
    if (this.responses.length < MOST_RESPONSES) {
      this.responses = [...this.responses, Buffer.from(data)];
    }
  }

  /** The challenges that are answered now. */
  takeResponses(): readonly Buffer[] {
    const { responses } = this;
    this.responses = NONE;
    return responses;
  }

  /** Whether PATH_RESPONSE answers the challenge. */
  answers(data: Buffer): boolean {
    if (this.challenge === undefined || !this.challenge.equals(data)) {
      return false;
    }
    this.challenge = undefined;
    this.challenges = false;
    this.challengeAt = Number.POSITIVE_INFINITY;
    this.validated = true;
    return true;
  }
}

const place = (name: Buffer): readonly [number, number] => (name[0] === Family.INET6 ? [8, 16] : [4, 4]);

/** Whether address and port are the same. */
export function sameAddress(a: Buffer, b: Buffer): boolean {
  if (a[2] !== b[2] || a[3] !== b[3] || a[0] !== b[0]) {
    return false;
  }
  const isV6 = a[0] === Family.INET6;
  const end = isV6 ? 24 : 8;
  for (let i = isV6 ? 8 : 4; i < end; i++) {
    if (a[i] !== b[i]) {
      return false;
    }
  }
  return true;
}
