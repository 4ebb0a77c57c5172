import { INFO } from '../../shared/log/level.js';
import type { Socket, SocketOwner } from '../../shared/net/socket.js';
import { network } from '../net/engine/network.js';
import type { HandshakeOwner, SecureSocket } from '../net/secure-socket.js';
import type { CipherHandle } from '../net/tls-binding.js';
import type { ClientTask } from '../task/client-task.js';
import type { Handshaking, TlsAccepted, TlsDone, TlsFailure } from '../task/tls-terminator.js';
import type { ClientHello } from './client-hello.js';
import { checkStatus } from './client-status.js';
import { CHALLENGE_ANSWERED, type Choice, choose } from './handshake-choice.js';
import { CLOSED_BY_PEER, handshakeFailure } from './handshake-failure.js';
import type { HandshakeDecision, HandshakeWait } from './handshake-hooks.js';
import { TlsPeer } from './peer.js';
import type { ServerTls } from './server-tls.js';
import type { TlsAddress, TlsServer } from './tls-address.js';

/** The session that a client wants to go on with, if it is known here. */
function sessionFor(tls: ServerTls, hello: ClientHello | undefined): Buffer | undefined {
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

/** A handshake: what is not configured costs no call of OpenSSL into JavaScript. */
export class DirectHandshake<S extends TlsServer> implements HandshakeOwner, Handshaking, SocketOwner {
  readonly #plain: Socket;
  readonly #done: TlsDone<S>;
  #choice!: Choice<S>;
  #hello: ClientHello | undefined;
  #socket: SecureSocket | undefined = undefined;
  #ended = false;
  #refused = false;
  #closing = false;
  #cancel: (() => void) | undefined = undefined;
  /** What has come of the client while a decision about its hello is waited for. */
  #held: Buffer | undefined = undefined;

  constructor(plain: Socket, done: TlsDone<S>) {
    this.#plain = plain;
    this.#done = done;
  }

  /** `bytes` are what the client sent so far. */
  begin(
    address: TlsAddress<S>,
    hello: ClientHello | undefined,
    bytes: Buffer,
    task: ClientTask | undefined,
    decision?: HandshakeDecision,
  ): void {
    const plain = this.#plain;
    const choice = choose(address, plain, hello, task, decision);
    if ('wait' in choice) {
      this.#wait(choice, bytes, (decided, held) => this.begin(address, hello, held, task, decided));
      return;
    }
    if ('alert' in choice) {
      plain.write(choice.alert);
      this.#refused = true;
      this.#end(choice.failure);
      this.close();
      return;
    }
    this.#choice = choice;
    this.#hello = hello;
    const early = hello?.earlyData && network.readsEarly(plain) ? choice.tls.earlyContext(choice.context, hello) : undefined;
    const socket = early === undefined ? network.secure(plain, choice.context, this) : network.secureEarly(plain, early, this);
    this.#socket = socket;
    const cipher = socket.cipher as CipherHandle;
    if (choice.protocols !== undefined) {
      cipher.setALPNProtocols(choice.protocols.wire);
    }
    if (choice.verify) {
      cipher.setVerifyMode(true, false);
    }
    const response = choice.tls.staples && !choice.given && hello?.wantsStatus ? choice.tls.stapleFor(hello) : undefined;
    if (response !== undefined) {
      cipher.setOCSPResponse?.(response);
    }
    if (early !== undefined && 'beginEarly' in socket) {
      socket.beginEarly(bytes);
      return;
    }
    this.#sessions(cipher);
    socket.receive(bytes);
  }

  /** Holds what the client sends until its hello was decided about. */
  #wait(wait: HandshakeWait, bytes: Buffer, then: (decision: HandshakeDecision, held: Buffer) => void): void {
    const plain = this.#plain;
    this.#held = Buffer.from(bytes);
    plain.start(this);
    plain.pause();
    this.#cancel = wait.wait((decision) => {
      const held = this.#held;
      if (this.#ended || held === undefined) {
        return;
      }
      this.#held = undefined;
      this.#cancel = undefined;
      plain.resume();
      then(decision, held);
    });
  }

  // --- the client's connection, while a decision is waited for

  socketReceived(bytes: Buffer, length: number): void {
    if (this.#held !== undefined) {
      this.#held = Buffer.concat([this.#held, bytes.subarray(0, length)]);
    }
  }

  socketEnded(): void {
    if (this.#held !== undefined) {
      this.#end({ level: INFO, message: CLOSED_BY_PEER });
      this.#plain.close();
    }
  }

  socketClosed(): void {
    if (this.#held !== undefined) {
      this.#end({ level: INFO, message: CLOSED_BY_PEER });
    }
  }

  socketDrained(): void {}

  // nginx: ngx_ssl_new_session.
  #sessions(cipher: CipherHandle): void {
    const { tls } = this.#choice;
    const { sessions, settings } = tls;
    if (sessions === undefined) {
      return;
    }
    const session = sessionFor(tls, this.#hello);
    if (session !== undefined) {
      cipher.loadSession?.(session);
    }
    // A session of TLS 1.3 that is in a ticket is told of, but not resumed from here.
    if (settings.sessionTickets && tls.agreesOn13(this.#hello)) {
      return;
    }
    cipher.onnewsession = (id, der) => {
      const tickets = settings.sessionTickets && cipher.getProtocol() === 'TLSv1.3';
      const done = (): void => this.#socket?.sessionStored();
      // The client hears of a session once it is stored, since its next connection may come to another worker.
      if (tickets) {
        done();
      } else {
        sessions.put(id, der, settings.sessionTimeout, done);
      }
    };
    cipher.enableSessionCallbacks?.();
    // The hello has been read: Node need not read it, too.
    (cipher.endParser ?? cipher.clientHelloDone)?.call(cipher);
  }

  handshakeDone(): void {
    const { tls, server, serverName, maxFragment } = this.#choice;
    const socket = this.#socket as SecureSocket;
    if (this.#choice.challenge) {
      this.#end(CHALLENGE_ANSWERED);
      socket.close();
      return;
    }
    if (maxFragment > 0) {
      socket.limitRecords(maxFragment);
    }
    const peer = new TlsPeer(socket, this.#hello, tls);
    const http2 = this.#choice.protocols?.http2 === true && socket.cipher?.getALPNNegotiatedProtocol() === 'h2';
    const accepted: TlsAccepted<S> = { socket, peer, server, serverName, http2 };
    const rules = tls.statusRules;
    if (rules === undefined || peer.failure !== null || peer.certificate === null) {
      this.#end(accepted);
      return;
    }
    socket.pause();
    this.#cancel = checkStatus(peer.certificate, rules, server.root, (verdict) => {
      peer.status = verdict;
      socket.resume();
      this.#end(accepted);
    });
  }

  handshakeFailed(error: Error | undefined): void {
    this.#end(error === undefined ? { level: INFO, message: CLOSED_BY_PEER } : handshakeFailure(error));
    this.#socket?.close();
  }

  close(): void {
    this.#ended = true;
    this.#cancel?.();
    if (this.#refused) {
      // The client is to read why.
      if (!this.#closing) {
        this.#closing = true;
        this.#plain.closeSoon();
      }
      return;
    }
    (this.#socket ?? this.#plain).close();
  }

  #end(result: TlsAccepted<S> | TlsFailure): void {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#cancel?.();
    this.#done(result);
  }
}
