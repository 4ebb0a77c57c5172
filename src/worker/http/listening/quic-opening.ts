import { INFO } from '../../../shared/log/level.js';
import type { LogContext, LogSubject } from '../../../shared/log/log-line.js';
import type { HeldConnection } from '../../connections/held-list.js';
import type { QuicConnection, QuicConnectionHandler } from '../../net/quic/contract.js';
import type { QuicChoice, QuicClient, QuicEnds, QuicKillable, QuicRefusal } from '../../net/quic/host.js';
import { readHelloMessage } from '../../tls/client-hello.js';
import { countFailure, countHandshake, countTimeout } from '../../tls/count-handshakes.js';
import { chooseQuic } from '../../tls/handshake-choice.js';
import { TlsPeer } from '../../tls/peer.js';
import type { KnownOpening } from '../connection/known-client.js';
import { http3Slot } from '../http3/http3-settings.js';
import type { AddressRuntime } from '../request/address-runtime.js';
import type { ServerRuntime } from '../request/http-runtime.js';
import type { HttpTlsAddress } from './tls-address.js';

const DECODE_ERROR = 50;

/** Who counts openings, and takes what they come to. */
export interface QuicOpeningOwner {
  /** Goes on after the handshake, or with early data, for a connection that `opening` stood for. */
  serve(connection: QuicConnection, opening: QuicOpening, known: KnownOpening): QuicConnectionHandler;
  failed(opening: QuicOpening): void;
}

/** The protocol that a server has in common with a client; empty for none. nginx: ngx_http_ssl_alpn_select. */
function protocolOf(server: ServerRuntime, offered: readonly string[]): string {
  const settings = server.conf(http3Slot);
  if (settings.http3 && offered.includes('h3')) {
    return 'h3';
  }
  return settings.http3Hq && offered.includes('hq-interop') ? 'hq-interop' : '';
}

/** A connection of QUIC until its handshake is over. */
export class QuicOpening implements QuicClient, HeldConnection, LogSubject {
  heldAt = -1;
  readonly udp = true;
  readonly connectionId: number;
  readonly address: AddressRuntime;
  readonly #tls: HttpTlsAddress;
  readonly #owner: QuicOpeningOwner;
  readonly #connection: QuicKillable;
  #client = '';
  #over = false;

  constructor(address: AddressRuntime, tls: HttpTlsAddress, id: number, owner: QuicOpeningOwner, connection: QuicKillable) {
    this.address = address;
    this.connectionId = id;
    this.#tls = tls;
    this.#owner = owner;
    this.#connection = connection;
  }

  logContext(): LogContext {
    return { action: 'SSL handshaking', client: this.#client, server: this.address.listener };
  }

  choose(message: Buffer, ends: QuicEnds): QuicChoice | QuicRefusal {
    this.#client = ends.remote().address ?? '';
    const hello = readHelloMessage(message);
    if (hello === undefined) {
      return { alert: DECODE_ERROR };
    }
    const choice = chooseQuic(this.#tls, ends, hello);
    if ('alert' in choice) {
      const { level, message: text } = choice.failure;
      const { log } = this.address.defaultServer.root;
      if (level <= log.level) {
        log.log(level, text, this);
      }
      return { alert: choice.description };
    }
    const { server, serverName, tls, verify } = choice;
    return {
      settings: {
        context: choice.context.for(hello),
        protocol: protocolOf(server, hello.protocols),
        verify,
        verifyDepth: tls.settings.verifyDepth,
        earlyData: tls.settings.earlyData,
        serverName: hello.serverName,
        sessions: tls.quicSessions,
        staple: tls.staples && hello.wantsStatus ? tls.stapleFor(hello) : undefined,
      },
      accept: (connection) => {
        this.#over = true;
        countHandshake(server, connection.tls.isSessionReused());
        const peer = new TlsPeer(new CipherOfQuic(connection), hello, tls);
        return this.#owner.serve(connection, this, { tls: { peer, server, serverName }, proxyProtocol: undefined });
      },
    };
  }

  failed(reason: string, ends: QuicEnds): void {
    this.#client = ends.remote().address ?? '';
    const { log } = this.address.defaultServer.root;
    if (this.#over) {
      return;
    }
    const { defaultServer } = this.address;
    if (reason === 'timed out') {
      countTimeout(defaultServer);
    } else {
      countFailure(defaultServer, reason);
    }
    if (INFO <= log.level) {
      log.log(INFO, reason === 'timed out' ? 'client timed out' : reason, this);
    }
  }

  left(): void {
    if (!this.#over) {
      this.#over = true;
      this.#owner.failed(this);
    }
  }

  /** A handshake under way is finished: requests follow it. */
  drain(): void {}

  kill(): void {
    if (!this.#over) {
      this.#connection.kill();
    }
  }
}

/** What {@link TlsPeer} asks of a connection. */
class CipherOfQuic {
  readonly #connection: QuicConnection;

  constructor(connection: QuicConnection) {
    this.#connection = connection;
  }

  get cipher(): QuicConnection['tls'] {
    return this.#connection.tls;
  }

  get early(): boolean {
    return this.#connection.tls.early;
  }
}
