import { ALERT } from '../../../shared/log/level.js';
import type { DatagramSocket } from '../../../shared/net/datagram-socket.js';
import type { DatagramServer } from '../../../shared/net/listen-socket.js';
import { errnoText } from '../../../shared/system/errno.js';
import type { Connections } from '../../connections/connections.js';
import { DatagramClient } from '../session/datagram-client.js';
import type { StreamListener, StreamRuntime } from '../session/runtime.js';
import { StreamSession } from '../session/session.js';
import { SessionTable } from '../session/session-table.js';

/**
 * Gives the datagrams of a listener to the sessions of their clients, and begins a session for each new client. nginx:
 * ngx_event_recvmsg.
 */
export class DatagramAcceptor implements DatagramServer {
  readonly #connections: Connections;
  readonly #stream: StreamRuntime;
  readonly #listener: StreamListener;
  readonly #table = new SessionTable<DatagramClient>();
  #socket!: DatagramSocket;
  /** Sessions that may still send. */
  #living = 0;
  #released = false;
  readonly #sessionEnded = (): void => {
    this.#living--;
    this.#closeWhenDone();
  };

  constructor(connections: Connections, stream: StreamRuntime, listener: StreamListener) {
    this.#connections = connections;
    this.#stream = stream;
    this.#listener = listener;
  }

  opened(socket: DatagramSocket): void {
    this.#socket = socket;
  }

  datagram(bytes: Buffer, address: string, port: number, local: Buffer | undefined): void {
    // A client that asks two addresses of the host has two sessions.
    const key = local === undefined ? address : `${address} ${local.toString('latin1')}`;
    const client = this.#table.get(key, port);
    if (client === undefined) {
      this.#begin(bytes, key, address, port, local);
    } else {
      client.session.socketReceived(bytes, bytes.length);
    }
  }

  #begin(bytes: Buffer, key: string, address: string, port: number, local: Buffer | undefined): void {
    const connections = this.#connections;
    if (!connections.admitSession()) {
      return;
    }
    const client = new DatagramClient(key, this.#socket.peer(address, port, local), this.#socket, this.#table, this.#sessionEnded);
    const { addresses } = this.#listener;
    const place = addresses[addresses.length - 1]!;
    const session = new StreamSession(connections, this.#stream, this.#listener, place, client, connections.nextId());
    client.session = session;
    this.#table.add(client);
    this.#living++;
    session.hold(bytes, bytes.length);
    session.bytesReceived = bytes.length;
    session.begin();
  }

  receiveFailed(errno: number): void {
    this.#connections.env.log.log(ALERT, `recvmsg() failed (${errnoText({ errno })})`);
  }

  released(): void {
    this.#released = true;
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#released && this.#living === 0) {
      this.#socket.close();
    }
  }
}
