import { INFO } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { StreamServer } from '../../stream/session/runtime.js';
import type { SessionReader, StreamSession } from '../../stream/session/session.js';
import { sessionTlsSlot } from '../../stream/session/session-settings.js';
import { INTERNAL_SERVER_ERROR } from '../../stream/session/status.js';
import { AGAIN, FAILED, OK, type Result } from '../../task/codes.js';
import { HelloProgress, type TlsAccepted, type TlsFailure, type TlsTerminator } from '../../task/tls-terminator.js';
import { CLOSED_BY_PEER } from '../../tls/handshake-failure.js';
import { clientFailure } from '../../tls/request-check.js';

type Outcome = TlsAccepted<StreamServer> | TlsFailure;

/** Takes TLS off a session's connection, where its address is for TLS. nginx: ngx_stream_ssl_handler. */
export function secure(s: StreamSession): Result {
  const { tls } = s.address;
  if (tls === undefined || s.tls !== undefined) {
    return OK;
  }
  s.action = 'SSL handshaking';
  s.deadline.set(performance.now(), s.server.conf(sessionTlsSlot).handshakeTimeout);
  const hello = new HelloReader(tls);
  if (!hello.begin(s)) {
    s.readTo(hello);
  }
  return AGAIN;
}

/** Waits until a client's hello is whole. */
class HelloReader implements SessionReader {
  readonly #tls: TlsTerminator<StreamServer>;
  readonly #progress = new HelloProgress();

  constructor(tls: TlsTerminator<StreamServer>) {
    this.#tls = tls;
  }

  /** Begins the handshake with what came so far. Returns false when more has to come. */
  begin(s: StreamSession): boolean {
    const { held } = s;
    if (held === null) {
      return false;
    }
    const handshake = this.#tls.accept(s.socket, held, this.#progress, (result) => handshaken(s, result), s);
    if (handshake === undefined) {
      return false;
    }
    s.take();
    if (s.tls === undefined && !s.finished) {
      s.handshake = handshake;
    }
    return true;
  }

  received(s: StreamSession, bytes: Buffer, length: number): void {
    if (s.handshake === null) {
      s.hold(bytes, length);
      this.begin(s);
    }
  }

  ended(s: StreamSession): void {
    end(s, '');
  }

  flushed(): void {}

  expired(s: StreamSession): void {
    s.finalize(INTERNAL_SERVER_ERROR);
  }

  broken(s: StreamSession): void {
    end(s, '');
  }

  failed(s: StreamSession, error: Error): void {
    end(s, ` (${errnoText(error)})`);
  }
}

function end(s: StreamSession, reason: string): void {
  s.log(INFO, `${CLOSED_BY_PEER}${reason}`);
  s.finalize(INTERNAL_SERVER_ERROR);
}

function handshaken(s: StreamSession, result: Outcome): void {
  if (s.finished) {
    if (!('message' in result)) {
      result.socket.close();
    }
    return;
  }
  s.deadline.clear();
  if ('message' in result) {
    s.log(result.level, result.message);
    s.finalize(INTERNAL_SERVER_ERROR);
    return;
  }
  const { socket, peer, server } = result;
  s.handshake = null;
  s.tls = peer;
  s.sni = peer.sni;
  s.server = server;
  s.useSocket(socket);
  // OpenSSL has yet to send its tickets, which go before all else.
  setImmediate(checkClient, s);
}

function checkClient(s: StreamSession): void {
  const failure = clientFailure(s, s.server);
  if (failure !== undefined) {
    s.log(INFO, failure.message);
  }
  s.resume(failure === undefined ? OK : FAILED);
}
