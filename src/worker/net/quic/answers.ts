import type { UdpSocket } from '../udp-socket.js';
import { EachSecond } from './each-second.js';
import { Code } from './errors.js';
import type { LongHeader } from './long-header.js';
import { ID_LENGTH } from './routed-ids.js';
import { refusal, retryPacket, statelessReset, versionNegotiation } from './stateless.js';
import type { AddressTokens } from './tokens.js';
import type { QuicVersion } from './version.js';

/** What makes a reset of a packet: it is longer, so that two servers do not answer each other without an end. */
const LEAST_RESET = 43;
/** How many resets leave in a second, at most. */
const MOST_RESETS = 100;

/** What an endpoint sends for which it has no connection. */
export class Answers {
  readonly #socket: UdpSocket;
  readonly #tokens: AddressTokens;
  readonly #resets = new EachSecond(MOST_RESETS);

  constructor(socket: UdpSocket, tokens: AddressTokens) {
    this.#socket = socket;
    this.#tokens = tokens;
  }

  /** Names the versions that are spoken. */
  negotiate(header: LongHeader, peer: Buffer, local: Buffer | undefined): void {
    const { bytes } = this.#socket.input;
    const part = (at: number, length: number): Buffer => bytes.subarray(at, at + length);
    const destination = part(header.destinationAt, header.destinationLength);
    this.#send(versionNegotiation(part(header.sourceAt, header.sourceLength), destination), peer, local);
  }

  /** Has a client show its address, which is to come again to `id`. */
  retry(version: QuicVersion, destination: Buffer, source: Buffer, id: Buffer, peer: Buffer, local: Buffer | undefined): void {
    this.#send(retryPacket(version, destination, source, id, this.#tokens.retry(peer, destination)), peer, local);
  }

  /** Refuses a client because of its token. */
  refuse(version: QuicVersion, destination: Buffer, source: Buffer, reason: string, peer: Buffer, local: Buffer | undefined): void {
    const length = refusal(version, destination, source, Code.INVALID_TOKEN, reason, this.#socket.output);
    this.#socket.send(peer, local, 0, length, length, false);
  }

  /** Tells the sender of the datagram `start..end` that its connection is no more. */
  reset(start: number, end: number, peer: Buffer, local: Buffer | undefined, now: number): void {
    if (end - start < LEAST_RESET || !this.#resets.may(now)) {
      return;
    }
    const id = this.#socket.input.bytes.subarray(start + 1, start + 1 + ID_LENGTH);
    this.#send(statelessReset(this.#tokens.reset(id), end - start), peer, local);
  }

  #send(packet: Buffer, peer: Buffer, local: Buffer | undefined): void {
    this.#socket.output.bytes.set(packet);
    this.#socket.send(peer, local, 0, packet.length, packet.length, false);
  }
}
