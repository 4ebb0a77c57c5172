import { DEFAULT_FRAME, DEFAULT_WINDOW, ERROR_CODE, FRAME, MAX_FRAME, MAX_WINDOW, SETTING } from '../http2-frames/protocol.js';
import { writeSettings as sendAll } from '../http2-frames/settings.js';
import type { Http2Connection } from './connection.js';
import { http2Slot } from './http2-settings.js';

/** Says what the server takes. nginx: ngx_http_v2_send_settings. */
export function sendSettings(c: Http2Connection): void {
  const settings = c.server.conf(http2Slot);
  const { output } = c;
  sendAll(output, [
    [SETTING.MAX_CONCURRENT_STREAMS, settings.http2MaxConcurrentStreams],
    [SETTING.INITIAL_WINDOW_SIZE, settings.http2BodyPrereadSize],
    [SETTING.MAX_FRAME_SIZE, MAX_FRAME],
    [SETTING.ENABLE_CONNECT_PROTOCOL, 1],
  ]);
  output.numbers(FRAME.WINDOW_UPDATE, 0, MAX_WINDOW - DEFAULT_WINDOW);
}

/** Takes one parameter of what the client says that it takes; false if that ended the connection. */
export function setting(c: Http2Connection, id: number, value: number): boolean {
  const { head } = c.sending;
  switch (id) {
    case SETTING.INITIAL_WINDOW_SIZE:
      return value <= MAX_WINDOW || wrong(c, ERROR_CODE.FLOW_CONTROL_ERROR, 'INITIAL_WINDOW_SIZE', value);
    case SETTING.MAX_FRAME_SIZE:
      if (value > MAX_FRAME || value < DEFAULT_FRAME) {
        return wrong(c, ERROR_CODE.PROTOCOL_ERROR, 'MAX_FRAME_SIZE', value);
      }
      head.longest = value;
      return true;
    case SETTING.ENABLE_PUSH:
      return value <= 1 || wrong(c, ERROR_CODE.PROTOCOL_ERROR, 'ENABLE_PUSH', value);
    case SETTING.HEADER_TABLE_SIZE:
      head.encoder.resize(value);
      return true;
    default:
      return true;
  }
}

function wrong(c: Http2Connection, code: number, name: string, value: number): false {
  c.fail(code, `client sent SETTINGS frame with incorrect ${name} value ${value}`);
  return false;
}
