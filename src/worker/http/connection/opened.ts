import type { SocketAddress } from '../../../shared/net/socket.js';
import type { ProxyProtocolHeader } from '../../net/proxy-protocol.js';
import type { TlsConnection } from '../../task/client.js';
import type { Deadline } from '../../time/deadline.js';
import type { HttpTlsAccepted } from '../request/address-runtime.js';

/** What is known once the opening is over. */
export interface Opened {
  readonly tls: HttpTlsAccepted | undefined;
  readonly proxyProtocol: ProxyProtocolHeader | undefined;
  /** Who was at the other end of TLS that a listener of `stream` took off. */
  readonly passedTls?: TlsConnection | undefined;
  /** Plain HTTP came where TLS was expected: every request is answered with 497. */
  readonly plainOnTls: boolean;
  /** What ran out if the opening took too long, to go on with; a timer for each would cost as much again. */
  readonly deadline?: Deadline;
  /** Both ends, where they were asked for before: afterwards the client may have gone. */
  readonly remote?: SocketAddress;
  readonly local?: SocketAddress;
}
