import { CRIT, INFO } from '../../shared/log/level.js';
import { errnoText } from '../../shared/system/errno.js';
import type { TlsFailure } from '../task/tls-terminator.js';

/**
 * Failures that are not worth more than a line of level info, since any client can bring them about: by their OpenSSL words in the form
 * of Node's error codes. nginx: ngx_ssl_connection_error.
 */
const ORDINARY =
  /^ERR_SSL_(?:.*ALERT.*|BAD_CHANGE_CIPHER_SPEC|NO_SUITABLE_KEY_SHARE|BAD_KEY_SHARE|BAD_EXTENSION|BAD_DIGEST_LENGTH|MISSING_SIGALGS_EXTENSION|BAD_PACKET_LENGTH|NO_SUITABLE_SIGNATURE_ALGORITHM|BAD_KEY_UPDATE|BLOCK_CIPHER_PAD_IS_WRONG|CCS_RECEIVED_EARLY|DECODE_ERROR|DATA_BETWEEN_CCS_AND_FINISHED|DATA_LENGTH_TOO_LONG|DIGEST_CHECK_FAILED|ENCRYPTED_LENGTH_TOO_LONG|ERROR_IN_RECEIVED_CIPHER_LIST|EXCESSIVE_MESSAGE_SIZE|GOT_A_FIN_BEFORE_A_CCS|HTTPS_PROXY_REQUEST|HTTP_REQUEST|LENGTH_MISMATCH|LENGTH_TOO_SHORT|NO_RENEGOTIATION|NO_CIPHERS_PASSED|NO_CIPHERS_SPECIFIED|BAD_CIPHER|NO_COMPRESSION_SPECIFIED|NO_SHARED_CIPHER|PACKET_LENGTH_TOO_LONG|RECORD_LENGTH_MISMATCH|CLIENTHELLO_TLSEXT|PARSE_TLSEXT|NO_APPLICATION_PROTOCOL|UNEXPECTED_MESSAGE|UNEXPECTED_RECORD|UNKNOWN_ALERT_TYPE|UNKNOWN_PROTOCOL|UNSUPPORTED_PROTOCOL|WRONG_VERSION_NUMBER|WRONG_SSL_VERSION|BAD_LEGACY_VERSION|DECRYPTION_FAILED_OR_BAD_RECORD_MAC|BAD_ECPOINT|RENEGOTIATE_EXT_TOO_LONG|RENEGOTIATION_ENCODING_ERR|RENEGOTIATION_MISMATCH|UNSAFE_LEGACY_RENEGOTIATION_DISABLED|SCSV_RECEIVED_WHEN_RENEGOTIATING|INAPPROPRIATE_FALLBACK|NO_SHARED_SIGNATURE_ALGORITHMS|CERT_CB_ERROR|VERSION_TOO_LOW|TOO_MANY_WARN_ALERTS|BAD_RECORD_TYPE|UNEXPECTED_EOF_WHILE_READING|APPLICATION_DATA_AFTER_CLOSE_NOTIFY|BINDER_DOES_NOT_VERIFY|MIXED_HANDSHAKE_AND_NON_HANDSHAKE_DATA|RECORD_TOO_SMALL|SSL3_SESSION_ID_TOO_LONG|INVALID_CCS_MESSAGE|EXTRA_DATA_IN_MESSAGE|UNSOLICITED_EXTENSION|CERTIFICATE_VERIFY_FAILED|NO_PROTOCOLS_AVAILABLE|TLSV1_UNRECOGNIZED_NAME|BAD_SIGNATURE|BAD_LENGTH)$/;

/** nginx's words for a client that goes away before the handshake is over. */
export const CLOSED_BY_PEER = 'peer closed connection in SSL handshake';

const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'ENOTCONN', 'ETIMEDOUT', 'ECONNABORTED']);

/** Puts an error of a handshake in nginx's words. */
export function handshakeFailure(error: NodeJS.ErrnoException & { readonly reason?: string }): TlsFailure {
  const code = error.code ?? '';
  if (CLOSED.has(code)) {
    return { level: INFO, message: error.errno === undefined ? CLOSED_BY_PEER : `${CLOSED_BY_PEER} (${errnoText(error.errno)})` };
  }
  // Node: 80DC4BAD:error:0A00041A:SSL routines:ssl3_read_bytes:tlsv1 alert decode error:../deps/FILE.c:1601:SSL alert number 50
  const parts = /(error:[0-9A-F]{8}):([^:]*):[^:]*:([^:]*):[^:]*:\d+:(.*)/.exec(error.message);
  const extra = parts?.[4]?.trim();
  const text = parts === null ? error.message.trim() : `${parts[1]}:${parts[2]}::${parts[3]}${extra ? `:${extra}` : ''}`;
  return { level: ORDINARY.test(code) ? INFO : CRIT, message: `SSL_do_handshake() failed (SSL: ${text})` };
}
