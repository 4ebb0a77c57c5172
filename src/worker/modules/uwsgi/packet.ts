import { ALERT } from '../../../shared/log/level.js';
import type { RequestParams } from '../../cgi/handler.js';
import type { ParamEncoding } from '../../cgi/params.js';
import type { UpstreamRequest } from '../../upstream/exchange/upstream-request.js';

/** The packet's two modifier bytes, and the bytes behind the parameters. */
export interface PacketSettings {
  readonly modifier1: number;
  readonly modifier2: number;
  readonly string: string;
}

/** The longest packet without its head. */
const MAX_SIZE = 65535;

/** A number in two bytes, the low one first. */
const uint16 = (n: number): string => String.fromCharCode(n & 255, (n >> 8) & 255);

/** One parameter. */
export const uwsgiParam: ParamEncoding = {
  before: (name, valueLength) => uint16(name.length) + name + uint16(valueLength),
  after: '',
};

/**
 * All parameters as one packet; undefined, with the reason logged, when they are too long for one. nginx:
 * ngx_http_uwsgi_create_request.
 */
export function uwsgiPacket(u: UpstreamRequest, params: RequestParams, settings: PacketSettings): string | undefined {
  const text = params.text(u) + settings.string;
  if (text.length > MAX_SIZE) {
    u.r.log(ALERT, `uwsgi request is too big: ${text.length}`);
    return undefined;
  }
  return String.fromCharCode(settings.modifier1) + uint16(text.length) + String.fromCharCode(settings.modifier2) + text;
}
