import { ERROR, INFO } from '../../../shared/log/level.js';
import { readProxyProtocol } from '../../net/proxy-protocol.js';
import { runSessionPhases } from './phases.js';
import type { SessionReader, StreamSession } from './session.js';
import { sessionSlot } from './session-settings.js';
import { BAD_REQUEST, STATUS_OK } from './status.js';

/** Waits for the header of the PROXY protocol that comes before all else, and then begins the phases. */
export function readProxyHeader(s: StreamSession): void {
  s.action = 'reading PROXY protocol';
  s.deadline.set(performance.now(), s.server.conf(sessionSlot).proxyProtocolTimeout);
  s.readTo(reader);
}

// nginx: ngx_stream_proxy_protocol_handler.
const reader: SessionReader = {
  received(s, bytes, length) {
    s.hold(bytes, length);
    const result = readProxyProtocol(s.held as Buffer);
    if (result.kind === 'more') {
      return;
    }
    s.deadline.clear();
    if (result.kind === 'invalid') {
      s.log(ERROR, result.message);
      s.finalize(BAD_REQUEST);
      return;
    }
    s.stopReading();
    s.proxyProtocol = result.header;
    s.take(result.size);
    s.action = 'initializing session';
    runSessionPhases(s);
  },
  ended(s) {
    s.log(ERROR, `broken header: "${s.held?.toString('latin1') ?? ''}"`);
    s.finalize(BAD_REQUEST);
  },
  flushed() {},
  expired(s) {
    s.log(INFO, 'client timed out (110: Connection timed out)');
    s.finalize(STATUS_OK);
  },
  // A connection that broke is no bad header.
  broken: (s) => s.finalize(STATUS_OK),
};
