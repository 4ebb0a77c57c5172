import { closeSync } from 'node:fs';
import { needsDescriptor, openDescriptorTo } from '../../shared/net/backend-descriptor.js';
import type { ConnectionHandle } from '../../shared/net/connection-handle.js';
import type { BackendTarget } from '../../shared/net/socket.js';
import { systemError } from '../../shared/net/system-error.js';
import { nativeText } from '../../shared/text/native-text.js';

/** A socket that begins to connect. */
export interface Connecting {
  /** The connection is there, or a negated error number says why not. */
  connectEnded(status: number): void;
}

interface ConnectRequest {
  oncomplete?: (this: ConnectRequest, status: number) => void;
  /** Whose it is. */
  socket?: Connecting;
}

/** libuv's wrapper of a connection to a backend. Calls return a negated errno when they fail. */
export interface ClientHandle extends ConnectionHandle {
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

/** The handle of a connection to a backend that is to be begun. */
export function newHandle({ port }: BackendTarget): ClientHandle {
  const { TCP, Pipe } = bindings();
  return port === 0 ? new Pipe(SOCKET) : new TCP(SOCKET);
}

/** Begins to connect. Returns why that cannot be; otherwise the socket is told what comes of it, after this has returned. */
export function beginToConnect(handle: ClientHandle, target: BackendTarget, socket: Connecting): Error | undefined {
  const prepared = needsDescriptor(target);
  const failure = prepared ? openOn(handle, target) : undefined;
  if (failure !== undefined) {
    return failure;
  }
  const { address, port, keepAlive } = target;
  if (port === 0) {
    const request = requestOf(bindings().PipeConnectWrap, socket);
    return failureOf(handle.connect(request, nativeText(address)) ?? 0, 'connect');
  }
  const ipv6 = address.includes(':');
  const unbound = prepared ? 0 : bindTo(handle, target, ipv6);
  if (unbound !== 0) {
    return systemError(unbound, 'bind');
  }
  if (!prepared) {
    handle.setNoDelay!(true);
  }
  if (keepAlive && !prepared) {
    handle.setKeepAlive!(true, 0);
  }
  const request = requestOf(bindings().TCPConnectWrap, socket);
  return failureOf(ipv6 ? handle.connect6(request, address, port) : handle.connect(request, address, port)!, 'connect');
}

function requestOf(Request: new () => ConnectRequest, socket: Connecting): ConnectRequest {
  const request = new Request();
  request.oncomplete = connectEnded;
  request.socket = socket;
  return request;
}

const failureOf = (error: number, syscall: string): Error | undefined => (error === 0 ? undefined : systemError(error, syscall));

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
