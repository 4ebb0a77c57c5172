import { closeSync } from 'node:fs';
import { needsDescriptor, openDescriptorTo } from '../../shared/net/backend-descriptor.js';
import type { BackendSocket, BackendSocketOwner, BackendTarget } from '../../shared/net/backend-socket.js';
import { type ConnectionHandle, HandleSocket } from '../../shared/net/handle-socket.js';
import { systemError } from '../../shared/net/system-error.js';
import { nativeText } from '../../shared/text/native-text.js';
import { JOIN_LIMIT } from './write-limits.js';

interface ConnectRequest {
  oncomplete?: (this: ConnectRequest, status: number) => void;
  /** Whose it is. */
  socket?: HandleBackendSocket;
}

/** Calls return a negated errno when they fail. */
interface ClientHandle extends ConnectionHandle {
  open(fd: number): number;
  bind(address: string, port: number, flags: number): number;
  bind6(address: string, port: number, flags: number): number;
  connect(request: ConnectRequest, address: string, port?: number): number | undefined;
  connect6(request: ConnectRequest, address: string, port: number): number;
}

interface Bindings {
  readonly TCP: new (type: number) => ClientHandle;
  readonly TCPConnectWrap: new () => ConnectRequest;
  readonly Pipe: new (type: number) => ClientHandle;
  readonly PipeConnectWrap: new () => ConnectRequest;
}

/** `SOCKET`, among the types of both kinds of handles. */
const SOCKET = 0;
const EADDRINUSE = -98;

let loaded: Bindings | undefined;

function bindings(): Bindings {
  if (loaded === undefined) {
    const { binding } = process as unknown as { binding(name: string): Partial<Bindings> };
    loaded = { ...binding('pipe_wrap'), ...binding('tcp_wrap') } as Bindings;
  }
  return loaded;
}

/** All connections of a worker read into this, one after another: whoever keeps bytes copies them. */
const SHARED = Buffer.allocUnsafeSlow(64 * 1024);

/** A connection to a backend. */
export class HandleBackendSocket extends HandleSocket implements BackendSocket {
  readonly #owner: BackendSocketOwner;
  /** What was written while it is to leave together, each piece before its encoding; null at other times. */
  #corked: (string | Buffer)[] | null = null;
  #corks = 0;
  /** The owner waits to be told that all has left. */
  #tells = false;
  /** The handle can be told to read. */
  #readable = false;
  /** The owner wants what the backend sends; false between `pause` and `resume`. */
  #flowing = true;
  #started = false;
  #ended = false;
  #broken = false;

  private constructor(handle: ConnectionHandle, owner: BackendSocketOwner) {
    super(handle);
    this.#owner = owner;
  }

  /** Begins to connect. What comes of it is told to the owner after this has returned. */
  static connect(target: BackendTarget, owner: BackendSocketOwner): HandleBackendSocket {
    const { TCP, TCPConnectWrap, Pipe, PipeConnectWrap } = bindings();
    const { address, port, keepAlive } = target;
    const unix = port === 0;
    const handle = unix ? new Pipe(SOCKET) : new TCP(SOCKET);
    const socket = new HandleBackendSocket(handle, owner);
    const prepared = needsDescriptor(target);
    if (prepared) {
      const failure = openOn(handle, target);
      if (failure !== undefined) {
        socket.#failed(failure);
        return socket;
      }
    }
    if (unix) {
      const request = new PipeConnectWrap();
      request.oncomplete = connectEnded;
      request.socket = socket;
      socket.#begun(handle.connect(request, nativeText(address)) ?? 0, 'connect');
      return socket;
    }
    const ipv6 = address.includes(':');
    const unbound = prepared ? 0 : bindTo(handle, target, ipv6);
    if (unbound !== 0) {
      socket.#begun(unbound, 'bind');
      return socket;
    }
    if (!prepared) {
      handle.setNoDelay!(true);
    }
    if (keepAlive && !prepared) {
      handle.setKeepAlive!(true, 0);
    }
    const request = new TCPConnectWrap();
    request.oncomplete = connectEnded;
    request.socket = socket;
    const error = ipv6 ? handle.connect6(request, address, port) : handle.connect(request, address, port)!;
    socket.#begun(error, 'connect');
    if (error === 0) {
      // Now rather than once it is connected: libuv then asks the kernel twice less for what is to be watched.
      socket.#readable = true;
      socket.resume();
    }
    return socket;
  }

  #begun(error: number, syscall: string): void {
    if (error !== 0) {
      this.#fail(error, syscall);
    }
  }

  /** It is there, or an error number says why not. */
  connectEnded(status: number): void {
    if (this.closed) {
      return;
    }
    if (status < 0) {
      this.close();
      this.#owner.socketFailed(systemError(status, 'connect'));
      return;
    }
    this.#readable = true;
    if (this.#flowing) {
      this.resume();
    }
    this.#owner.socketConnected();
  }

  /** What does not work any more is told after the call that found it out. */
  #fail(errno: number, syscall: string): void {
    this.#failed(systemError(errno, syscall));
  }

  #failed(error: Error): void {
    if (!this.#broken) {
      this.#broken = true;
      process.nextTick(tellFailure, this, error);
    }
  }

  /** Tells the owner, unless that has closed it in the meantime. */
  tellFailure(error: Error): void {
    if (!this.closed) {
      this.close();
      this.#owner.socketFailed(error);
    }
  }

  protected memory(): Buffer {
    return SHARED;
  }

  protected bytesCame(bytes: Buffer, length: number): void {
    this.#owner.socketReceived(bytes, length);
  }

  protected endCame(): void {
    if (!this.#ended) {
      this.#ended = true;
      this.#owner.socketEnded();
    }
  }

  protected failed(errno: number, syscall: string): void {
    this.#fail(errno, syscall);
  }

  protected allSent(): void {
    if (this.#tells) {
      this.#tells = false;
      this.#owner.socketDrained();
    }
  }

  override write(data: string | Buffer): boolean {
    if (this.#broken) {
      return true;
    }
    if (this.#corked !== null) {
      this.#corked.push(data, typeof data === 'string' ? 'latin1' : 'buffer');
      return true;
    }
    return this.#told(super.write(data));
  }

  writeLent(bytes: Buffer, start: number, end: number): boolean {
    if (this.#broken || this.closed) {
      return true;
    }
    if (this.#corked !== null) {
      return this.write(Buffer.from(bytes.subarray(start, end)));
    }
    if (end - start <= JOIN_LIMIT) {
      return this.#told(this.writeCopy('', bytes, start, end, ''));
    }
    const from = start + this.offer(bytes.subarray(start, end));
    return from === end || this.write(Buffer.from(bytes.subarray(from, end)));
  }

  #told(flowing: boolean): boolean {
    if (!flowing) {
      this.#tells = true;
    }
    return flowing;
  }

  override offer(bytes: Buffer): number {
    return this.#broken || this.#corked !== null ? 0 : super.offer(bytes);
  }

  cork(): void {
    if (this.#corks++ === 0) {
      this.#corked = [];
    }
  }

  uncork(): void {
    if (this.#corks === 0 || --this.#corks > 0) {
      return;
    }
    this.#sendCorked();
  }

  #sendCorked(): void {
    const pieces = this.#corked as (string | Buffer)[];
    this.#corked = null;
    if (pieces.length === 2) {
      this.write(pieces[0]!);
    } else if (pieces.length > 2 && !this.#broken && !this.closed) {
      this.#told(this.writePieces(pieces));
    }
  }

  override end(): void {
    if (this.#corked !== null) {
      this.#corks = 0;
      this.#sendCorked();
    }
    super.end();
  }

  get flushed(): boolean {
    return !this.pending && (this.#corked === null || this.#corked.length === 0);
  }

  awaitFlush(): void {
    this.#tells = true;
    if (!this.pending) {
      setImmediate(tellFlushed, this);
    }
  }

  /** Tells the owner, unless it was told or something else was written. */
  tellFlushed(): void {
    if (!this.closed && !this.pending) {
      this.allSent();
    }
  }

  override pause(): void {
    this.#flowing = false;
    super.pause();
  }

  override resume(): void {
    this.#flowing = true;
    if (!this.#readable || this.closed) {
      return;
    }
    if (this.#started) {
      super.resume();
    } else {
      this.#started = true;
      this.startReading();
    }
  }
}

/** Gives a handle a descriptor with all that its target asks for, where libuv cannot do that. */
function openOn(handle: ClientHandle, target: BackendTarget): Error | undefined {
  const fd = openDescriptorTo(target.address, target.port, target);
  if (typeof fd !== 'number') {
    return fd;
  }
  const error = handle.open(fd);
  if (error >= 0) {
    return undefined;
  }
  closeSync(fd);
  return systemError(error, 'connect');
}

/** Binds a socket to the local address that its target asks for. Returns 0, or a negated error number. */
function bindTo(handle: ClientHandle, { localAddress, localPort = 0 }: BackendTarget, ipv6: boolean): number {
  if (localAddress === undefined && localPort === 0) {
    return 0;
  }
  const error = ipv6 ? handle.bind6(localAddress ?? '::', localPort, 0) : handle.bind(localAddress ?? '0.0.0.0', localPort, 0);
  if (error !== 0 || localPort === 0) {
    return error;
  }
  // libuv keeps the error of an address in use for later, but the socket's address tells.
  const bound: { port?: number } = {};
  const unnamed = handle.getsockname!(bound);
  return unnamed === 0 && bound.port === localPort ? 0 : unnamed || EADDRINUSE;
}

function connectEnded(this: ConnectRequest, status: number): void {
  this.socket!.connectEnded(status);
}

const tellFailure = (socket: HandleBackendSocket, error: Error): void => socket.tellFailure(error);
const tellFlushed = (socket: HandleBackendSocket): void => socket.tellFlushed();
