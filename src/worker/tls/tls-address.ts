import type { Logger } from '../../shared/log/error-log.js';
import type { Socket } from '../../shared/net/socket.js';
import type { Meter, Meters } from '../../shared/zone/meters.js';
import type { ClientTask } from '../task/client-task.js';
import type { ProtocolRuntime } from '../task/protocol-runtime.js';
import type { LocationSlot, ServerSlot } from '../task/settings-slot.js';
import type { ClientHello } from './client-hello.js';

/** Where a server's handshakes log to, and how they look names up. */
export interface TlsRoot {
  readonly log: Logger;
  conf<C>(slot: LocationSlot<C>): C;
}

/** A server of `http` or `stream`, as far as its handshakes know it. */
export interface TlsServer {
  conf<C>(slot: ServerSlot<C>): C;
  readonly root: TlsRoot;
  /** What counts its handshakes; null: nothing. */
  readonly zone: Meter | null;
  /** What counts those of all servers; null: nothing. */
  readonly meters: Meters | null;
  /** Of `http`: the block, whose handshakes may answer challenges of a CA. */
  readonly http?: ProtocolRuntime;
}

/** The names of ALPN that a server offers. */
export interface OfferedProtocols {
  /** Best first. */
  readonly names: readonly string[];
  /** As they stand in the extension: each behind its length. */
  readonly wire: Buffer;
  /** HTTP/2 is among them. */
  readonly http2: boolean;
}

/** Both ends of a connection. */
export type Ends = Pick<Socket, 'remote' | 'local'>;

/** A listening address of `http` or `stream`, as far as its handshakes know it. */
export interface TlsAddress<S extends TlsServer> {
  readonly defaultServer: S;
  /** No name needs looking up: the default server answers for all. */
  readonly single: boolean;
  /** Some server's name is a regular expression. */
  readonly patterns: boolean;
  find(host: string, task: ClientTask | null): S | undefined;
  /** Undefined: ALPN is not answered. */
  protocols(server: S): OfferedProtocols | undefined;
  /**
   * What variables in the names of certificates are evaluated for, and what keeps the groups of a server name's regular expression: `task`,
   * or something in its place where there is none yet.
   */
  provisional(ends: Ends, hello: ClientHello | undefined, task: ClientTask | undefined): ProvisionalTask<S>;
}

/** A task while its handshake runs; it may stand in for one that begins once that is over. */
export interface ProvisionalTask<S> {
  readonly task: ClientTask;
  /** The handshake's variables are those of this server from now on. */
  use(server: S): void;
}

/** Names of ALPN, best first. */
export function offeredProtocols(names: readonly string[]): OfferedProtocols {
  const wire = Buffer.concat(names.map((name) => Buffer.from([name.length, ...Buffer.from(name, 'latin1')])));
  return { names, wire, http2: names.includes('h2') };
}
