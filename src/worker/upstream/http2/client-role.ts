import { type Http2Role, hasStream, sized } from '../../http/http2-frames/endpoint.js';
import { DEFAULT_FRAME, ERROR_CODE, FLAG, FRAME } from '../../http/http2-frames/protocol.js';
import { backendFaults } from './backend-faults.js';
import { acknowledge, control, tooLong } from './backend-limits.js';
import { dataFrame, dataFrameHead } from './data-frames.js';
import { goawayFrame, rstStreamFrame } from './reset-frames.js';
import { beginSection, continued, section } from './response-sections.js';
import { changeWindows, maySet, roomForAll, roomForStream, setting, settingsTaken } from './settings.js';
import type { SharedConnection } from './shared-connection.js';

/** What a client does with the frames of a backend. nginx: ngx_http_grpc_parse_frame and what it leads to. */
export const clientRole: Http2Role<SharedConnection> = {
  faults: backendFaults,
  control,
  dataHead: dataFrameHead,
  data: dataFrame,
  headersPart() {},
  beginSection,
  continued,
  section,
  priority: (c) => control(c, 'PRIORITY'),
  priorityUpdate: (c) => control(c, 'PRIORITY'),
  rstStream: rstStreamFrame,
  pushPromise: (c) => c.fail(ERROR_CODE.PROTOCOL_ERROR, 'upstream sent unexpected push promise frame'),
  ping,
  goaway: goawayFrame,
  roomForAll,
  roomForStream,
  settingsHeard() {},
  maySet,
  setting,
  changeWindows,
  settingsTaken,
  tooLong,
  unknown(c) {
    if (c.frames.length > DEFAULT_FRAME) {
      tooLong(c);
    } else {
      control(c, 'unknown');
    }
  },
};

function ping(c: SharedConnection): void {
  const { bytes, start, end, flags } = c.frames;
  if (!hasStream(backendFaults, c, 'PING', false) || !sized(backendFaults, c, 'PING', 8)) {
    return;
  }
  if ((flags & FLAG.ACK) !== 0) {
    c.fail(ERROR_CODE.PROTOCOL_ERROR, 'upstream sent ping frame with ack flag');
  } else if (control(c, 'PING') && acknowledge(c, 'PING')) {
    c.output.copy(FRAME.PING, FLAG.ACK, 0, bytes, start, end);
  }
}
