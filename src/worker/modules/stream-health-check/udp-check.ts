import type { DatagramSocket, DatagramTaker } from '../../../shared/net/datagram-socket.js';
import { errnoText } from '../../../shared/system/errno.js';
import { network } from '../../net/engine/network.js';
import { Deadline, type Expiring } from '../../time/deadline.js';
import type { Peer } from '../../upstream/balancing/peer.js';
import { type CheckResult, PeerCheck } from '../../upstream/health/peer-check.js';
import type { StreamCheckPlan } from './plan.js';
import { CheckInput } from './received.js';

/** What is sent where no `match` block says anything else: nginx's text, which backends may know. */
const USUAL = 'nginx health check';

/** Checks by datagrams: one is sent, and either something comes, or the network does not say that nobody is there. */
export class UdpCheck extends PeerCheck implements DatagramTaker, Expiring {
  readonly #plan: StreamCheckPlan;
  readonly #received: CheckInput;
  readonly #deadline = new Deadline(this);
  #socket: DatagramSocket | null = null;

  constructor(plan: StreamCheckPlan, peer: Peer, verdict: number, result: CheckResult) {
    super(plan.settings, peer, verdict, result);
    this.#plan = plan;
    this.#received = new CheckInput(plan);
  }

  protected begin(): void {
    this.#received.clear();
    const socket = network.connectDatagrams(this.target, { keepAlive: false });
    if (socket instanceof Error) {
      this.finish(`connecting to upstream: connect() failed (${errnoText(socket)})`);
      return;
    }
    this.#socket = socket;
    socket.receive(this);
    this.#deadline.set(performance.now(), this.#plan.timeout);
    const error = socket.send(Buffer.from(this.#plan.match?.send ?? USUAL, 'latin1'));
    if (error < 0) {
      this.#end(`sending to upstream: send() failed (${errnoText({ errno: error })})`);
    }
  }

  datagram(bytes: Buffer): void {
    if (this.#plan.match?.expects !== true) {
      this.#end(undefined);
      return;
    }
    this.#received.add(bytes, bytes.length);
    if (this.#received.matches) {
      this.#end(undefined);
    } else if (this.#received.full) {
      this.#end('checking data');
    }
  }

  receiveFailed(errno: number): void {
    this.#end(`reading from upstream: recv() failed (${errnoText({ errno })})`);
  }

  expired(): void {
    const expects = this.#plan.match?.expects === true;
    this.#end(expects ? 'reading from upstream: upstream timed out (110: Connection timed out)' : undefined);
  }

  #end(failure: string | undefined): void {
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
