import { INFO } from '../../../shared/log/level.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { StreamServer } from '../../stream/session/runtime.js';
import type { SessionReader, StreamSession } from '../../stream/session/session.js';
import { sessionTlsSlot } from '../../stream/session/session-settings.js';
import { INTERNAL_SERVER_ERROR } from '../../stream/session/status.js';
import { AGAIN, FAILED, OK, type Result } from '../../task/codes.js';
import type { TlsAccepted, TlsFailure, TlsTerminator } from '../../task/tls-terminator.js';
import { CLOSED_BY_PEER } from '../../tls/handshake-failure.js';
import { clientFailure } from '../../tls/request-check.js';

type Terminator = TlsTerminator<StreamServer>;
type Outcome = TlsAccepted<StreamServer> | TlsFailure;

/** Takes TLS off a session's connection, where its address is for TLS. nginx: ngx_stream_ssl_handler. */
export function secure(s: StreamSession): Result {
  const { tls } = s.address;
  if (tls === undefined || s.tls !== undefined) {
    return OK;
  }
  s.action = 'SSL handshaking';
  s.deadline.set(performance.now(), s.server.conf(sessionTlsSlot).handshakeTimeout);
  if (!begin(s, tls)) {
    s.readTo(reader);
  }
  return AGAIN;
}

/** Begins the handshake with what came so far. Returns false when more has to come. */
function begin(s: StreamSession, tls: Terminator): boolean {
  const { held } = s;
  if (held === null) {
    return false;
  }
  const handshake = tls.accept(s.socket, held, (result) => handshaken(s, result), s);
  if (handshake === undefined) {
    return false;
  }
  s.take();
  if (s.tls === undefined && !s.finished) {
    s.handshake = handshake;
  }
  return true;
}

const reader: SessionReader = {
  received(s, bytes, length) {
    if (s.handshake === null) {
      s.hold(bytes, length);
      begin(s, s.address.tls as Terminator);
    }
  },
  ended: gone,
  flushed() {},
  expired: (s) => s.finalize(INTERNAL_SERVER_ERROR),
  broken: gone,
  failed: (s, error) => end(s, ` (${errnoText(error)})`),
};

function gone(s: StreamSession): void {
  end(s, '');
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
