import { INFO } from '../../../shared/log/level.js';
import { type Http2Role, hasStream, sized } from '../http2-frames/endpoint.js';
import { ERROR_CODE, FLAG, FRAME } from '../http2-frames/protocol.js';
import { clientFaults } from './client-faults.js';
import type { Http2Connection } from './connection.js';
import { dataFrame, dataFrameHead } from './data-frames.js';
import { beginSection, lookIntoHeaders, section } from './header-sections.js';
import { priorityFrame, priorityUpdateFrame } from './priority-frames.js';
import { rstStreamFrame } from './reset-frames.js';
import { setting } from './settings.js';
import { changeWindows, roomForAll, roomForStream } from './windows.js';

/** What a server does with the frames of a client. nginx: ngx_http_v2_frame_states. */
export const serverRole: Http2Role<Http2Connection> = {
  faults: clientFaults,
  control: (c) => c.idleFrame(),
  dataHead: dataFrameHead,
  data: dataFrame,
  headersPart: lookIntoHeaders,
  beginSection,
  continued: (c) => c.flood.continued(),
  section,
  priority: priorityFrame,
  priorityUpdate: priorityUpdateFrame,
  rstStream: rstStreamFrame,
  pushPromise,
  ping,
  goaway,
  roomForAll,
  roomForStream,
  settingsHeard(c) {
    c.settingsAcknowledged = true;
  },
  maySet: (c) => c.idleFrame(),
  setting,
  changeWindows,
  settingsTaken() {},
  tooLong,
  unknown(c) {
    c.note(INFO, `client sent frame with unknown type ${c.frames.type}`);
    c.idleFrame();
  },
};

/** Only servers promise. */
function pushPromise(c: Http2Connection): void {
  c.fail(ERROR_CODE.PROTOCOL_ERROR, 'client sent PUSH_PROMISE frame');
}

function tooLong(c: Http2Connection): void {
  const { type, length, streamId } = c.frames;
  if (type === FRAME.PUSH_PROMISE) {
    pushPromise(c);
  } else if (type === FRAME.HEADERS || type === FRAME.CONTINUATION) {
    c.block.streamId = streamId;
    c.fail(ERROR_CODE.ENHANCE_YOUR_CALM, clientFaults.largeSection);
  } else {
    c.fail(ERROR_CODE.FRAME_SIZE_ERROR, `client sent frame of type ${type} with incorrect length ${length}`);
  }
}

function ping(c: Http2Connection): void {
  const { bytes, start, end, flags } = c.frames;
  if (sized(clientFaults, c, 'PING', 8) && hasStream(clientFaults, c, 'PING', false) && c.idleFrame() && (flags & FLAG.ACK) === 0) {
    c.output.copy(FRAME.PING, FLAG.ACK, 0, bytes, start, end);
  }
}

function goaway(c: Http2Connection): void {
  const { length } = c.frames;
  if (length < 8) {
    c.fail(ERROR_CODE.FRAME_SIZE_ERROR, clientFaults.length('GOAWAY', length));
  } else if (hasStream(clientFaults, c, 'GOAWAY', false)) {
    c.idleFrame();
  }
}
