import { DEBUG, ERROR } from '../../../shared/log/level.js';
import { enter, leave } from '../../task/at-work.js';
import { AGAIN, DECLINED, DONE, FAILED, OK, type Result } from '../../task/codes.js';
import { PHASES, PREREAD, type SessionHandler } from './runtime.js';
import type { SessionReader, StreamSession } from './session.js';
import { sessionSlot } from './session-settings.js';
import { BAD_REQUEST, INTERNAL_SERVER_ERROR, STATUS_OK } from './status.js';

/**
 * Goes through the phases from where the session stands, until it is over or something has to be waited for. `code` is what the
 * handler said that let it wait. nginx: ngx_stream_core_run_phases.
 */
export function runSessionPhases(s: StreamSession, code?: Result): void {
  if (s.finished) {
    return;
  }
  const before = enter(s);
  let said = code;
  while (s.phase < PHASES.length) {
    const handlers = s.server.phases[s.phase]!;
    if (s.step >= handlers.length && said === undefined) {
      s.phase++;
      s.step = 0;
      continue;
    }
    const rc = said ?? (s.phase === PREREAD ? preread(s, handlers[s.step]!) : generic(s, handlers[s.step]!));
    said = undefined;
    if (!proceed(s, rc)) {
      leave(before);
      return;
    }
  }
  content(s);
  leave(before);
}

function generic(s: StreamSession, handler: SessionHandler): Result {
  if (s.debugging) {
    s.log(DEBUG, `generic phase: ${s.phase}`);
  }
  return handler(s);
}

/** Acts on what a handler said. Returns false when the phases do not go on. nginx: ngx_stream_core_generic_phase. */
function proceed(s: StreamSession, rc: Result): boolean {
  if (rc === OK) {
    s.phase++;
    s.step = 0;
    return true;
  }
  if (rc === DECLINED) {
    s.step++;
    return true;
  }
  if (rc !== AGAIN && rc !== DONE) {
    s.finalize(rc === FAILED ? INTERNAL_SERVER_ERROR : rc);
  }
  return false;
}

// nginx: ngx_stream_core_content_phase.
function content(s: StreamSession): void {
  s.action = undefined;
  const { handler } = s.server;
  if (handler === undefined) {
    s.finalize(INTERNAL_SERVER_ERROR);
    return;
  }
  const rc = handler(s);
  if (rc >= STATUS_OK || rc === FAILED) {
    s.finalize(rc === FAILED ? INTERNAL_SERVER_ERROR : rc);
  }
}

/** Lets a handler see what the client sends before anything is done with it. nginx: ngx_stream_core_preread_phase. */
function preread(s: StreamSession, handler: SessionHandler): Result {
  s.action = 'prereading client data';
  const rc = handler(s);
  if (rc !== AGAIN) {
    s.deadline.clear();
    s.stopReading();
    return rc;
  }
  const { prereadBufferSize, prereadTimeout } = s.server.conf(sessionSlot);
  if ((s.held?.length ?? 0) >= prereadBufferSize) {
    s.log(ERROR, 'preread buffer full');
    return BAD_REQUEST;
  }
  if (s.ended) {
    return STATUS_OK;
  }
  if (!s.deadline.pending) {
    s.deadline.set(performance.now(), prereadTimeout);
  }
  s.prereads = true;
  s.readTo(prereading);
  return AGAIN;
}

const prereading: SessionReader = {
  received(s, bytes, length) {
    s.hold(bytes, length);
    runSessionPhases(s);
  },
  ended(s) {
    runSessionPhases(s);
  },
  flushed() {},
  expired: (s) => s.finalize(STATUS_OK),
  broken: (s) => s.finalize(STATUS_OK),
};
