import type { Region } from '../../../shared/net/uring/memory.js';
import type { ServerConnection } from './connection.js';
import type { QuicFrameReader } from './frame-reader.js';
import type { PacketWriter } from './packet-writer.js';
import type { Path } from './path.js';
import type { QuicVersion } from './version.js';

/** What a connection needs of its endpoint. */
export interface QuicConnectionHost {
  readonly reader: QuicFrameReader;
  readonly writer: PacketWriter;
  /** What datagrams are read in, and built in. */
  readonly input: Region;
  readonly output: Region;
  readonly now: number;
  /** IDs are texts, a character for a byte: one that is kept shares its memory with the endpoint's key. */
  newId(connection: ServerConnection): string;
  dropId(id: string): void;
  resetToken(id: string): Buffer;
  newToken(path: Path): Buffer;
  /** The peer says by this token that it has lost the connection; undefined where it has told none. */
  watchReset(connection: ServerConnection, token: Buffer | undefined): void;
  /** Has `flush` called before the tick is over. */
  dirty(connection: ServerConnection): void;
  /** Has `expired` called at {@link ServerConnection.deadline}, which is another one than before. */
  schedule(connection: ServerConnection): void;
  /** The connection is no more. */
  forget(connection: ServerConnection): void;
  /**
   * Sends `length` bytes of the output as datagrams of `segment` bytes, the last of which may be shorter. `marked`: with ECT(0). 0, or a
   * negated error number.
   */
  send(path: Path, from: number, length: number, segment: number, marked: boolean): number;
  localAddress(path: Path): { readonly address?: string | undefined; readonly port?: number | undefined };
}

/** What the first packet of a connection says. */
export interface Beginning {
  readonly version: QuicVersion;
  /** The client's first destination, a character for a byte, and its source. */
  readonly originalDestination: string;
  readonly source: Buffer;
  /** The source of our Retry packet, a character for a byte. */
  readonly retrySource: string | undefined;
  /** A token has shown that the client is at its address. */
  readonly validated: boolean;
}

/** There is no room for a connection. */
export class NoRoom extends Error {}
