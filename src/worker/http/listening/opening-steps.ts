import { ERROR } from '../../../shared/log/level.js';
import { readProxyProtocol } from '../../net/proxy-protocol.js';
import { HelloProgress } from '../../task/tls-terminator.js';
import { CLOSED_BY_PEER } from '../../tls/handshake-failure.js';
import { http2Slot } from '../http2/http2-settings.js';
import { PREFACE } from '../http2-frames/protocol.js';
import { MORE, type OpeningStep, TAKEN } from './opening.js';

/** The header of the PROXY protocol. nginx: a part of ngx_http_wait_request_handler. */
const proxyHeader: OpeningStep = {
  action: 'reading PROXY protocol',
  ofHttp1: false,
  applies: ({ proxyProtocol }) => proxyProtocol,

  read(opening, bytes) {
    const result = readProxyProtocol(bytes);
    if (result.kind === 'more') {
      return MORE;
    }
    if (result.kind === 'invalid') {
      opening.failed(ERROR, result.message);
      opening.socket.close();
      return TAKEN;
    }
    opening.proxyProtocol = result.header;
    return result.size;
  },
};

/** The first byte of a TLS record that holds a hello; SSLv2's has its high bit set. */
const HANDSHAKE = 0x16;

/** Tells TLS from plain HTTP by the first byte. */
const isTls = (first: number): boolean => first === HANDSHAKE || (first & 0x80) !== 0;

/** The handshake of TLS, unless plain HTTP comes in its place. nginx: ngx_http_ssl_handshake. */
const handshake: OpeningStep = {
  action: 'SSL handshaking',
  broken: CLOSED_BY_PEER,
  ofHttp1: false,
  applies: ({ tls }) => tls !== undefined,

  read(opening, bytes) {
    if (!isTls(bytes[0]!)) {
      opening.plainOnTls = true;
      return 0;
    }
    opening.busy();
    opening.hello ??= new HelloProgress();
    opening.handshake = opening.address.tls!.accept(opening.socket, bytes, opening.hello, (result) => {
      if ('message' in result) {
        opening.failed(result.level, result.message);
      } else if (!opening.over) {
        opening.tls = result;
        opening.socket = result.socket;
        opening.next();
      }
    });
    return opening.handshake === undefined && !opening.over ? MORE : TAKEN;
  },

  timedOut: ({ tls }) => tls!.timedOut(),
};

/** The preface of HTTP/2, which HTTP/1 does not begin with. nginx: a part of ngx_http_wait_request_handler. */
const protocol: OpeningStep = {
  action: 'waiting for request',
  ofHttp1: true,
  applies: ({ tls, http2, defaultServer }) => tls === undefined && (http2 || defaultServer.conf(http2Slot).http2 === true),

  read(opening, bytes) {
    const size = Math.min(bytes.length, PREFACE.length);
    if (PREFACE.compare(bytes, 0, size, 0, size) !== 0) {
      return 0;
    }
    if (size < PREFACE.length) {
      return MORE;
    }
    opening.preface = true;
    return size;
  },
};

/** What may come before the first request, in this order. */
export const STEPS: readonly OpeningStep[] = [proxyHeader, handshake, protocol];
