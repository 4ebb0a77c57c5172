import type { Region } from '../../shared/net/uring/memory.js';

/** Takes what comes on a {@link UdpSocket}. */
export interface UdpTaker {
  /**
   * The first `length` bytes of the input came from `peer`: one datagram, or several of `segment` bytes, the last of which may be
   * shorter. `local`: where they came to, in the form in which a datagram can leave from there; undefined for the socket's own address.
   * `ecn`: the mark of the IP header. All memory is used again after the call.
   */
  datagrams(length: number, segment: number, peer: Buffer, local: Buffer | undefined, ecn: number): void;
  /** All that came together has been given. */
  batchOver(): void;
}

/** A UDP socket for QUIC. */
export interface UdpSocket {
  /** What comes is put there before the taker is called, and what leaves is taken from there. */
  readonly input: Region;
  readonly output: Region;
  /** Has `batchOver` called in this tick, though nothing may have come. */
  ask(): void;
  /**
   * Sends `length` bytes of the output from `from` on to `peer`, as datagrams of `segment` bytes, the last of which may be shorter.
   * `marked`: with the mark ECT(0) of ECN. Returns 0, or a negated error number.
   */
  send(peer: Buffer, local: Buffer | undefined, from: number, length: number, segment: number, marked: boolean): number;
  /** The address of a `local`, as text; that of the socket for undefined. */
  localAddress(local: Buffer | undefined): { readonly address?: string | undefined; readonly port?: number | undefined };
  /** Reads nothing any more. */
  release(): void;
  /** Nothing leaves any more either. */
  close(): void;
}

/** As many bytes as a datagram, or several that came as one, may have; and what may be built at once. */
export const UDP_ROOM = 128 * 1024;
