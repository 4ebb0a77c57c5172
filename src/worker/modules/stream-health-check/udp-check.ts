import type { DatagramSocket, DatagramTaker } from '../../../shared/net/datagram-socket.js';
import { errnoText } from '../../../shared/system/errno.js';
import { network } from '../../net/engine/network.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import { StreamCheck } from './stream-check.js';

/** What is sent where no `match` block says anything else: nginx's text, which backends may know. */
const USUAL = 'nginx health check';

/** Checks by datagrams: one is sent, and either something comes, or the network does not say that nobody is there. */
export class UdpCheck extends StreamCheck implements DatagramTaker, Expiring {
  readonly #deadline = new Deadline(this);
  #socket: DatagramSocket | null = null;

  protected begin(): void {
    this.input.clear();
    const socket = network.connectDatagrams(this.target, { keepAlive: false });
    if (socket instanceof Error) {
      this.finish(`connecting to upstream: connect() failed (${errnoText(socket)})`);
      return;
    }
    this.#socket = socket;
    socket.receive(this);
    this.#deadline.set(performance.now(), this.plan.timeout);
    const error = socket.send(Buffer.from(this.plan.match?.send ?? USUAL, 'latin1'));
    if (error < 0) {
      this.end(`sending to upstream: send() failed (${errnoText({ errno: error })})`);
    }
  }

  datagram(bytes: Buffer): void {
    if (this.plan.match?.expects !== true) {
      this.end(undefined);
      return;
    }
    this.judge(bytes, bytes.length);
  }

  receiveFailed(errno: number): void {
    this.end(`reading from upstream: recv() failed (${errnoText({ errno })})`);
  }

  expired(): void {
    const expects = this.plan.match?.expects === true;
    this.end(expects ? 'reading from upstream: upstream timed out (110: Connection timed out)' : undefined);
  }

  protected end(failure: string | undefined): void {
    if (this.#socket !== null) {
      this.drop();
      this.finish(failure);
    }
  }

  protected drop(): void {
    this.#deadline.close();
    this.#socket?.close();
    this.#socket = null;
  }
}
