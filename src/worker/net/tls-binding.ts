// What Node's ciphers look like from inside, below `TLSSocket`; Node has no public way to them.
import type { X509Certificate } from 'node:crypto';
import { Duplex } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import type { ConnectionHandle } from '../../shared/net/connection-handle.js';
import { type ByteHandle, nodeBinding, type WriteRequest } from '../../shared/net/handle-binding.js';

/** What was agreed on a TLS connection, as Node's native object tells it. */
export interface CipherState {
  getProtocol(): string | null;
  getCipher(): { readonly name: string } | undefined;
  /** The session in DER; of TCP alone. */
  getSession?(): Buffer | undefined;
  /** The session's ID, where that need not be looked for in DER. */
  sessionId?(): Buffer | undefined;
  isSessionReused(): boolean;
  /** Of a client: the key that was agreed on, as far as Node has a name for it. */
  getEphemeralKeyInfo?(): { readonly name?: string } | null;
  getALPNNegotiatedProtocol(): string | false;
  /** The name in the client's hello. */
  getServername(): string | false;
  /** Why the peer's certificate is not trusted; its `code` is OpenSSL's name for it, or `number` its number. */
  verifyError(): (Error & { readonly code: string; readonly number?: number }) | null | undefined;
  /** The peer's certificate, where that is not Node's native one. */
  certificate?(): X509Certificate | undefined;
}

/** What was agreed, as OpenSSL names it and Node does not tell; a name is empty where there is no such thing. */
export interface Agreed {
  /** The group of the key exchange. */
  readonly group: string;
  /** The algorithms by which this end and the other one have signed the handshake. */
  readonly signature: string;
  readonly peerSignature: string;
}

/** The cipher of one of Node's sockets; null once it is closed. */
export function cipherOf(socket: TLSSocket): CipherState | null {
  return (socket as unknown as { readonly _handle: CipherState | null })._handle;
}

/** The certificate of a cipher's peer; undefined when there is none, and once the cipher is gone. */
export function certificateOf(cipher: CipherState | null): X509Certificate | undefined {
  if (cipher?.certificate !== undefined) {
    return cipher.certificate();
  }
  // Node makes no certificate of its native one but in this method, which needs nothing else of a socket.
  const { getPeerX509Certificate } = TLSSocket.prototype;
  return getPeerX509Certificate.call({ _handle: cipher } as unknown as TLSSocket) ?? undefined;
}

/** Node's cipher on top of a connection's handle, of a server or a client. */
export interface CipherHandle extends ByteHandle, CipherState {
  onread: ((this: CipherHandle) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  /** Called on OpenSSL's stack: the cipher must not be destroyed then. May be called again. */
  onhandshakedone: () => void;
  onnewsession: ((id: Buffer, session: Buffer) => void) | undefined;
  /** What node:net and the writers here take for the connection below. */
  _parent?: ConnectionHandle;
  useUserBuffer(buffer: Buffer): void;
  readStart(): number;
  readStop(): number;
  shutdown(request: WriteRequest): number;
  /** Takes bytes as if the connection below had brought them. */
  receive(bytes: Buffer): void;
  setVerifyMode(request: boolean, reject: boolean): void;
  /** Names in the form of the extension: each behind its length. */
  setALPNProtocols(names: Buffer): void;
  setMaxSendFragment(bytes: number): number;
  /** Has `onnewsession` called, and has the hello told first, until the next method. */
  enableSessionCallbacks?(): void;
  /** The hello need not be told. Before Node 26. */
  endParser?(): void;
  /** What goes on after the hello, since Node 26. */
  clientHelloDone?(): void;
  loadSession?(session: Buffer): void;
  newSessionDone(): void;
  /** Absent where a Node has another form of it; so may the sessions' be. */
  setOCSPResponse?(response: Buffer): void;
  /** Of a client: begins the handshake, for which the name of the server is set and the session that may go on. */
  start(): void;
  setServername(name: string): void;
  setSession(session: Buffer): void;
  /** Frees OpenSSL's part; afterwards nothing may be asked any more. */
  destroySSL(): void;
}

interface TlsBinding {
  wrap(...args: unknown[]): CipherHandle;
}

type Wrap = (handle: ConnectionHandle, context: SecureContext, isServer: boolean) => CipherHandle;

let loaded: Wrap | undefined;

/** What puts a cipher on a connection. Throws an Error where this Node does that otherwise. */
export function cipherMaker(): Wrap {
  loaded ??= find();
  return loaded;
}

// With a wrong number of arguments `wrap` ends the process, and the number is not the same in all versions: node:tls shows it.
function find(): Wrap {
  const binding = nodeBinding<TlsBinding>('tls_wrap', 'ciphers');
  const { wrap } = binding;
  let seen: readonly unknown[] = [];
  let made: CipherHandle | undefined;
  binding.wrap = (...args) => {
    seen = args;
    made = wrap(...args);
    return made;
  };
  try {
    new TLSSocket(new Duplex(), { isServer: true }).destroy();
  } finally {
    binding.wrap = wrap;
  }
  const both = ['useUserBuffer', 'receive', 'setALPNProtocols', 'setVerifyMode', 'destroySSL'] as const;
  const servers = ['enableSessionCallbacks', 'loadSession', 'newSessionDone', 'setOCSPResponse'] as const;
  const clients = ['start', 'setServername', 'setSession'] as const;
  const methods = [...both, ...servers, ...clients];
  const whole =
    made !== undefined &&
    methods.every((name) => typeof made?.[name] === 'function') &&
    typeof (made.endParser ?? made.clientHelloDone) === 'function';
  const [, , isServer, ...rest] = seen;
  if (!whole || isServer !== true || rest.some((value) => value !== false)) {
    throw new Error('the ciphers of this Node have another form');
  }
  return (handle, { context }, server) => {
    const cipher = wrap(handle, context, server, ...rest);
    cipher._parent = handle;
    return cipher;
  };
}
