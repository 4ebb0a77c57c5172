import type { Socket } from '../../shared/net/socket.js';
import type { ClientTask } from '../task/client-task.js';
import type { Handshaking, HelloProgress, TlsDone, TlsTerminator } from '../task/tls-terminator.js';
import { readClientHello } from './client-hello.js';
import { counted, countTimeout } from './count-handshakes.js';
import { DirectHandshake } from './direct-handshake.js';
import type { TlsAddress, TlsServer } from './tls-address.js';

/** Runs the handshakes of one address. nginx: ngx_http_ssl_handshake, ngx_http_ssl_servername. */
export class AddressHandshakes<S extends TlsServer> implements TlsTerminator<S> {
  readonly #address: () => TlsAddress<S>;

  /** The address is asked for once connections come: it holds this object. */
  constructor(address: () => TlsAddress<S>) {
    this.#address = address;
  }

  timedOut(): void {
    countTimeout(this.#address().defaultServer);
  }

  accept(socket: Socket, bytes: Buffer, progress: HelloProgress, done: TlsDone<S>, task?: ClientTask): Handshaking | undefined {
    const hello = readClientHello(bytes, progress);
    if (hello === 'more') {
      return undefined;
    }
    const address = this.#address();
    const handshake = new DirectHandshake(socket, counted(address, done));
    handshake.begin(address, hello === 'unknown' ? undefined : hello, bytes, task);
    return handshake;
  }
}
