import type { TLSSocket, Server as TlsServer } from 'node:tls';
import type { ClientHello } from './client-hello.js';
import type { ServerTls } from './server-tls.js';

/** node:tls's internals that a handshake needs beyond its documented interface. */
interface NativeHandle {
  loadSession(session: Buffer): void;
}

/** The session that a client wants to go on with, if it is known here. */
export function sessionFor(tls: ServerTls, hello: ClientHello | undefined): Buffer | undefined {
  const { sessions } = tls;
  if (sessions === undefined || hello === undefined) {
    return undefined;
  }
  const ids = tls.agreesOn13(hello) ? hello.identities : [hello.sessionId];
  for (const id of ids) {
    const session = id.length === 0 ? undefined : sessions.get(id);
    if (session !== undefined) {
      return session;
    }
  }
  return undefined;
}

const NO_CERTIFICATES = { context: { getCertificate: () => null, getIssuer: () => null } };

/**
 * Stands where node:tls expects the server of an accepted socket, and answers what it asks about sessions and stapled responses. One for
 * each handshake: a session of TLS 1.3 is named in the hello in a way that node:tls does not read.
 */
export class HandshakeServer {
  /** node:tls passes these certificates on with `OCSPRequest`; they need not be made for that. */
  readonly _sharedCreds = NO_CERTIFICATES;
  readonly #tls: ServerTls;
  readonly #hello: ClientHello | undefined;
  #socket: TLSSocket | undefined;

  constructor(tls: ServerTls, hello: ClientHello | undefined) {
    this.#tls = tls;
    this.#hello = hello;
  }

  /** Itself, in the type that node:tls declares. */
  get asServer(): TlsServer {
    return this as unknown as TlsServer;
  }

  /** Names the socket, and gives it the session that its client wants to go on with. */
  begin(socket: TLSSocket): void {
    this.#socket = socket;
    const session = sessionFor(this.#tls, this.#hello);
    if (session !== undefined) {
      (socket as unknown as { _handle: NativeHandle | null })._handle?.loadSession(session);
    }
  }

  /** node:tls asks which events have listeners. */
  listenerCount(event: string): number {
    if (event === 'newSession' || event === 'resumeSession') {
      return this.#tls.sessions === undefined ? 0 : 1;
    }
    return event === 'OCSPRequest' && this.#tls.staples ? 1 : 0;
  }

  /** node:tls tells what happens. */
  emit(event: string, first: unknown, second: unknown, third: unknown): boolean {
    if (event === 'newSession') {
      this.#keep(first as Buffer, second as Buffer, third as () => void);
      return true;
    }
    if (event === 'resumeSession') {
      (second as (error: null, session: null) => void)(null, null);
      return true;
    }
    if (event === 'OCSPRequest') {
      (third as (error: null, response: Buffer | null) => void)(null, this.#tls.stapleFor(this.#hello) ?? null);
      return true;
    }
    return false;
  }

  // nginx: ngx_ssl_new_session. A session of TLS 1.3 that is in a ticket is told of, but not resumed from here. The client hears of a
  // session once it is stored, since its next connection may come to another worker.
  #keep(id: Buffer, session: Buffer, done: () => void): void {
    const { sessions, settings } = this.#tls;
    if (sessions === undefined || (settings.sessionTickets && this.#socket?.getProtocol() === 'TLSv1.3')) {
      done();
    } else {
      sessions.put(id, session, settings.sessionTimeout, done);
    }
  }
}
