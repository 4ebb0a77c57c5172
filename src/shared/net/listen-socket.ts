// The only file that knows how node:net keeps its listening sockets inside. The master binds and never listens, because a process that
// listens also accepts; workers inherit the bound sockets as descriptors and listen. Node has no public way to do either.
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import net, { type Server } from 'node:net';
import { dirname } from 'node:path';
import { LONGEST_SOCKET_PATH } from '../address/socket-path.js';
import type { ListenSpec } from '../config/configuration.js';
import { fsPath } from '../files/fs-path.js';
import { nativeText } from '../text/native-text.js';
import type { ConnectionHandle } from './connection-handle.js';
import { DatagramHandle } from './datagram-handle.js';
import type { DatagramSocket, DatagramTaker } from './datagram-socket.js';
import { listenKey } from './listen-key.js';
import { bindOneOfSeveral } from './reuseport.js';

/** libuv's wrapper of a TCP or a Unix-domain socket, as far as it is used here. */
export interface SocketHandle {
  readonly fd: number;
  onconnection?: ((status: number, client: (SocketHandle & ConnectionHandle) | undefined) => void) | undefined;
  getsockname?(into: { address?: string; family?: string; port?: number }): number;
  setNoDelay?(on: boolean): number;
  listen(backlog: number): number;
  readStart?(): number;
  readStop?(): number;
  close(): void;
}

interface NetInternals {
  /** Returns a negated errno when it fails. Without an address it adopts the descriptor. */
  _createServerHandle(address: string | null, port: number | null, type: number | null, fd: number, flags?: number): SocketHandle | number;
}

interface ServerInternals {
  _handle: SocketHandle | null;
  _listen2(address: null, port: number, type: number, backlog: number): void;
}

const internals = net as unknown as NetInternals;
const IPV6ONLY = 1;
const EACCES = -13;
const ENOENT = -2;
const ENAMETOOLONG = -36;

/**
 * A listener without options, on a path or on a port that the system chooses: for sluice's own sockets, which no `listen` directive
 * asks for.
 */
export function bareSpec(family: 'ipv4' | 'unix', address: string): ListenSpec {
  const key = family === 'unix' ? `unix:${address}` : `${address}:0`;
  return { key, text: key, family, address, port: 0, backlog: 8, ipv6only: false, reuseport: false, udp: false };
}

/** A socket could not be bound, or could not listen; `errno` is the system's number. */
export class SocketError extends Error {
  readonly errno: number;

  constructor(errno: number) {
    super(`errno ${errno}`);
    this.errno = Math.abs(errno);
  }
}

/** What accepts on a listening socket instead of one of Node's servers. */
export interface ConnectionTaker {
  /** Listens and accepts on the descriptor. Returns 0, or the system's negated error number. */
  open(fd: number, backlog: number): number;
  /** Stops accepting until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Another process than usual accepts on the socket too, or does no longer. */
  share?(on: boolean): void;
  /** Stops for good; the descriptor stays open. */
  close(): void;
}

const takers = new WeakMap<Server, (handle: ConnectionHandle) => void>();

/** Gives a server's connections to `accept` as they are, instead of making a `net.Socket` of each. */
export function takeConnections(server: Server, accept: (handle: ConnectionHandle) => void): void {
  takers.set(server, accept);
}

/** What Node does with a new connection, less its stream. nginx: ngx_event_accept. */
const connectionMaker =
  (accept: (handle: ConnectionHandle) => void): NonNullable<SocketHandle['onconnection']> =>
  (status, client) => {
    if (status < 0 || client === undefined) {
      return;
    }
    client.setNoDelay?.(true);
    accept(client);
  };

/** Takes the datagrams of a listening socket. */
export interface DatagramServer extends DatagramTaker {
  /** What comes on this socket is given to the server from now on. */
  opened(socket: DatagramSocket): void;
  /** Nothing comes any more. The socket still sends, and is the server's to close. */
  released(): void;
}

/** Serves a bound socket of UDP itself. */
export interface HandleServer {
  /** The socket is the server's from now on, to read and to close. */
  opened(handle: DatagramHandle): void;
  /** Nothing new is to be begun. The socket still sends, and is closed by the server. `last`: no other process reads it. */
  released(last: boolean): void;
}

/** One bound address in one process. It belongs to at most one server, which accepts on it from `open` to `close`. */
export class ListenSocket {
  #spec: ListenSpec;
  readonly #handle: SocketHandle;
  #server: Server | undefined;
  #next: Server | undefined;
  /** Accepts in place of a server. */
  #taker: ConnectionTaker | undefined;
  #nextTaker: ConnectionTaker | undefined;
  /** libuv has listened on it, and cannot be made to forget that. */
  #watched = false;
  /** Of UDP. */
  readonly #datagrams: DatagramHandle | undefined;
  /** What serves it, once something does. */
  #served: DatagramSocket | undefined;
  #serve: ((handle: DatagramHandle) => DatagramSocket) | undefined;
  #datagramServer: DatagramServer | undefined;
  #nextDatagramServer: DatagramServer | undefined;
  #handleServer: HandleServer | undefined;
  #nextHandleServer: HandleServer | undefined;

  private constructor(spec: ListenSpec, handle: SocketHandle | DatagramHandle) {
    this.#spec = spec;
    if (handle instanceof DatagramHandle) {
      this.#handle = handle.raw as SocketHandle;
      this.#datagrams = handle;
    } else {
      this.#handle = handle;
      this.#datagrams = undefined;
    }
  }

  /**
   * Binds the address; throws {@link SocketError}. `mode` is that of a Unix-domain socket's file: open to everyone unless told, as
   * in nginx.
   */
  static bind(spec: ListenSpec, mode = 0o666): ListenSocket {
    if (spec.worker !== undefined) {
      const fd = bindOneOfSeveral(spec);
      if (fd < 0) {
        throw new SocketError(fd);
      }
      return ListenSocket.adopt(spec, fd);
    }
    if (spec.udp) {
      return new ListenSocket(spec, checked(DatagramHandle.bind(spec, spec.family === 'ipv6', spec.ipv6only)));
    }
    const handle =
      spec.family === 'unix'
        ? bindPath(spec.address, mode)
        : checked(internals._createServerHandle(spec.address, spec.port, spec.family === 'ipv6' ? 6 : 4, -1, spec.ipv6only ? IPV6ONLY : 0));
    // libuv keeps "address already in use" back until the socket is used.
    const deferred = handle.getsockname?.({}) ?? 0;
    if (deferred < 0) {
      handle.close();
      throw new SocketError(deferred);
    }
    return new ListenSocket(spec, handle);
  }

  /** Takes over a descriptor that was inherited; throws {@link SocketError}. */
  static adopt(spec: ListenSpec, fd: number): ListenSocket {
    return new ListenSocket(spec, spec.udp ? checked(DatagramHandle.adopt(fd)) : adoptDescriptor(fd));
  }

  /** Takes over a socket that another process handed over. */
  static from(spec: ListenSpec, handle: SocketHandle): ListenSocket {
    return new ListenSocket(spec, DatagramHandle.is(handle) ? DatagramHandle.of(handle) : handle);
  }

  get spec(): ListenSpec {
    return this.#spec;
  }

  /** This socket under what a newer configuration says of it. */
  as(spec: ListenSpec): this {
    this.#spec = spec;
    return this;
  }

  get handle(): SocketHandle {
    return this.#handle;
  }

  get fd(): number {
    return this.#handle.fd;
  }

  /**
   * Names the server that gets the connections once the socket is opened; a server that has it now keeps only the connections it
   * accepted. With a `taker`, that accepts instead, unless a server has done so before.
   */
  attach(server: Server, taker?: ConnectionTaker): void {
    this.#next = server;
    this.#nextTaker = this.#watched ? undefined : taker;
  }

  /** Attaches a server to a socket of UDP, which `serve` gives to the engine. */
  attachDatagrams(server: DatagramServer, serve: (handle: DatagramHandle) => DatagramSocket): void {
    this.#nextDatagramServer = server;
    this.#serve = serve;
  }

  /** Names who serves a socket of UDP itself, once it is opened; who does so now has let it go by then. */
  attachHandle(server: HandleServer): void {
    this.#nextHandleServer = server;
  }

  /** Starts accepting. `done` gets the error when that fails, nothing when it works. */
  open(done: (error?: SocketError) => void): void {
    if (this.#datagrams !== undefined) {
      done(this.#receive(this.#datagrams));
      return;
    }
    const server = this.#next as Server;
    const taker = this.#nextTaker;
    if (server === undefined && taker === undefined) {
      done();
      return;
    }
    this.#nextTaker = undefined;
    this.#taker?.close();
    this.#taker = taker;
    if (taker !== undefined) {
      this.#next = undefined;
      const code = taker.open(this.fd, this.#spec.backlog);
      done(code < 0 ? new SocketError(code) : undefined);
      return;
    }
    this.#watched = true;
    const before = this.#server as unknown as ServerInternals | undefined;
    if (before !== undefined) {
      before._handle = null;
    }
    this.#next = undefined;
    this.#server = server;
    const failed = (error: NodeJS.ErrnoException): void => {
      server.off('listening', listening);
      done(new SocketError(error.errno ?? 0));
    };
    const listening = (): void => {
      server.off('error', failed);
      done();
    };
    server.once('error', failed);
    server.once('listening', listening);
    const own = server as unknown as ServerInternals;
    own._handle = this.#handle;
    own._listen2(null, -1, -1, this.#spec.backlog);
    const accept = takers.get(server);
    if (accept !== undefined) {
      this.#handle.onconnection = connectionMaker(accept);
    }
  }

  #receive(handle: DatagramHandle): SocketError | undefined {
    if (this.#nextHandleServer !== undefined) {
      this.#handleServer = this.#nextHandleServer;
      this.#nextHandleServer = undefined;
      this.#handleServer.opened(handle);
      return undefined;
    }
    const server = this.#nextDatagramServer;
    if (server === undefined) {
      return undefined;
    }
    this.#nextDatagramServer = undefined;
    this.#datagramServer = server;
    this.#served ??= this.#serve!(handle);
    server.opened(this.#served);
    const error = this.#served.receive(server);
    return error < 0 ? new SocketError(error) : undefined;
  }

  /**
   * Stops accepting until {@link resume}: connections wait in the backlog. Returns false where libuv does not let it, and for UDP, whose
   * datagrams are mostly of sessions that are there.
   */
  pause(): boolean {
    if (this.#taker !== undefined) {
      this.#taker.pause();
      return true;
    }
    // libuv has no call for that; but a stream that is no longer read is no longer watched, and a socket that was adopted counts as one.
    if (this.#server === undefined || this.#handle.readStart?.() !== 0) {
      return false;
    }
    this.#handle.readStop?.();
    return true;
  }

  /** See {@link ConnectionTaker.share}. */
  share(on: boolean): void {
    this.#taker?.share?.(on);
  }

  /** Accepts again. */
  resume(): void {
    this.#taker?.resume();
    if (this.#server !== undefined) {
      this.#handle.listen(this.#spec.backlog);
    }
  }

  /**
   * Lets go of the socket in this process. The file of a Unix-domain socket goes with it when the socket was bound here. `dropped`: no
   * other process has it. Of several sockets of UDP at an address, it would get its share of datagrams for as long as it is open. `last`:
   * no other process takes it over.
   */
  close(dropped = false, last = dropped): void {
    this.#taker?.close();
    this.#taker = undefined;
    if (this.#handleServer !== undefined) {
      this.#handleServer.released(last);
      this.#handleServer = undefined;
    } else if (this.#datagramServer !== undefined) {
      this.#served!.pause();
      this.#datagramServer.released();
      this.#datagramServer = undefined;
      if (dropped && this.#spec.worker !== undefined) {
        this.#served!.close();
      }
    } else if (this.#server === undefined) {
      this.#handle.close();
    } else {
      this.#server.close();
      this.#server = undefined;
    }
  }
}

/** Makes a handle of an inherited descriptor; throws {@link SocketError}. */
export function adoptDescriptor(fd: number): SocketHandle {
  let handle: SocketHandle | number;
  try {
    handle = internals._createServerHandle(null, null, null, fd);
  } catch {
    // It knows no sockets of UDP.
    return checked(DatagramHandle.adopt(fd)).raw as SocketHandle;
  }
  return checked(handle);
}

/** The address a socket is bound to, in the form of a {@link ListenSpec}'s key; undefined when the system does not tell. */
export function boundKey(handle: SocketHandle): string | undefined {
  const name: { address?: string; family?: string; port?: number } = {};
  if (handle.getsockname === undefined) {
    return unixKey(handle.fd);
  }
  if (handle.getsockname(name) < 0) {
    return undefined;
  }
  const text = name.family === 'IPv6' ? `[${name.address}]:${name.port}` : `${name.address}:${name.port}`;
  return listenKey(text, DatagramHandle.is(handle));
}

function unixKey(fd: number): string | undefined {
  try {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1];
    // Num RefCount Protocol Flags Type St Inode Path
    const line = readFileSync('/proc/net/unix', 'latin1')
      .split('\n')
      .find((entry) => entry.split(/ +/, 7)[6] === inode);
    const path = line === undefined ? undefined : /^(?:\S+ +){6}\d+ (.+)$/.exec(line)?.[1];
    return path === undefined ? undefined : `unix:${path}`;
  } catch {
    return undefined;
  }
}

function bindPath(path: string, mode: number): SocketHandle {
  if (path.length > LONGEST_SOCKET_PATH) {
    // libuv would cut it off, and make a socket elsewhere.
    throw new SocketError(ENAMETOOLONG);
  }
  // Its file has this mode from the first moment: one that is changed later may be another by then.
  const umask = process.umask(0o777 & ~mode);
  let handle: SocketHandle | number;
  try {
    handle = internals._createServerHandle(nativeText(path), -1, -1, -1);
  } finally {
    process.umask(umask);
  }
  if (handle === EACCES && !existsSync(fsPath(dirname(path)))) {
    // libuv reports a missing folder as if access was denied.
    throw new SocketError(ENOENT);
  }
  return checked(handle);
}

function checked<T extends object>(handle: T | number): T {
  if (typeof handle === 'number') {
    throw new SocketError(handle);
  }
  return handle;
}
