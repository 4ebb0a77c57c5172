// What Node's ciphers look like from inside, below `TLSSocket`; Node has no public way to them. A Node that makes them otherwise gives
// null, and callers use its sockets instead.
import { Duplex } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import type { ConnectionHandle } from './plain-stream.js';
import { type StreamHandle, streamBinding, type WriteRequest } from './stream-binding.js';

/** What was agreed on a TLS connection, as Node's native object tells it. */
export interface CipherState {
  getProtocol(): string | null;
  getCipher(): { readonly name: string } | undefined;
  /** The session in DER. */
  getSession(): Buffer | undefined;
  isSessionReused(): boolean;
  getALPNNegotiatedProtocol(): string | false;
  /** The name in the client's hello. */
  getServername(): string | false;
  /** Why the peer's certificate is not trusted; its `code` is OpenSSL's name for it. */
  verifyError(): (Error & { readonly code: string }) | null | undefined;
}

/** The cipher of one of Node's sockets; null once it is closed. */
export function cipherOf(socket: TLSSocket): CipherState | null {
  return (socket as unknown as { readonly _handle: CipherState | null })._handle;
}

/** Node's cipher on top of a connection's handle. */
export interface CipherHandle extends StreamHandle, CipherState {
  onread: ((this: CipherHandle) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  /** Called on OpenSSL's stack: the cipher must not be destroyed then. May be called again. */
  onhandshakedone: (() => void) | undefined;
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
  /** Has `onnewsession` called, and reads the hello first, until `endParser`. */
  enableSessionCallbacks(): void;
  endParser(): void;
  loadSession(session: Buffer): void;
  newSessionDone(): void;
  setOCSPResponse(response: Buffer): void;
  /** Frees OpenSSL's part; afterwards nothing may be asked any more. */
  destroySSL(): void;
}

interface TlsBinding {
  wrap(...args: unknown[]): CipherHandle;
}

type Wrap = (handle: ConnectionHandle, context: SecureContext) => CipherHandle;

let loaded: Wrap | null | undefined;

/** What puts a server's cipher on a connection, or null where this Node does that otherwise. */
export function cipherMaker(): Wrap | null {
  if (loaded === undefined) {
    try {
      loaded = streamBinding() === null ? null : find();
    } catch {
      loaded = null;
    }
  }
  return loaded;
}

// With a wrong number of arguments `wrap` ends the process, and the number is not the same in all versions: node:tls shows it.
function find(): Wrap | null {
  const binding = (process as unknown as { binding(name: string): TlsBinding }).binding('tls_wrap');
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
  const methods = ['useUserBuffer', 'receive', 'setALPNProtocols', 'enableSessionCallbacks', 'setOCSPResponse', 'destroySSL'] as const;
  const whole = made !== undefined && methods.every((name) => typeof made?.[name] === 'function');
  const [, , isServer, ...rest] = seen;
  if (!whole || isServer !== true || rest.some((value) => value !== false)) {
    return null;
  }
  return (handle, { context }) => {
    const cipher = wrap(handle, context, true, ...rest);
    cipher._parent = handle;
    return cipher;
  };
}
