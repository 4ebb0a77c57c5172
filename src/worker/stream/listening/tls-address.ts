import type { ClientHello } from '../../tls/client-hello.js';
import type { Ends, OfferedProtocols, ProvisionalTask, TlsAddress } from '../../tls/tls-address.js';
import type { StreamAddress, StreamServer } from '../session/runtime.js';
import type { StreamSession } from '../session/session.js';
import { sessionTlsSlot } from '../session/session-settings.js';

/** A listening address of `stream` for its handshakes. */
export class StreamTlsAddress implements TlsAddress<StreamServer> {
  readonly #address: StreamAddress;
  readonly single: boolean;
  // Names are looked up for a session, which is always there.
  readonly patterns = true;

  constructor(address: StreamAddress, single: boolean) {
    this.#address = address;
    this.single = single;
  }

  get defaultServer(): StreamServer {
    return this.#address.defaultServer;
  }

  find(host: string, task: StreamSession): StreamServer | undefined {
    return this.#address.find(host, task);
  }

  protocols(server: StreamServer): OfferedProtocols | undefined {
    return server.conf(sessionTlsSlot).alpn;
  }

  provisional(_ends: Ends, hello: ClientHello | undefined, task: StreamSession): ProvisionalTask<StreamServer> {
    task.sni = hello?.serverName;
    return {
      task,
      use(server) {
        task.server = server;
      },
    };
  }
}
