import type { SocketAddress } from './socket.js';

/** What waits for the kernel beyond so many bytes is dropped, as a full socket's buffer would drop it. */
export const MOST_WAITING = 256 * 1024;

/** Takes what comes on a {@link DatagramSocket}. */
export interface DatagramTaker {
  /**
   * A datagram came, in memory of its own; only a socket that is not connected says from where. `local`: to which of the host's addresses,
   * in the form in which a datagram can leave from there and in memory that is used again; undefined where that is not told.
   */
  datagram(bytes: Buffer, address: string, port: number, local: Buffer | undefined): void;
  /** Receiving failed, with this negated error number. */
  receiveFailed(errno: number): void;
}

/** Where datagrams go to, as {@link DatagramSocket.peer} has it. */
export interface DatagramPeer {
  readonly address: string;
  readonly port: number;
  /** The address in the kernel's form, for a socket that needs it. */
  readonly kernel: Buffer | undefined;
  /** From which of the host's addresses; undefined for whichever the kernel takes. */
  readonly local: Buffer | undefined;
}

/** A UDP socket, whichever engine serves it. Numbers that are returned and less than 0 are negated error numbers. */
export interface DatagramSocket {
  /** Where this end is; of several addresses, the one to which a datagram came. */
  local(came?: Buffer): SocketAddress;
  /** Gives what comes to `taker` from now on. */
  receive(taker: DatagramTaker): number;
  /** Leaves what comes with the kernel until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Sends a datagram to the peer of a connected socket. The memory must not change before the kernel has it. */
  send(bytes: Buffer): number;
  /** Sends a datagram from a socket that is not connected, to a {@link peer} of it. */
  sendTo(bytes: Buffer, peer: DatagramPeer): number;
  /** What `sendTo` takes; `local` as a taker was given it. */
  peer(address: string, port: number, local?: Buffer): DatagramPeer;
  close(): void;
}
