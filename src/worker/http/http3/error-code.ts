import { ERROR_CODE } from '../http2-frames/protocol.js';
import { H3_ERROR } from '../http3-frames/protocol.js';

const codes: { readonly [code: number]: number } = {
  [ERROR_CODE.NO_ERROR]: H3_ERROR.NO_ERROR,
  [ERROR_CODE.PROTOCOL_ERROR]: H3_ERROR.GENERAL_PROTOCOL_ERROR,
  [ERROR_CODE.INTERNAL_ERROR]: H3_ERROR.INTERNAL_ERROR,
  [ERROR_CODE.REFUSED_STREAM]: H3_ERROR.REQUEST_REJECTED,
  [ERROR_CODE.CANCEL]: H3_ERROR.REQUEST_CANCELLED,
  [ERROR_CODE.CONNECT_ERROR]: H3_ERROR.CONNECT_ERROR,
  [ERROR_CODE.ENHANCE_YOUR_CALM]: H3_ERROR.EXCESSIVE_LOAD,
};

/** What HTTP/3 says in place of an error code of HTTP/2 (RFC 9114, A.4); `malformed`: a request was not what its head or the rules say. */
export const errorOf = (code: number, malformed: boolean): number =>
  malformed && code === ERROR_CODE.PROTOCOL_ERROR ? H3_ERROR.MESSAGE_ERROR : (codes[code] ?? H3_ERROR.INTERNAL_ERROR);
